// Pools: memory in the order of streams, of which they keep what is freed until a thread waits for the device.

#pragma once

#include "machine/layout.h"

// Gives an allocation back to its pool, or to the device. Returns false if nothing begins there.
bool give_back(Address place);
// At calls that wait: pools keep as much unused memory as their thresholds say, by default none.
void settle_pools();
