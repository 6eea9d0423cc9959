// Lines of neighbours, joined one after another. Included once per instruction set, in an anonymous namespace, after
// runs.h.
#pragma once

// Columns side by side, in which lines are joined one after another.
template <class Op>
class Columns {
   public:
    using S = typename Op::S;
    // All that is kept of them fits the first cache.
    static constexpr int64_t MOST = std::min<int64_t>(ep::BLOCK, 4096 / sizeof(S));

    explicit Columns(int64_t width) : width_(width) { std::fill_n(run_, width, Op::identity()); }

    void begin_run(bool is_first) {
        for (int64_t w = 0; w < width_; ++w) {
            if (!is_first) carries_[w].add(run_[w]);
            before_[w] = carries_[w].value();
            if (!Op::is_serial) run_[w] = Op::identity();
        }
    }

    // A line of S, or of float that becomes double, and its results.
    template <class X>
    void join(const X* line, S* results) {
        int64_t w = 0;
        if constexpr (HAS_LANES<Op>) {
            using Lane = typename Op::Lane;
            constexpr int64_t lanes = Vector<Lane>::lanes;
            using Given = std::conditional_t<std::is_same_v<X, S>, Lane, X>;
            const auto* const x = reinterpret_cast<const Given*>(line);
            const auto* const before = reinterpret_cast<Lane*>(before_);
            auto *const run = reinterpret_cast<Lane*>(run_), *const made = reinterpret_cast<Lane*>(results);
            for (; w + lanes <= width_; w += lanes) {
                const V<Lane> joined = Op::join_lanes(load(run + w), load_stored<Lane>(x + w));
                store<Lane>(run + w, joined);
                store<Lane>(made + w, Op::join_lanes(load(before + w), joined));
            }
        }
        const int64_t width = width_;
#pragma GCC ivdep
        for (; w < width; ++w) {
            const S joined = Op::join(run_[w], S(line[w]));
            run_[w] = joined;
            results[w] = Op::is_serial ? joined : Op::join(before_[w], joined);
        }
    }

    // n lines that follow one another. States of few columns stay in registers.
    template <class X>
    void join_lines(const X* lines, S* results, int64_t n) {
        int64_t w = 0;
        if (Op::is_short && width_ < WIDTH) {
            for (; w + 4 <= width_; w += 4) join_few<4>(lines + w, results + w, n, w);
            for (; w < width_; ++w) join_few<1>(lines + w, results + w, n, w);
            return;
        }
        for (int64_t j = 0; j < n; ++j) join(lines + j * width_, results + j * width_);
    }

   private:
    template <int64_t few, class X>
    EP_INLINE void join_few(const X* lines, S* results, int64_t n, int64_t first) {
        S run[few], before[few];
        std::copy_n(run_ + first, few, run);
        std::copy_n(before_ + first, few, before);
        for (int64_t j = 0; j < n; ++j)
#pragma GCC unroll 4
            for (int64_t w = 0; w < few; ++w) {
                run[w] = Op::join(run[w], S(lines[j * width_ + w]));
                results[j * width_ + w] = Op::is_serial ? run[w] : Op::join(before[w], run[w]);
            }
        std::copy_n(run, few, run_ + first);
    }

    const int64_t width_;
    Carry<Op> carries_[MOST];
    // Of each column the run up to a line, and what stands before that run.
    alignas(ep::LINE) S run_[MOST], before_[MOST];
};
