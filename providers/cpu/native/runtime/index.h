// Indices as they lie in memory, and the range that they count in.
#pragma once

#include "native.h"

namespace ep {

// An index of 4 or 8 bytes.
inline int64_t index_at(const char* at, int32_t size) {
    return size == 4 ? *reinterpret_cast<const int32_t*>(at) : *reinterpret_cast<const int64_t*>(at);
}

// Indices [first, first + extent), which int64 holds all.
template <class Index>
struct Range {
    int64_t first, extent;

    // Where an index lies in the range; one that does not lie there has a place that the range does not hold.
    EP_INLINE int64_t place(const char* at) const {
        const auto index = static_cast<uint64_t>(int64_t{*reinterpret_cast<const Index*>(at)});
        return static_cast<int64_t>(index - static_cast<uint64_t>(first));
    }

    // Negative places are large ones.
    EP_INLINE bool holds(int64_t place) const { return static_cast<uint64_t>(place) < static_cast<uint64_t>(extent); }
};

}  // namespace ep
