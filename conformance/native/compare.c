/* judge/compare.py for float32, at the speed that all 2^32 inputs ask for. Rule numbers are those of judge/ulp.py. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "interface.h"

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint32_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Rules 5 and 6: one ulp of float32 at a reference. */
static double unit(double value) {
    const uint64_t magnitude = bits_of(value) & (UINT64_MAX >> 1);
    const int exponent = (int)(magnitude >> 52) - 1023, is_power = (magnitude << 12) == 0;
    const int is_odd = magnitude == 0 || exponent == 1024, binade = is_odd ? -126 : exponent - is_power;
    const uint64_t bits = (uint64_t)((binade < -126 ? -126 : binade) - 23 + 1023) << 52;
    double step;
    memcpy(&step, &bits, sizeof step);
    return step;
}

static double error_of(float result, double value) {
    /* Rule 3: as if the format went on, so that overflow is judged by the same bound. */
    const double got = isinf(result) && isfinite(value) ? copysign(0x1p128, result) : (double)result;
    if (isinf(value)) return got - value; /* rule 2 */
    return (got - value) / unit(value);   /* rules 4, 7 and 8 */
}

static double allowed(double value, double scale, const ep_accuracy* accuracy) {
    if (accuracy->conditioned > 0) {
        const double known = isfinite(scale) ? scale : 0;
        return accuracy->conditioned * 0x1p-23 * known / unit(value) + 0.5;
    }
    return fmax(accuracy->ulps, accuracy->floor / unit(value));
}

ep_worst ep_compare(const float* result, const double* value, const double* scale, int64_t n,
                    const ep_accuracy* accuracy) {
    ep_worst worst = {0, 0, 0, 0};
    for (int64_t i = 0; i < n; ++i) {
        const float rounded = (float)value[i];
        const int is_nan = isnan(result[i]) && isnan(value[i]);
        if (is_nan || float_bits(result[i]) == float_bits(rounded)) continue; /* rule 1 */
        double ratio = INFINITY, error = INFINITY;
        if (!accuracy->exact) {
            if ((double)result[i] == value[i]) continue;
            error = fabs(error_of(result[i], value[i]));
            ratio = error / allowed(value[i], scale ? scale[i] : 0, accuracy);
            if (isnan(ratio)) ratio = INFINITY;
        }
        worst.wrong += !(ratio <= 1);
        if (ratio > worst.ratio) {
            worst.ratio = ratio;
            worst.error = error;
            worst.at = i;
        }
    }
    return worst;
}
