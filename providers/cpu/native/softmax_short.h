// Passes over many rows of one block or less: each pass goes over all rows of a batch, so that they do not wait for one
// another's sums, and what the elements are finished with is made for vectors of rows. Included by softmax_rows.h.
#pragma once

template <class Op, class T>
class ShortRows {
   public:
    ShortRows(const RowForm& form, const int64_t* next)
        : form_(form), next_(next), extent_(form.extent), most_(std::min(ELEMENTS / form.extent, ROWS)) {}

    // Rows whose elements lie side by side; those that are staged, or written past the caches, leave no gaps.
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
            for (int k = 0; k < Op::inputs; ++k) load(k, first[k] + row * next_[k], rows);
            char* const out = first[EP_MADE] + row * next_[EP_MADE];
            measure(rows);
            for (int64_t r = 0; r < rows; r += Vector<T>::lanes) {
                const Measure<V<T>> of = {::load(bases_ + r), ::load(sums_ + r)};
                const Measure<V<T>> last = Op::finished(of, Op::total(&of, 1, 1));
                ::store<T>(bases_ + r, last.base);
                ::store<T>(sums_ + r, last.sum);
            }
            finish(out, rows);
        }
    }

   private:
    static constexpr int64_t ELEMENTS = 16384 / int64_t{sizeof(T)}, ROWS = 256;

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

    EP_INLINE void row(int64_t r, const T** in) const {
        for (int k = 0; k < Op::inputs; ++k) in[k] = in_[k] + r * pitch_[k];
    }

    void measure(int64_t rows) {
        for (int64_t r = 0; r < rows; ++r) {
            const T* in[Op::inputs];
            row(r, in);
            if (Op::is_relative) bases_[r] = Blocks<Op, T>::largest(in[0], extent_);
            sums_[r] = Blocks<Op, T>::sum(in, extent_, origin<T>(bases_[r]), terms_ + r * (Op::keeps ? extent_ : 0));
        }
    }

    void finish(char* at, int64_t rows) {
        const bool lies = is_direct(form_, EP_MADE);
        T* const made = lies ? reinterpret_cast<T*>(at) : made_;
        const int64_t pitch = lies ? next_[EP_MADE] / int64_t{sizeof(T)} : extent_;
        for (int64_t r = 0; r < rows; ++r) {
            const T* in[Op::inputs];
            row(r, in);
            if (Op::keeps)
                Blocks<Op, T>::scale(terms_ + r * extent_, extent_, sums_[r], made + r * pitch);
            else
                Blocks<Op, T>::finish(in, extent_, {bases_[r], sums_[r]}, made + r * pitch);
        }
        if (lies) return;
        const int64_t n = rows * extent_, size = form_.storage->size;
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
    int64_t pitch_[Op::inputs];
    alignas(ep::LINE) T bases_[ROWS] = {}, sums_[ROWS] = {};
    alignas(ep::LINE) T blocks_[Op::inputs][ELEMENTS], terms_[Op::keeps ? ELEMENTS : 1], made_[ELEMENTS];
};
