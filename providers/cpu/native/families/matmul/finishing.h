// How a row of sums is finished, for sums of each type.
#pragma once

#include <cstdint>

namespace ep {

// Scales by alpha, and adds beta times the old output, or the bias.
template <class T>
struct RealRow {
    static void scale(T* row, int64_t n, const double* alpha) {
        const T factor = static_cast<T>(alpha[0]);
        for (int64_t i = 0; i < n; ++i) row[i] *= factor;
    }
    static void add(T* row, const void* values, int64_t n, const double* beta) {
        const T factor = static_cast<T>(beta[0]), *x = static_cast<const T*>(values);
        for (int64_t i = 0; i < n; ++i) row[i] += factor * x[i];
    }
};
// Unsigned numbers wrap by definition; a number given at launch is one of int32.
template <>
struct RealRow<int32_t> {
    static uint32_t bits(const double* number) { return static_cast<uint32_t>(static_cast<int32_t>(number[0])); }
    static void scale(int32_t* row, int64_t n, const double* alpha) {
        const uint32_t factor = bits(alpha);
        for (int64_t i = 0; i < n; ++i) row[i] = static_cast<int32_t>(static_cast<uint32_t>(row[i]) * factor);
    }
    static void add(int32_t* row, const void* values, int64_t n, const double* beta) {
        const uint32_t factor = bits(beta);
        const auto* const x = static_cast<const uint32_t*>(values);
        for (int64_t i = 0; i < n; ++i) row[i] = static_cast<int32_t>(static_cast<uint32_t>(row[i]) + factor * x[i]);
    }
};
template <class T>
struct ComplexRow {
    static void scale(T* row, int64_t n, const double* alpha) {
        const T re = static_cast<T>(alpha[0]), im = static_cast<T>(alpha[1]);
        for (int64_t i = 0; i < n; ++i) {
            const T x = row[2 * i], y = row[2 * i + 1];
            row[2 * i] = x * re - y * im;
            row[2 * i + 1] = x * im + y * re;
        }
    }
    static void add(T* row, const void* values, int64_t n, const double* beta) {
        const T re = static_cast<T>(beta[0]), im = static_cast<T>(beta[1]), *x = static_cast<const T*>(values);
        for (int64_t i = 0; i < n; ++i) {
            row[2 * i] += x[2 * i] * re - x[2 * i + 1] * im;
            row[2 * i + 1] += x[2 * i] * im + x[2 * i + 1] * re;
        }
    }
};

}  // namespace ep
