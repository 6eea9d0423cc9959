// Passes over neighbouring rows that lie side by side, with vectors across them: row number j of a tile is the j-th
// element of each. Sums are made in the order of softmax_rows.h. Included once per instruction set, in an anonymous
// namespace.
#pragma once

template <class T>
constexpr int64_t WIDTH = ep::TILE / int64_t{sizeof(T)};

// Vectors of one line of a tile.
template <class T, int COUNT>
struct Line {
    V<T> at[COUNT];

    EP_INLINE Line operator+(const Line& other) const {
        Line sum;
        for (int c = 0; c < COUNT; ++c) sum.at[c] = at[c] + other.at[c];
        return sum;
    }
};

// Lines of each input up to number `end`, in place or staged, several at a time if no gaps lie between them. A vector
// has `lanes` elements of a line. Bytes after a line's last element are never used; in place they are not the tensor's.
template <class T, int INPUTS, int COUNT>
class Lines {
   public:
    Lines(const RowForm& form, char* const* at, int64_t width, int64_t end)
        : lanes(static_cast<int>(std::min(width, LANES))),
          form_(form),
          at_(at),
          width_(width),
          end_(end),
          is_direct_(form.storage->is_direct && (COUNT == 1 || width == COUNT * LANES)),
          made_lines_(lines(EP_MADE)) {
        if (!is_direct_) std::memset(blocks_, 0, sizeof blocks_);
    }

    const int lanes;

    EP_INLINE const T* load(int k, int64_t j) {
        if (is_direct_) return reinterpret_cast<const T*>(at_[k] + j * form_.step[k]);
        if (j < from_[k] || j >= to_[k]) stage(k, j);
        return blocks_[k] + (j - from_[k]) * width_;
    }
    EP_INLINE T* made(int64_t j) {
        return is_direct_ ? reinterpret_cast<T*>(at_[EP_MADE] + j * form_.step[EP_MADE]) : made_ + held_ * width_;
    }
    EP_INLINE void flush(int64_t j) {
        if (is_direct_ || (++held_ < made_lines_ && j + 1 < end_)) return;
        char* const at = at_[EP_MADE] + (j + 1 - held_) * form_.step[EP_MADE];
        form_.storage->store(made_, at, form_.storage->size, held_ * width_, false);
        held_ = 0;
    }

   private:
    static constexpr int64_t LANES = Vector<T>::lanes;

    int64_t lines(int k) const { return form_.step[k] == width_ * form_.storage->size ? ep::BLOCK / width_ : 1; }

    __attribute__((noinline)) void stage(int k, int64_t j) {
        from_[k] = j;
        to_[k] = std::min(j + lines(k), end_);
        const int64_t n = (to_[k] - j) * width_;
        const void* const staged = form_.storage->load(at_[k] + j * form_.step[k], form_.storage->size, n, blocks_[k]);
        if (staged != blocks_[k]) std::memcpy(blocks_[k], staged, static_cast<size_t>(n) * sizeof(T));
    }

    const RowForm& form_;
    char* const* at_;
    const int64_t width_, end_;
    const bool is_direct_;
    const int64_t made_lines_;
    int64_t held_ = 0, from_[INPUTS] = {}, to_[INPUTS] = {};
    alignas(ep::LINE) T blocks_[INPUTS][ep::BLOCK + WIDTH<T>];
    alignas(ep::LINE) T made_[ep::BLOCK + WIDTH<T>];
};

template <class Op, class T, int COUNT>
struct Columns {
    using S = V<T>;
    using Sums = Line<T, COUNT>;
    static constexpr int lanes = Vector<T>::lanes;
    using Tile = Lines<T, Op::inputs, COUNT>;

    static EP_INLINE S vector(const Tile& tile, const T* line, int c) {
        return COUNT == 1 ? load_lanes(line, tile.lanes, T{0}) : load(line + c * lanes);
    }
    static EP_INLINE void load_line(Tile& tile, int64_t j, S (&given)[COUNT][Op::inputs]) {
        // All lines first: a call in between would take vectors out of their registers.
        const T* line[Op::inputs];
#pragma GCC unroll 2
        for (int k = 0; k < Op::inputs; ++k) line[k] = tile.load(k, j);
#pragma GCC unroll 2
        for (int k = 0; k < Op::inputs; ++k)
#pragma GCC unroll 16
            for (int c = 0; c < COUNT; ++c) given[c][k] = vector(tile, line[k], c);
    }

    static __attribute__((noinline)) void largest(Tile& tile, int64_t from, int64_t n, Measure<S>* measures) {
        S most[COUNT];
        for (S& vector : most) vector = repeated(NONE<T>);
        for (int64_t j = 0; j < n; ++j) {
            const T* const line = tile.load(0, from + j);
#pragma GCC unroll 16
            for (int c = 0; c < COUNT; ++c) most[c] = Larger{}(vector(tile, line, c), most[c]);
        }
        for (int c = 0; c < COUNT; ++c) measures[c].base = most[c];
    }

    static __attribute__((noinline)) Sums sum(Tile& tile, int64_t from, int64_t n, const Measure<S>* measures) {
        Sums sums[SUMS<T>];
        int64_t count = std::min(n, int64_t{SUMS<T>});
        std::memset(sums, 0, static_cast<size_t>(count) * sizeof(Sums));
        S base[COUNT];
        for (int c = 0; c < COUNT; ++c) base[c] = origin<T>(measures[c].base);
        for (int64_t j = 0; j < n; ++j) {
            S given[COUNT][Op::inputs], term;
            load_line(tile, from + j, given);
            S* const sum = sums[j % SUMS<T>].at;
#pragma GCC unroll 16
            for (int c = 0; c < COUNT; ++c) sum[c] = Op::added(given[c], base[c], sum[c], term);
        }
        for (int64_t half = SUMS<T> / 2; half > 0; half /= 2) {
            for (int64_t i = 0; i + half < count; ++i) sums[i] = sums[i] + sums[i + half];
            count = std::min(count, half);
        }
        return sums[0];
    }

    static void measure_chunk(Tile& tile, int64_t from, int64_t n, Measure<S>* measures) {
        if (Op::is_relative) largest(tile, from, n, measures);
        Pairwise<Sums> sums;
        for (int64_t j = 0; j < n; j += ep::BLOCK) sums.add(sum(tile, from + j, std::min(ep::BLOCK, n - j), measures));
        const Sums total = sums.total();
        for (int c = 0; c < COUNT; ++c) measures[c].sum = total.at[c];
    }

    static __attribute__((noinline)) void finish_chunk(Tile& tile, int64_t from, int64_t n,
                                                       const Measure<S>* measures) {
        for (int64_t j = from; j < from + n; ++j) {
            S given[COUNT][Op::inputs];
            load_line(tile, j, given);
            T* const out = tile.made(j);
#pragma GCC unroll 16
            for (int c = 0; c < COUNT; ++c) {
                const S made = Op::made(given[c], measures[c].base, measures[c].sum);
                COUNT == 1 ? store_lanes(out, tile.lanes, made) : store<T>(out + c * lanes, made);
            }
            tile.flush(j);
        }
    }

    static void measure(const RowForm& form, char* const* at, int64_t width, int64_t begin, int64_t end,
                        void* measures) {
        Tile tile(form, at, width, std::min(form.extent, end * form.chunk));
        for (int64_t c = begin; c < end; ++c) {
            const int64_t from = c * form.chunk, n = std::min(form.chunk, form.extent - from);
            measure_chunk(tile, from, n, static_cast<Measure<S>*>(measures) + c * COUNT);
        }
    }

    static void combine(const RowForm& form, void* measures) {
        for (int c = 0; c < COUNT; ++c) {
            auto* const chunks = static_cast<Measure<S>*>(measures) + c;
            const Measure<S> total = Op::total(chunks, form.chunks, COUNT);
            for (int64_t k = 0; k < form.chunks; ++k) chunks[k * COUNT] = Op::finished(chunks[k * COUNT], total);
        }
    }

    static void finish(const RowForm& form, char* const* at, int64_t width, int64_t begin, int64_t end,
                       const void* measures) {
        Tile tile(form, at, width, std::min(form.extent, end * form.chunk));
        for (int64_t c = begin; c < end; ++c) {
            const int64_t from = c * form.chunk, n = std::min(form.chunk, form.extent - from);
            finish_chunk(tile, from, n, static_cast<const Measure<S>*>(measures) + c * COUNT);
        }
    }
};

// Tiles of full width, and narrow ones of one vector.
template <class Op, class T>
struct ColumnPasses {
    static constexpr int most = int{ep::TILE} / EP_WIDTH;
    using Wide = Columns<Op, T, most>;
    using Narrow = Columns<Op, T, 1>;

    static bool is_narrow(int64_t width) { return width <= Vector<T>::lanes; }

    static void measure(const RowForm& form, char* const* at, int64_t width, int64_t begin, int64_t end,
                        void* measures) {
        is_narrow(width) ? Narrow::measure(form, at, width, begin, end, measures)
                         : Wide::measure(form, at, width, begin, end, measures);
    }
    static void combine(const RowForm& form, int64_t width, void* measures) {
        is_narrow(width) ? Narrow::combine(form, measures) : Wide::combine(form, measures);
    }
    static void finish(const RowForm& form, char* const* at, int64_t width, int64_t begin, int64_t end,
                       const void* measures) {
        is_narrow(width) ? Narrow::finish(form, at, width, begin, end, measures)
                         : Wide::finish(form, at, width, begin, end, measures);
    }
    static void whole(const RowForm& form, char* const* first, int64_t width, int64_t count, const int64_t* next) {
        ep::Measures measures;
        for (int64_t i = 0; i < count; ++i) {
            char* const at[EP_ROWS] = {first[0] + i * next[0], first[1] + i * next[1], first[2] + i * next[2]};
            measure(form, at, width, 0, form.chunks, measures.bytes);
            combine(form, width, measures.bytes);
            finish(form, at, width, 0, form.chunks, measures.bytes);
        }
    }

    static void read(int64_t width, const void* measures, void* largest, void* logarithms) {
        constexpr int lanes = Vector<T>::lanes;
        const auto* const rows = static_cast<const Measure<V<T>>*>(measures);
        alignas(ep::LINE) T bases[WIDTH<T>], logs[WIDTH<T>];
        for (int c = 0; c * lanes < width; ++c) {
            store<T>(bases + c * lanes, rows[c].base);
            store<T>(logs + c * lanes, rows[c].sum);
        }
        std::memcpy(largest, bases, static_cast<size_t>(width) * sizeof(T));
        std::memcpy(logarithms, logs, static_cast<size_t>(width) * sizeof(T));
    }
    // A tile is never one of several: its neighbours are not `next` bytes away.
    static void measured(const RowForm& form, char* const* at, int64_t width, int64_t, const int64_t*, void* largest,
                         void* logarithms) {
        ep::Measures measures;
        measure(form, at, width, 0, form.chunks, measures.bytes);
        combine(form, width, measures.bytes);
        read(width, measures.bytes, largest, logarithms);
    }

    static constexpr ep::Passes value = passes_of<ColumnPasses, Op>(WIDTH<T>);
};
