// Blocks of every element type in and out of the type that is computed in. Compiled once per instruction set.
#include "isa/isa.h"

namespace {
#if EP_F16C
#include "half_f16c.h"
#else
#include "half.h"
#endif
// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "stored.h"
#include "pairs.h"
#include "block.h"
#include "narrow.h"
// clang-format on

// As ep::stream_copy, by stores half or a quarter as many: they wait in a queue while the next block is computed.
inline void stream(char* to, const char* from, int64_t nbytes) {
#if EP_WIDTH == 64
    for (; nbytes >= ep::LINE; nbytes -= ep::LINE, to += ep::LINE, from += ep::LINE)
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
#elif EP_WIDTH == 32
    for (; nbytes >= ep::LINE; nbytes -= ep::LINE, to += ep::LINE, from += ep::LINE) {
        const auto* const halves = reinterpret_cast<const __m256i*>(from);
        const __m256i a = _mm256_loadu_si256(halves), b = _mm256_loadu_si256(halves + 1);
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to), a);
        _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + 1, b);
    }
#endif
    ep::stream_copy(to, from, nbytes);
}

template <class T>
void scatter(const T* values, char* at, int64_t step, int64_t n, bool streams) {
    if (streams) {
        stream(at, reinterpret_cast<const char*>(values), n * int64_t{sizeof(T)});
    } else if (step == int64_t{sizeof(T)}) {
        std::memcpy(at, values, static_cast<size_t>(n) * sizeof(T));
    } else {
        for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(at + i * step) = values[i];
    }
}

template <class T>
struct Storage {
    using S = Staged<T>;

    static const void* load(const char* at, int64_t step, int64_t n, void* block) {
        if constexpr (is_narrow<T>) {
            T gathered[ep::BLOCK];
            widen(contiguous(at, step, n, gathered), static_cast<S*>(block), n);
            return block;
        } else {
            return contiguous(at, step, n, static_cast<T*>(block));
        }
    }

    static void store(const void* block, char* at, int64_t step, int64_t n, bool streams) {
        const S* values = static_cast<const S*>(block);
        if constexpr (is_narrow<T>) {
            T narrowed[ep::BLOCK];
            const bool is_there = step == int64_t{sizeof(T)} && !streams;
            narrow(values, is_there ? reinterpret_cast<T*>(at) : narrowed, n);
            if (!is_there) scatter(narrowed, at, step, n, streams);
        } else {
            scatter(values, at, step, n, streams);
        }
    }

    static constexpr ep_storage value = {sizeof(T), sizeof(S), !is_narrow<T>, load, store};
};

template <class T>
struct Storage<RealOf<T>> {
    static const void* load(const char* at, int64_t step, int64_t n, void* block) {
        T* const parts = static_cast<T*>(block);
        for (int64_t i = 0; i < n; ++i) parts[i] = *reinterpret_cast<const T*>(at + i * step);
        return block;
    }

    static void store(const void* block, char* at, int64_t step, int64_t n, bool streams) {
        const T* const parts = static_cast<const T*>(block);
        Complex<T> whole[ep::BLOCK];
        for (int64_t i = 0; i < n; ++i) whole[i] = {parts[i], T{0}};
        scatter(whole, at, step, n, streams);
    }

    static constexpr ep_storage value = {2 * sizeof(T), sizeof(T), false, load, store};
};

}  // namespace

const ep_storage ep::EP_JOIN(EP_ISA, storages)[EP_STORAGES] = {
    Storage<T_bool>::value,          Storage<T_int8>::value,        Storage<T_int16>::value,
    Storage<T_int32>::value,         Storage<T_int64>::value,       Storage<T_uint8>::value,
    Storage<T_uint16>::value,        Storage<T_uint32>::value,      Storage<T_uint64>::value,
    Storage<T_float8_e4m3fn>::value, Storage<T_float8_e5m2>::value, Storage<T_float16>::value,
    Storage<T_bfloat16>::value,      Storage<T_float32>::value,     Storage<T_float64>::value,
    Storage<T_complex64>::value,     Storage<T_complex128>::value,  Storage<RealOf<float>>::value,
    Storage<RealOf<double>>::value,
};
