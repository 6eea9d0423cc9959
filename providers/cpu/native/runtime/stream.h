// Stores that go past the caches.
#pragma once

#include "native.h"

namespace ep {

inline bool is_line_aligned(const void* p) {
    return reinterpret_cast<uintptr_t>(p) % LINE == 0;
}

// Copy to a line-aligned target. stream_done() must follow before another thread reads it.
inline void stream_copy(char* dst, const char* src, int64_t nbytes) {
#if EP_X86
    for (; nbytes >= LINE; nbytes -= LINE, dst += LINE, src += LINE) {
        const auto* from = reinterpret_cast<const __m128i*>(src);
        auto* to = reinterpret_cast<__m128i*>(dst);
        const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1);
        const __m128i c = _mm_loadu_si128(from + 2), d = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
#endif
    std::memcpy(dst, src, static_cast<size_t>(nbytes));
}

// The same from beyond the caches. A Zen 5 fetches the next lines by itself: asked for those 512 bytes ahead it takes
// up to 1.4 times as long as for those 2 KiB ahead.
inline void stream_far(char* dst, const char* src, int64_t nbytes) {
    const int64_t ahead = FORESEES ? 2048 : 512;
    for (; nbytes >= LINE; nbytes -= LINE, dst += LINE, src += LINE) {
#if defined(__GNUC__)
        __builtin_prefetch(src + ahead);
#endif
        stream_copy(dst, src, LINE);
    }
    std::memcpy(dst, src, static_cast<size_t>(nbytes));
}

// Copy to any target, whole lines of it past the caches. stream_done() must follow before another thread reads it.
inline void stream_bytes(char* dst, const char* src, int64_t nbytes) {
    const int64_t odd = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(dst) % LINE),
                  head = odd < nbytes ? odd : nbytes;
    std::memcpy(dst, src, static_cast<size_t>(head));
    stream_copy(dst + head, src + head, nbytes - head);
}

inline void stream_done() {
#if EP_X86
    _mm_sfence();
#endif
}

}  // namespace ep
