// What the compiler of kernels calls without being asked: copies, and arithmetic that the processor lacks.

#include <cmath>
#include <cstring>

#include "machine/exports.h"

extern "C" {
float __truncsfhf2(float);
float __truncdfhf2(double);
float __extendhfsf2(float);

#define C_FUNCTION(name)                        \
    static const Export export_##name {         \
        #name, reinterpret_cast<void*>(&::name) \
    }
C_FUNCTION(memcpy);
C_FUNCTION(memmove);
C_FUNCTION(memset);
C_FUNCTION(__truncsfhf2);
C_FUNCTION(__truncdfhf2);
C_FUNCTION(__extendhfsf2);

#define MATHEMATICS(name)                                                                                       \
    static const Export export_##name{#name, reinterpret_cast<void*>(static_cast<double (*)(double)>(::name))}; \
    static const Export export_##name##f{#name "f", reinterpret_cast<void*>(static_cast<float (*)(float)>(::name##f))};
MATHEMATICS(floor)
MATHEMATICS(ceil)
MATHEMATICS(trunc)
MATHEMATICS(roundeven)
static const Export export_fma{"fma", reinterpret_cast<void*>(static_cast<double (*)(double, double, double)>(::fma))};
static const Export export_fmaf{"fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(::fmaf))};
}
