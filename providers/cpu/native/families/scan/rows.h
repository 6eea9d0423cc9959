// Short rows side by side, whose chains wait for one another as little as those of runs do. Included once per
// instruction set, in an anonymous namespace, after runs.h.
#pragma once

// Rows of such numbers are lanes of vectors.
template <class Op>
constexpr bool HAS_ROWS = EP_WIDTH > 16 && HAS_VECTORS<Op>;

// Rows that are scanned at once.
template <class Op>
constexpr int64_t SIDE_BY_SIDE = std::max<int64_t>(ABREAST, HAS_ROWS<Op> ? EP_WIDTH / sizeof(typename Op::S) : 0);

template <class Op, int64_t rows>
class Rows {
   public:
    using S = typename Op::S;

    EP_INLINE Rows() {
        each([&](int64_t w) { run_[w] = Op::identity(); });
    }

    // n numbers of each row; rows lie `apart`, and their results n numbers from one another.
    EP_INLINE void join(const S* x, int64_t apart, S* made, int64_t n) {
        for (int64_t i = 0; i < n; i += RUN) {
            each([&](int64_t w) {
                if (i != 0) carries_[w].add(run_[w]);
                before_[w] = carries_[w].value();
                if (!Op::is_serial) run_[w] = Op::identity();
            });
            const int64_t length = std::min(RUN, n - i);
            if constexpr (rows == SIDE_BY_SIDE<Op> && HAS_ROWS<Op>)
                turn_run(x + i, apart, made + i, n, length);
            else
                chain_run(x + i, apart, made + i, n, length);
        }
    }

   private:
    // Loops without an index leave numbers of members in registers.
    template <class Visit>
    static EP_INLINE void each(Visit visit) {
#pragma GCC unroll 16
        for (int64_t w = 0; w < rows; ++w) visit(w);
    }

    EP_INLINE void chain_run(const S* x, int64_t apart, S* made, int64_t next, int64_t n) {
        for (int64_t i = 0; i < n; ++i)
            each([&](int64_t w) {
                run_[w] = Op::join(run_[w], x[w * apart + i]);
                made[w * next + i] = Op::is_serial ? run_[w] : Op::join(before_[w], run_[w]);
            });
    }

    // Squares are turned in registers, and back; what is left of rows lies between others meanwhile.
    EP_INLINE void turn_run(const S* x, int64_t apart, S* made, int64_t next, int64_t n) {
        using Lane = typename Op::Lane;
        using Word = WordOf<S>;
        constexpr int64_t lanes = Vector<S>::lanes, groups = rows / lanes, square = IN_LANE<Word>;
        V<Lane> run[groups], before[groups];
        for (int64_t g = 0; g < groups; ++g) {
            run[g] = load(reinterpret_cast<const Lane*>(run_) + g * lanes);
            before[g] = load(reinterpret_cast<const Lane*>(before_) + g * lanes);
        }
        const auto turn = [&](const S* from, int64_t from_row, S* to, int64_t to_row) {
#pragma GCC unroll 4
            for (int64_t g = 0; g < groups; ++g) {
                V<Word> columns[square];
                turn_lane<Word>(reinterpret_cast<const char*>(from + g * lanes * from_row), from_row * sizeof(S),
                                columns);
#pragma GCC unroll 4
                for (int64_t j = 0; j < square; ++j) {
                    run[g] = Op::join_lanes(run[g], reinterpret_cast<V<Lane>>(columns[j]));
                    columns[j] = reinterpret_cast<V<Word>>(Op::join_lanes(before[g], run[g]));
                }
                turn_back<Word>(columns, reinterpret_cast<char*>(to + g * lanes * to_row), to_row * sizeof(S));
            }
        };
        int64_t i = 0;
        for (; i + square <= n; i += square) turn(x + i, apart, made + i, next);
        if (i < n) {
            S rest[rows * square] = {};
            for (int64_t w = 0; w < rows; ++w) std::copy_n(x + w * apart + i, n - i, rest + w * square);
            turn(rest, square, rest, square);
            for (int64_t w = 0; w < rows; ++w) std::copy_n(rest + w * square, n - i, made + w * next + i);
        }
        for (int64_t g = 0; g < groups; ++g) store<Lane>(reinterpret_cast<Lane*>(run_) + g * lanes, run[g]);
    }

    Carry<Op> carries_[rows];
    // Of each row the run so far, and what stands before it.
    alignas(ep::LINE) S run_[rows], before_[rows];
};
