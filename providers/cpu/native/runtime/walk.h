// The one N-D loop that kernels share.
#pragma once

#include "native.h"

namespace ep {

// Call run(at, step, n) for elements [begin, end) in row-major order of the shape, by runs along its last dimension.
// `count` operands, at most `most`, begin at `places`; ndim is at least 1, strides are in bytes.
template <int most, class Run>
EP_INLINE void walk(const int64_t* shape, const int64_t (*stride)[EP_RANK], int ndim, int count, char* const* places,
                    int64_t begin, int64_t end, Run run) {
    const int last = ndim - 1;
    int64_t index[EP_RANK], step[most];
    char* at[most];
    for (int k = 0; k < count; ++k) {
        at[k] = places[k];
        step[k] = stride[k][last];
    }
    int64_t rest = begin;
    for (int d = last; d >= 0; --d) {
        index[d] = rest % shape[d];
        rest /= shape[d];
        for (int k = 0; k < count; ++k) at[k] += index[d] * stride[k][d];
    }
    while (begin < end) {
        const int64_t left = shape[last] - index[last], n = end - begin < left ? end - begin : left;
        // Rows that follow each other.
        if (n == shape[last] && last > 0) {
            int64_t rows = shape[last - 1] - index[last - 1];
            if (rows * n > end - begin) rows = (end - begin) / n;
            for (int64_t row = 1; row < rows; ++row) {
                run(at, step, n);
                for (int k = 0; k < count; ++k) at[k] += stride[k][last - 1];
            }
            begin += (rows - 1) * n;
            index[last - 1] += rows - 1;
        }
        run(at, step, n);
        begin += n;
        // The run's last element, then one carry outwards.
        index[last] += n;
        for (int k = 0; k < count; ++k) at[k] += n * step[k];
        for (int d = last; d > 0 && index[d] == shape[d]; --d) {
            for (int k = 0; k < count; ++k) at[k] += stride[k][d - 1] - shape[d] * stride[k][d];
            index[d] = 0;
            ++index[d - 1];
        }
    }
}

}  // namespace ep
