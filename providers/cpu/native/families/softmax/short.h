// Passes over many rows of one block or less: each pass goes over all rows of a batch, so that they do not wait for one
// another's sums, and the numbers that finish the elements are computed for vectors of rows. Included by
// softmax_rows.h.
#pragma once

template <class Op, class T>
class ShortRows {
   public:
    ShortRows(const RowForm& form, const int64_t* next)
        : form_(form), next_(next), extent_(form.extent), most_(std::min(ELEMENTS / form.extent, ROWS)) {}

    // True for rows of contiguous elements; rows that are staged, or stored past the caches, must leave no gaps.
    static bool fits(const RowForm& form, const int64_t* next) {
        bool fits = form.extent <= ep::BLOCK;
        for (int k = 0; k < EP_ROWS; ++k) {
            if (k == EP_Y && Op::inputs == 1) continue;
            const int64_t size = form.storage->size;
            fits = fits && form.step[k] == size && (is_direct(form, k) || next[k] == form.extent * size);
        }
        return fits;
    }

    void run(char* const* first, int64_t count) {
        for (int64_t row = 0; row < count; row += most_) {
            const int64_t rows = std::min(most_, count - row);
            for (int k = 0; k < Op::inputs; ++k) {
                load(k, first[k] + row * next_[k], rows);
                ahead_[k] = row + most_ < count ? first[k] + (row + most_) * next_[k] : nullptr;
            }
            ahead_[EP_MADE] = form_.streams ? nullptr : first[EP_MADE] + row * next_[EP_MADE];
            char* const out = first[EP_MADE] + row * next_[EP_MADE];
            if (extent_ <= LANES)
                work<true>(out, rows);
            else
                work<false>(out, rows);
        }
    }

    // The numbers that finish rows alone.
    void measured(char* const* first, int64_t count, T* bases, T* sums) {
        for (int64_t row = 0; row < count; row += most_) {
            const int64_t rows = std::min(most_, count - row);
            char* const at = first[EP_GIVEN] + row * next_[EP_GIVEN];
            load(EP_GIVEN, at, rows);
            ahead_[EP_GIVEN] = row + most_ < count ? at + most_ * next_[EP_GIVEN] : nullptr;
            extent_ <= LANES ? measure<true>(rows) : measure<false>(rows);
            std::memcpy(bases + row, bases_, static_cast<size_t>(rows) * sizeof(T));
            std::memcpy(sums + row, sums_, static_cast<size_t>(rows) * sizeof(T));
        }
    }

   private:
    static constexpr int64_t ELEMENTS = 16384 / int64_t{sizeof(T)}, ROWS = 256, LANES = Vector<T>::lanes;

    static bool is_direct(const RowForm& form, int k) {
        return form.storage->is_direct && !(k == EP_MADE && form.streams);
    }

    void load(int k, const char* at, int64_t rows) {
        if (is_direct(form_, k)) {
            in_[k] = reinterpret_cast<const T*>(at);
            pitch_[k] = next_[k] / int64_t{sizeof(T)};
            return;
        }
        const int64_t n = rows * extent_, size = form_.storage->size;
        for (int64_t i = 0; i < n; i += ep::BLOCK)
            form_.storage->load(at + i * size, size, std::min(ep::BLOCK, n - i), blocks_[k] + i);
        in_[k] = blocks_[k];
        pitch_[k] = extent_;
    }

    // While the sum of a row takes its time: its place in the output, and the row that the next batch has in its stead.
    EP_INLINE void fetch_ahead(int64_t r) const {
        const int64_t nbytes = extent_ * form_.storage->size;
        for (int k = 0; k < EP_ROWS; ++k) {
            if (ahead_[k] == nullptr) continue;
            const char* const at = ahead_[k] + r * next_[k];
            for (int64_t i = 0; i < nbytes; i += ep::LINE) __builtin_prefetch(at + i, 0, 2);
        }
    }

    EP_INLINE void row(int64_t r, const T** in) const {
        for (int k = 0; k < Op::inputs; ++k) in[k] = in_[k] + r * pitch_[k];
    }

    template <bool is_vector>
    static EP_INLINE int64_t extent(int64_t n) {
        if (is_vector && n > LANES) __builtin_unreachable();
        return n;
    }

    // Rows of one vector have loops of their own.
    template <bool is_vector>
    __attribute__((noinline)) void work(char* at, int64_t rows) {
        const bool lies = is_direct(form_, EP_MADE);
        measure<is_vector>(rows);
        finish<is_vector>(lies ? reinterpret_cast<T*>(at) : made_, lies ? next_[EP_MADE] / int64_t{sizeof(T)} : extent_,
                          rows);
        if (!lies) flush(at, rows * extent_);
    }

    template <bool is_vector>
    EP_INLINE void measure(int64_t rows) {
        const int64_t n = extent<is_vector>(extent_);
        V<T> lanes[LANES] = {};
        alignas(ep::LINE) T from[LANES] = {};
        for (int64_t first = 0; first < rows; first += LANES) {
            const int64_t count = std::min(LANES, rows - first);
            const T* in[Op::inputs];
            Measure<V<T>> of = {};
            if (Op::is_relative) {
                for (int64_t r = 0; r < count; ++r) {
                    row(first + r, in);
                    lanes[r] = Blocks<Op, T>::largest_lanes(in[0], n);
                }
                of.base = folded_each<LANES / 2, T>(lanes, Larger{});
                ::store<T>(from, origin<T>(of.base));
            }
            for (int64_t r = 0; r < count; ++r) {
                row(first + r, in);
                fetch_ahead(first + r);
                lanes[r] = Blocks<Op, T>::sum_lanes(in, n, from[r], terms_ + (first + r) * (Op::keeps ? n : 0));
            }
            of.sum = folded_each<LANES / 2, T>(lanes, Sum{});
            const Measure<V<T>> last = Op::finished(of, Op::total(&of, 1, 1));
            ::store<T>(bases_ + first, last.base);
            ::store<T>(sums_ + first, last.sum);
        }
    }

    template <bool is_vector>
    EP_INLINE void finish(T* made, int64_t pitch, int64_t rows) const {
        const int64_t n = extent<is_vector>(extent_);
        for (int64_t r = 0; r < rows; ++r) {
            const T* in[Op::inputs];
            row(r, in);
            if (Op::keeps)
                Blocks<Op, T>::scale(terms_ + r * n, n, sums_[r], made + r * pitch);
            else
                Blocks<Op, T>::finish(in, n, {bases_[r], sums_[r]}, made + r * pitch);
        }
    }

    void flush(char* at, int64_t n) const {
        const int64_t size = form_.storage->size;
        for (int64_t i = 0; i < n; i += ep::BLOCK) {
            char* const to = at + i * size;
            form_.storage->store(made_ + i, to, size, std::min(ep::BLOCK, n - i),
                                 form_.streams && ep::is_line_aligned(to));
        }
    }

    const RowForm& form_;
    const int64_t* const next_;
    const int64_t extent_, most_;
    const T* in_[Op::inputs];
    const char* ahead_[EP_ROWS] = {};
    int64_t pitch_[Op::inputs];
    alignas(ep::LINE) T bases_[ROWS] = {}, sums_[ROWS] = {};
    alignas(ep::LINE) T blocks_[Op::inputs][ELEMENTS], terms_[Op::keeps ? ELEMENTS : 1], made_[ELEMENTS];
};
