/* The fault handler's facts about an arena: plain memory that nothing locks. */
#pragma once

#include <stdint.h>

#include "interface.h"

enum { EP_SLOTS = 1 << 16, EP_ARENAS = 64, EP_NAME = 32 };

enum ep_state { EP_FREE, EP_LIVE, EP_PARKED, EP_FREED };

typedef struct {
    uint64_t start, span;    /* whole pages */
    uint64_t offset, nbytes; /* the allocation in them */
    enum ep_state state;
    int is_visible;
} ep_slot;

struct ep_arena {
    char name[EP_NAME];
    uintptr_t device, shadow;
    uint64_t reserve;
    int file;
    int64_t next; /* where the search for a slot begins: slots of freed allocations stay in use for long */
    ep_slot* slots;
};

/* The arenas that are open, for the handler; NULL where none is. */
extern ep_arena* volatile ep_arenas[EP_ARENAS];

/* Puts the handler in front of the present handler of faults; cheap if it is there already. */
void ep_watch_faults(void);
