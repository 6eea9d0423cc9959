// The operands of a norm along its rows: read where they lie, or brought in blocks of the computed type. Included once
// per instruction set, in an anonymous namespace, after types/stored.h and math/sums.h.
#pragma once

// Where the elements of a row of one tensor lie.
class Row {
   public:
    Row(const ep_norm_plan& norm, int place)
        : norm_(norm), storage_(*norm.row->from), step_(norm.step[place]), last_(norm.inner - 1) {
        for (int64_t d = last_, next = storage_.size; d >= 0; next *= norm.extent[d], --d)
            is_contiguous_ = is_contiguous_ && step_[d] == next;
    }

    bool is_contiguous() const { return is_contiguous_; }
    bool is_there() const { return is_contiguous_ && storage_.is_direct; }
    int64_t step() const { return step_[last_]; }

    // n elements from number i on, in a block.
    template <class S>
    void bring(const char* at, int64_t i, int64_t n, S* block) const {
        each_run(i, n, [&](int64_t offset, int64_t done, int64_t m) {
            for (int64_t k = 0, some; k < m; k += some) {
                some = std::min(ep::BLOCK, m - k);
                S* const to = block + done + k;
                const void* const from = storage_.load(at + offset + k * step(), step(), some, to);
                if (from != to) std::memcpy(to, from, static_cast<size_t>(some) * sizeof(S));
            }
        });
    }

    // At most BLOCK elements.
    template <class S>
    void store(const S* block, char* at, int64_t i, int64_t n) const {
        each_run(i, n, [&](int64_t offset, int64_t done, int64_t m) {
            storage_.store(block + done, at + offset, step(), m, false);
        });
    }

   private:
    // visit(place of the first element in bytes, elements before it, elements) of each run along the last dimension
    template <class Visit>
    void each_run(int64_t i, int64_t n, Visit visit) const {
        const int64_t extent = norm_.extent[last_];
        for (int64_t done = 0, m; done < n; done += m) {
            int64_t rest = (i + done) / extent, offset = (i + done) % extent * step();
            m = std::min(n - done, extent - (i + done) % extent);
            for (int d = last_ - 1; d >= 0; rest /= norm_.extent[d], --d) offset += rest % norm_.extent[d] * step_[d];
            visit(offset, done, m);
        }
    }

    const ep_norm_plan& norm_;
    const ep_storage& storage_;
    const int64_t* const step_;
    const int last_;
    bool is_contiguous_ = true;
};

// Elements of x, stored as T and computed as S, row after row.
template <class T, class S>
class Given {
   public:
    explicit Given(const ep_norm_plan& norm) : row_(norm, EP_NORM_X), terms_(norm.terms) {}

    bool is_read_in_place() const { return READS_STORED && row_.is_contiguous(); }

    void begin(const char* at) {
        if (at == at_) return;
        at_ = at;
        if (!is_read_in_place() && is_kept()) row_.bring(at, 0, terms_, block_);
    }

    // function(elements, n) of n elements from number i on, as they are stored or as they are computed.
    template <class Function>
    EP_INLINE auto with(int64_t i, int64_t n, Function function) {
        if constexpr (READS_STORED)
            if (row_.is_contiguous()) return function(reinterpret_cast<const T*>(at_) + i, n);
        if (!is_kept()) row_.bring(at_, i, n, block_);
        return function(static_cast<const S*>(is_kept() ? block_ + i : block_), n);
    }

    // The sum of function(elements, n) over the blocks of a row.
    template <class Function>
    S total(Function function) {
        Pairwise<S> sums;
        for (int64_t i = 0, n; i < terms_; i += n) {
            n = std::min(ep::BLOCK, terms_ - i);
            sums.add(with(i, n, function));
        }
        return terms_ == 0 ? S{0} : sums.total();
    }

   private:
    static constexpr bool READS_STORED = std::is_same_v<T, S> || EP_WIDTH > 16;

    bool is_kept() const { return terms_ <= ep::KEPT; }

    const Row row_;
    const int64_t terms_;
    const char* at_ = nullptr;
    alignas(ep::LINE) S block_[ep::KEPT];
};

// A number for each element from one on, or one for all of them: a vector that is read again and again.
template <class S>
struct Factor {
    const S* at;
    int64_t mask;
    EP_INLINE V<S> load(int64_t i, int count) const { return load_lanes(at + (i & mask), count, S{0}); }
};

// Scale or bias along rows; `usual` changes nothing, where it is missing.
template <class S>
class Factors {
   public:
    Factors(const ep_norm_plan& norm, int place, S usual)
        : norm_(norm), row_(norm, place), is_missing_(norm.place[place] < 0) {
        for (int d = 0; d < norm.ndim; ++d) is_common_ = is_common_ && norm.stride[place][d] == 0;
        repeats_ = row_.step() == 0 && (norm.inner == 1 || extent() >= SHORT);
        if (is_missing_) repeat(usual);
    }

    void begin(const char* at) {
        run_end_ = 0;
        if (is_missing_ || (at == at_ && is_common_)) return;
        at_ = at;
        if (row_.is_there())
            all_ = reinterpret_cast<const S*>(at);
        else if (!repeats_ && is_kept())
            row_.bring(at, 0, norm_.terms, block_);
    }

    // All elements have this number.
    void repeat(S number) {
        is_missing_ = true;
        store(block_, repeated(number));
    }

    // How many elements from number i on one factor may serve: asked for before it is loaded.
    int64_t length(int64_t i, int64_t n) {
        if (is_missing_ || !repeats_) return n;
        if (i >= run_end_) {
            S number;
            row_.bring(at_, i, 1, &number);
            store(block_, repeated(number));
            run_end_ = i + extent() - i % extent();
        }
        return std::min(n, run_end_ - i);
    }

    Factor<S> load(int64_t i, int64_t n) {
        if (is_missing_ || repeats_) return {block_, 0};
        if (row_.is_there()) return {all_ + i, -1};
        if (is_kept()) return {block_ + i, -1};
        row_.bring(at_, i, n, block_);
        return {block_, -1};
    }

   private:
    // A run of fewer equal numbers is brought as others are.
    static constexpr int64_t SHORT = 48;

    int64_t extent() const { return norm_.extent[norm_.inner - 1]; }
    bool is_kept() const { return norm_.terms <= ep::KEPT; }

    const ep_norm_plan& norm_;
    const Row row_;
    bool is_missing_, is_common_ = true, repeats_;
    int64_t run_end_ = 0;
    const char* at_ = nullptr;
    const S* all_ = nullptr;
    alignas(ep::LINE) S block_[ep::KEPT];
};
