// What becomes of sums. Included once per instruction set, in an anonymous namespace, after types/stored.h.
#pragma once

// Rows of sums T of real numbers. Unsigned ones wrap by definition; a number given at launch is then one of int32.
template <class T>
struct RealRow {
    using Sum = T;
    static constexpr int64_t widths = 1;
    static T of(const double* number) {
        if constexpr (std::is_unsigned_v<T>) return static_cast<T>(static_cast<int32_t>(number[0]));
        return static_cast<T>(number[0]);
    }
    static void scale(T* row, int64_t n, const double* alpha) {
        const T factor = of(alpha);
        for (int64_t i = 0; i < n; ++i) row[i] *= factor;
    }
    static void add(T* row, const T* x, int64_t n, const double* beta) {
        const T factor = of(beta);
        for (int64_t i = 0; i < n; ++i) row[i] += factor * x[i];
    }
};
// The same of complex numbers, whose parts are T.
template <class T>
struct ComplexRow {
    using Sum = T;
    static constexpr int64_t widths = 2;
    static void scale(T* row, int64_t n, const double* alpha) {
        const T re = static_cast<T>(alpha[0]), im = static_cast<T>(alpha[1]);
        for (int64_t i = 0; i < n; ++i) {
            const T x = row[2 * i], y = row[2 * i + 1];
            row[2 * i] = x * re - y * im;
            row[2 * i + 1] = x * im + y * re;
        }
    }
    static void add(T* row, const T* x, int64_t n, const double* beta) {
        const T re = static_cast<T>(beta[0]), im = static_cast<T>(beta[1]);
        for (int64_t i = 0; i < n; ++i) {
            row[2 * i] += x[2 * i] * re - x[2 * i + 1] * im;
            row[2 * i + 1] += x[2 * i] * im + x[2 * i + 1] * re;
        }
    }
};

// to = row + bias for n elements, of which the bias has one for all, or one for each.
template <class Row>
void add_bias(const typename Row::Sum* row, const typename Row::Sum* bias, bool is_one, int64_t n,
              typename Row::Sum* to) {
    constexpr int64_t widths = Row::widths;
    if (!is_one)
        for (int64_t i = 0; i < widths * n; ++i) to[i] = row[i] + bias[i];
    else if constexpr (widths == 1)
        for (const auto value = bias[0]; n > 0; --n) *to++ = *row++ + value;
    else
        for (int64_t i = 0; i < n; ++i)
            for (int64_t part = 0; part < widths; ++part) to[i * widths + part] = row[i * widths + part] + bias[part];
}

// Rows of which nothing else is asked, and whose elements are sums as they are stored, side by side.
inline bool is_only_biased(const ep::Ending& e) {
    const int64_t size = e.storage->size;
    return e.storage->is_direct && !e.is_scaled && !e.reads_out && e.bias != nullptr && e.activation == nullptr &&
           e.column == size && (e.bias_column == 0 || e.bias_column == size);
}

// `n` elements of a row whose sums nobody needs afterwards.
template <class Row>
void finish_row(const ep::Ending& e, typename Row::Sum* sums, const char* bias, char* out, int64_t n) {
    using T = typename Row::Sum;
    static constexpr double NONE[EP_ATTRIBUTES] = {};
    alignas(ep::LINE) T block[Row::widths * ep::BLOCK];
    for (int64_t from = 0; from < n; from += ep::BLOCK) {
        const int64_t count = std::min(ep::BLOCK, n - from);
        T* const values = sums + from * Row::widths;
        char* const to = out + from * e.column;
        if (e.is_scaled) Row::scale(values, count, e.alpha);
        if (e.reads_out)
            Row::add(values, static_cast<const T*>(e.storage->load(to, e.column, count, block)), count, e.beta);
        if (e.bias != nullptr) {
            const bool is_one = e.bias_column == 0;
            const void* const staged =
                e.storage->load(bias + from * e.bias_column, e.bias_column, is_one ? 1 : count, block);
            add_bias<Row>(values, static_cast<const T*>(staged), is_one, count, values);
        }
        if (e.activation != nullptr) e.activation->body(values, nullptr, values, count, NONE, -1);
        e.storage->store(values, to, e.column, count, false);
    }
}

// A few columns at a time, in registers; columns beyond the last one are left out, rows beyond it hold anything.
template <class T>
void turn(const void* sums, int64_t step, int64_t m, int64_t n, void* to, int64_t to_step) {
    using Word = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr int64_t lanes = Vector<Word>::lanes, square = IN_LANE<Word>, size = sizeof(T);
    const char* const from = static_cast<const char*>(sums);
    for (int64_t j = 0; j < n; j += square)
        for (int64_t i = 0; i < m; i += lanes) {
            V<Word> columns[square];
            turn_lane<Word>(from + (i * step + j) * size, step * size, columns,
                            static_cast<int>(std::min(lanes, m - i)));
            for (int64_t k = 0; k < std::min(square, n - j); ++k)
                store(static_cast<Word*>(to) + (j + k) * to_step + i, columns[k]);
        }
}

template <class Row>
void finish(const ep::Ending& e, void* at, int64_t step, int64_t m, int64_t n) {
    using T = typename Row::Sum;
    T* sums = static_cast<T*>(at);
    const char* bias = e.bias;
    char* out = e.out;
    const bool is_one_pass = is_only_biased(e);
    for (int64_t i = 0; i < m; ++i, sums += step, out += e.line, bias += e.bias_line)
        if (is_one_pass)
            add_bias<Row>(sums, reinterpret_cast<const T*>(bias), e.bias_column == 0, n, reinterpret_cast<T*>(out));
        else
            finish_row<Row>(e, sums, bias, out, n);
}
