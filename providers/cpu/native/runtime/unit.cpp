#include "unit.h"

const float ep::UNIT_F32 = 1;
const double ep::UNIT_F64 = 1;
