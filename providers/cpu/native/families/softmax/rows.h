// Passes over one row at a time, with vectors along it. Included once per instruction set, in an anonymous namespace.
#pragma once

// Loops over a block of a row that give the largest element and the sum by lanes; the lanes are not yet joined.
template <class Op, class T>
struct Blocks {
    static EP_INLINE V<T> largest_lanes(const T* x, int64_t n) {
        const V<T> none = repeated(NONE<T>);
        if (n <= Vector<T>::lanes) return Larger{}(load_lanes(x, static_cast<int>(n), NONE<T>), none);
        V<T> most[VECTORS<T>];
        for (V<T>& vector : most) vector = none;
        each_vector<T>(n, [&](int64_t i, int v, int count)
                              EP_LAMBDA { most[v] = Larger{}(load_lanes(x + i, count, NONE<T>), most[v]); });
        return merged<T>(most, n, Larger{});
    }

    // The terms of the sum go to `kept` where Op keeps them.
    static EP_INLINE V<T> sum_lanes(const T* const* in, int64_t n, T from, T* kept) {
        constexpr T rest = Op::is_relative ? NONE<T> : T{0};
        const V<T> base = repeated(from);
        V<T> sums[VECTORS<T>] = {};
        each_vector<T>(n, [&](int64_t i, int v, int count) EP_LAMBDA {
            V<T> given[Op::inputs], term;
            for (int k = 0; k < Op::inputs; ++k) given[k] = load_lanes(in[k] + i, count, rest);
            sums[v] = Op::added(given, base, sums[v], term);
            if (Op::keeps && kept != nullptr) store_lanes(kept + i, count, term);
        });
        return merged<T>(sums, n, Sum{});
    }

    static EP_INLINE void finish(const T* const* in, int64_t n, Measure<T> measure, T* out) {
        const V<T> base = repeated(measure.base), factor = repeated(measure.sum);
        each_vector<T>(n, [&](int64_t i, int, int count) EP_LAMBDA {
            V<T> given[Op::inputs];
            for (int k = 0; k < Op::inputs; ++k) given[k] = load_lanes(in[k] + i, count, T{0});
            store_lanes(out + i, count, Op::made(given, base, factor));
        });
    }

    static EP_INLINE void scale(const T* kept, int64_t n, T factor, T* out) {
        each_vector<T>(n, [&](int64_t i, int, int count)
                              EP_LAMBDA { store_lanes(out + i, count, load_lanes(kept + i, count, T{0}) * factor); });
    }
};

// The same, compiled once for an op.
template <class Op, class T>
struct LongBlocks {
    static __attribute__((noinline)) T largest(const T* x, int64_t n) {
        return folded<T>(Blocks<Op, T>::largest_lanes(x, n), Larger{});
    }
    static __attribute__((noinline)) T sum(const T* const* in, int64_t n, T from, T* kept) {
        return folded<T>(Blocks<Op, T>::sum_lanes(in, n, from, kept), Sum{});
    }
    static __attribute__((noinline)) void finish(const T* const* in, int64_t n, Measure<T> measure, T* out) {
        Blocks<Op, T>::finish(in, n, measure, out);
    }
    static __attribute__((noinline)) void scale(const T* kept, int64_t n, T factor, T* out) {
        Blocks<Op, T>::scale(kept, n, factor, out);
    }
};

// Bytes of a row that the second cache has room for beside the one that is computed.
constexpr int64_t LONGEST_AHEAD = 1 << 16;

// Up to PIECE elements of each input, where they lie or staged; the last ones are remembered. Of the row that is next,
// if that is known, those parts are fetched into the second cache whose like is done with: else memory would wait while
// a row is finished.
template <class T, int INPUTS>
class Pieces {
   public:
    Pieces(const RowForm& form, char* const* at, const int64_t* next = nullptr) : form_(form), at_(at), next_(next) {
        for (int k = 0; k < INPUTS; ++k)
            if (next_ != nullptr && (form.step[k] != form.storage->size || form.extent * form.step[k] > LONGEST_AHEAD))
                next_ = nullptr;
    }

    void fetch_ahead(int64_t from, int64_t n) const {
        if (next_ == nullptr) return;
        for (int k = 0; k < INPUTS; ++k) {
            const char* const at = at_[k] + next_[k] + from * form_.step[k];
            for (int64_t i = 0; i < n * form_.step[k]; i += ep::LINE) __builtin_prefetch(at + i, 0, 2);
        }
    }

    const T* const* load(int64_t from, int64_t n) {
        if (from == from_) return in_;
        from_ = from;
        for (int k = 0; k < INPUTS; ++k) {
            const int64_t step = form_.step[k];
            const char* const at = at_[k] + from * step;
            in_[k] = reinterpret_cast<const T*>(at);
            if (form_.storage->is_direct && step == int64_t{sizeof(T)}) continue;
            in_[k] = blocks_[k];
            for (int64_t i = 0; i < n; i += ep::BLOCK)
                form_.storage->load(at + i * step, step, std::min(ep::BLOCK, n - i), blocks_[k] + i);
        }
        return in_;
    }

   private:
    const RowForm& form_;
    char* const* at_;
    const int64_t* next_;
    int64_t from_ = -1;
    const T* in_[INPUTS];
    alignas(ep::LINE) T blocks_[INPUTS][ep::PIECE];
};

// Where blocks of a result are made, and how they get to the output.
template <class T>
class Made {
   public:
    Made(const RowForm& form, char* at)
        : form_(form),
          at_(at),
          step_(form.step[EP_MADE]),
          is_dense_(step_ == form.storage->size),
          streams_(form.streams && is_dense_ && reinterpret_cast<uintptr_t>(at) % form.storage->size == 0) {}

    // Elements from number `from` on that are made at once: up to a line where that is not at the start of one.
    int64_t length(int64_t from, int64_t left) const {
        const int64_t size = form_.storage->size;
        const auto odd = static_cast<int64_t>(reinterpret_cast<uintptr_t>(at_ + from * step_) % ep::LINE) / size;
        return std::min(left, streams_ && odd != 0 ? ep::LINE / size - odd : ep::BLOCK);
    }
    T* block(int64_t from) {
        return form_.storage->is_direct && is_dense_ && !streams_ ? reinterpret_cast<T*>(at_) + from : block_;
    }
    void flush(int64_t from, int64_t n, const T* block) {
        char* const to = at_ + from * step_;
        if (block == block_) form_.storage->store(block, to, step_, n, streams_ && ep::is_line_aligned(to));
    }

   private:
    const RowForm& form_;
    char* const at_;
    const int64_t step_;
    const bool is_dense_, streams_;
    alignas(ep::LINE) T block_[ep::BLOCK];
};

template <class Op, class T>
Measure<T> measure_chunk(Pieces<T, Op::inputs>& pieces, int64_t from, int64_t n, T* kept) {
    T base = NONE<T>;
    if (Op::is_relative)
        for (int64_t i = 0, m; i < n; i += m) {
            m = std::min(ep::PIECE, n - i);
            base = Larger{}(LongBlocks<Op, T>::largest(pieces.load(from + i, m)[0], m), base);
        }
    Pairwise<T> sums;
    for (int64_t i = 0, m; i < n; i += m) {
        m = std::min(ep::PIECE, n - i);
        const T* const* const in = pieces.load(from + i, m);
        for (int64_t k = 0; k < m; k += ep::BLOCK) {
            const T* block[Op::inputs];
            for (int input = 0; input < Op::inputs; ++input) block[input] = in[input] + k;
            T* const terms = kept == nullptr ? nullptr : kept + i + k;
            sums.add(LongBlocks<Op, T>::sum(block, std::min(ep::BLOCK, m - k), origin<T>(base), terms));
        }
    }
    return {base, sums.total()};
}

template <class Op, class T>
void finish_chunk(Pieces<T, Op::inputs>& pieces, int64_t from, int64_t n, const T* kept, Measure<T> measure,
                  Made<T>& made) {
    const bool is_kept = Op::keeps && kept != nullptr;
    for (int64_t i = 0, m; i < n; i += m) {
        m = std::min(ep::PIECE, n - i);
        const T* const* const in = is_kept ? nullptr : pieces.load(from + i, m);
        for (int64_t k = 0, length; k < m; k += length) {
            length = made.length(from + i + k, m - k);
            pieces.fetch_ahead(from + i + k, length);
            T* const out = made.block(from + i + k);
            if (is_kept) {
                LongBlocks<Op, T>::scale(kept + i + k, length, measure.sum, out);
            } else {
                const T* block[Op::inputs];
                for (int input = 0; input < Op::inputs; ++input) block[input] = in[input] + k;
                LongBlocks<Op, T>::finish(block, length, measure, out);
            }
            made.flush(from + i + k, length, out);
        }
    }
}

#include "short.h"

// The passes of a class, as their interface has them.
template <class Own, class Op>
constexpr ep::Passes passes_of(int64_t width) {
    ep::Passes passes = {width, Own::whole, Own::measure, Own::combine, Own::finish, nullptr, nullptr};
    if constexpr (Op::is_measured) passes.read = Own::read, passes.measured = Own::measured;
    return passes;
}

template <class Op, class T>
struct RowPasses {
    using Chunk = Measure<T>;

    static void measure(const RowForm& form, char* const* at, int64_t, int64_t begin, int64_t end, void* measures) {
        Pieces<T, Op::inputs> pieces(form, at);
        for (int64_t c = begin; c < end; ++c) {
            const int64_t from = c * form.chunk, n = std::min(form.chunk, form.extent - from);
            static_cast<Chunk*>(measures)[c] = measure_chunk<Op, T>(pieces, from, n, nullptr);
        }
    }

    static void combine(const RowForm& form, int64_t, void* measures) {
        auto* const chunks = static_cast<Chunk*>(measures);
        const Chunk total = Op::total(chunks, form.chunks, 1);
        for (int64_t c = 0; c < form.chunks; ++c) chunks[c] = Op::finished(chunks[c], total);
    }

    static void finish(const RowForm& form, char* const* at, int64_t, int64_t begin, int64_t end,
                       const void* measures) {
        Pieces<T, Op::inputs> pieces(form, at);
        Made<T> made(form, at[EP_MADE]);
        for (int64_t c = begin; c < end; ++c) {
            const int64_t from = c * form.chunk, n = std::min(form.chunk, form.extent - from);
            finish_chunk<Op, T>(pieces, from, n, nullptr, static_cast<const Chunk*>(measures)[c], made);
        }
    }

    // Terms are kept, as many as a core's own cache has room for beside the row, and the others are made twice: keeping
    // them in memory was tried and saves a twentieth.
    static void whole_chunks(const RowForm& form, char* const* at, const int64_t* next) {
        ep::Measures measures;
        auto* const chunks = reinterpret_cast<Chunk*>(measures.bytes);
        T* const terms = Op::keeps ? reinterpret_cast<T*>(ep::kept_terms()) : nullptr;
        const auto length = [&](int64_t c) { return std::min(form.chunk, form.extent - c * form.chunk); };
        const auto kept = [&](int64_t c) {
            const int64_t end = c * form.chunk + length(c);
            return terms != nullptr && end * int64_t{sizeof(T)} <= ep::TERMS ? terms + c * form.chunk : nullptr;
        };
        Pieces<T, Op::inputs> pieces(form, at, next);
        for (int64_t c = 0; c < form.chunks; ++c)
            chunks[c] = measure_chunk<Op, T>(pieces, c * form.chunk, length(c), kept(c));
        combine(form, 1, measures.bytes);
        Made<T> made(form, at[EP_MADE]);
        for (int64_t c = 0; c < form.chunks; ++c)
            finish_chunk<Op, T>(pieces, c * form.chunk, length(c), kept(c), chunks[c], made);
    }

    // One chunk of one piece, which is read once.
    static void whole_piece(const RowForm& form, char* const* at, const int64_t* next) {
        Pieces<T, Op::inputs> pieces(form, at, next);
        Made<T> made(form, at[EP_MADE]);
        alignas(ep::LINE) T terms[Op::keeps ? ep::PIECE : 1];
        T* const kept = Op::keeps ? terms : nullptr;
        const Chunk only = measure_chunk<Op, T>(pieces, 0, form.extent, kept);
        finish_chunk<Op, T>(pieces, 0, form.extent, kept, Op::finished(only, Op::total(&only, 1, 1)), made);
    }

    static void whole(const RowForm& form, char* const* first, int64_t, int64_t count, const int64_t* next) {
        if (ShortRows<Op, T>::fits(form, next)) {
            ShortRows<Op, T>(form, next).run(first, count);
            return;
        }
        for (int64_t i = 0; i < count; ++i) {
            char* const at[EP_ROWS] = {first[0] + i * next[0], first[1] + i * next[1], first[2] + i * next[2]};
            const int64_t* const ahead = i + 1 < count ? next : nullptr;
            if (form.chunks == 1)
                whole_piece(form, at, ahead);
            else
                whole_chunks(form, at, ahead);
        }
    }

    static void read(int64_t, const void* measures, void* largest, void* logarithms) {
        const auto& row = *static_cast<const Chunk*>(measures);
        std::memcpy(largest, &row.base, sizeof(T));
        std::memcpy(logarithms, &row.sum, sizeof(T));
    }

    static void measured(const RowForm& form, char* const* first, int64_t, int64_t count, const int64_t* next,
                         void* largest, void* logarithms) {
        auto *const bases = static_cast<T*>(largest), *const logs = static_cast<T*>(logarithms);
        if (ShortRows<Op, T>::fits(form, next)) {
            ShortRows<Op, T>(form, next).measured(first, count, bases, logs);
            return;
        }
        ep::Measures measures;
        for (int64_t i = 0; i < count; ++i) {
            char* const at[EP_ROWS] = {first[EP_GIVEN] + i * next[EP_GIVEN]};
            measure(form, at, 1, 0, form.chunks, measures.bytes);
            combine(form, 1, measures.bytes);
            read(1, measures.bytes, bases + i, logs + i);
        }
    }

    static constexpr ep::Passes value = passes_of<RowPasses, Op>(1);
};
