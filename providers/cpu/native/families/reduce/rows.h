// How kernels walk over rows: over blocks of rows that are neighbours, and within a row over its runs. A run lies along
// the last reduced dimension.
#pragma once

#include "runtime/native.h"

extern "C" {
#include "interface.h"
}

namespace ep {

// Visit rows [begin, end) by blocks of at most `most` along the last kept dimension: visit(x, out, first, n), where x
// and out are the places of the first of n rows, in bytes from the place of row 0.
template <class Visit>
void each_block(const ep_reduce_plan& g, int64_t begin, int64_t end, int64_t most, Visit visit) {
    const int last = g.kept - 1;
    for (int64_t n; begin < end; begin += n) {
        int64_t at[EP_REDUCTION] = {}, rest = begin;
        for (int d = last; d >= 0; --d) {
            const int64_t index = rest % g.kept_extent[d];
            rest /= g.kept_extent[d];
            for (int k = 0; k < EP_REDUCTION; ++k) at[k] += index * g.kept_stride[k][d];
        }
        const int64_t left = g.kept_extent[last] - begin % g.kept_extent[last];
        n = left < end - begin ? left : end - begin;
        n = n < most ? n : most;
        visit(at[EP_X], at[EP_REDUCED], begin, n);
    }
}

// The runs of a row from number `first` on: where each begins, in bytes, and the number of its first element in the
// row.
class Runs {
   public:
    Runs(const ep_reduce_plan& reduction, int64_t first) : g_(reduction) {
        for (int d = g_.ndim - 2; d >= 0; --d) {
            index_[d] = first % g_.extent[d];
            first /= g_.extent[d];
            at_ += index_[d] * g_.stride[d];
            place_ += index_[d] * g_.place[d];
        }
    }

    int64_t at() const { return at_; }
    int64_t place() const { return place_; }

    void next() {
        for (int d = g_.ndim - 2; d >= 0; --d) {
            at_ += g_.stride[d];
            place_ += g_.place[d];
            if (++index_[d] < g_.extent[d]) return;
            at_ -= g_.extent[d] * g_.stride[d];
            place_ -= g_.extent[d] * g_.place[d];
            index_[d] = 0;
        }
    }

   private:
    const ep_reduce_plan& g_;
    int64_t index_[EP_RANK];
    int64_t at_ = 0, place_ = 0;
};

}  // namespace ep
