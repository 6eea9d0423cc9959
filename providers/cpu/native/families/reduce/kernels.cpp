// The rows of Reduce: how elements are brought in, joined and made into results. Compiled once per instruction set; but
// for exponentials all of them give the same bits.
#include "isa/isa.h"
#include "reducer.h"

namespace {

// clang-format off: each of these needs the ones above it
#include "isa/lanes.h"
#include "types/stored.h"
#include "math/arithmetic.h"
#include "math/logarithm.h"
#include "types/order.h"
#include "types/loads.h"
#include "ops.h"
#include "joints.h"
#include "integers.h"
#include "abreast.h"
#include "results.h"
// clang-format on

// How an op makes R of T.
struct Way {
    static constexpr ep::Lens lens = {EVERY, 0, 1.0};
    static constexpr int64_t parts = 1, cost = 1;
    static constexpr bool is_zero_of_nothing = false, has_scaled_root = false;
};

template <class T, class R>
struct Total : Way {
    using Word = std::conditional_t<(sizeof(R) > 4), uint64_t, uint32_t>;
    using Float = std::conditional_t<std::is_same_v<R, double>, double, Part<T>>;
    using S = std::conditional_t<is_real_float<T> || parts_of<T> == 2, Float, Word>;
    using Op = Sum<S>;
    static constexpr int64_t parts = parts_of<T>;
    static constexpr bool is_zero_of_nothing = true;
    static constexpr const ep_storage* from() {
        if constexpr (parts == 2)
            return EP_STORAGE(T);
        else
            return storage_as<T, S>();
    }
    static constexpr auto finish = converted<S, R>;
};

template <class T, class R>
struct Mean : Total<T, R> {
    static constexpr auto finish = averaged<typename Total<T, R>::S, R>;
};

// In double but for integers, where nothing overflows or vanishes that float would show.
template <class T, class R>
struct Multiplied : Way {
    using S = std::conditional_t<is_real_float<T>, double, typename Total<T, R>::Word>;
    using Op = Product<S>;
    static constexpr const ep_storage* from() { return storage_as<T, S>(); }
    static constexpr auto finish = converted<S, R>;
};
template <class T, class R>
struct Multiplied<Complex<T>, R> : Way {
    using Op = Product<Complex<double>>;
    static constexpr const ep_storage* from() { return storage_as<Complex<T>, Complex<double>>(); }
    static constexpr auto finish = narrowed_product<R>;
};

template <class T, class R>
struct Most : Way {
    using S = typename OrderOf<T>::type;
    using Op = Greatest<S>;
    static constexpr ep::Lens lens = {EVERY, OrderOf<T>::up, 1.0};
    static constexpr const ep_storage* from() { return storage_as<T, S>(); }
    static constexpr auto finish = unmasked<S, R>;
};
template <class T, class R>
struct MostFloat : Way {
    using S = Staged<T>;
    using Op = GreatestKey<S>;
    static constexpr ep::Lens lens = {EVERY, OrderOf<T>::up, 1.0};
    static constexpr const ep_storage* from() { return EP_STORAGE(T); }
    static constexpr auto finish = unkeyed<S, R>;
};
template <class T, class R>
struct Least : Most<T, R> {
    static constexpr ep::Lens lens = {EVERY, OrderOf<T>::down, 1.0};
};
template <class T, class R>
struct LeastFloat : MostFloat<T, R> {
    static constexpr ep::Lens lens = {EVERY, OrderOf<T>::down, 1.0};
};

// Truth is the order of bits but signs: whether the greatest, or the least, is zero.
template <class T, class R>
struct Any : Way {
    using S = WordOf<sizeof(T)>;
    using Op = Greatest<S>;
    static constexpr bool is_signed_number = is_real_float<T> || parts_of<T> == 2;
    static constexpr uint64_t magnitude = std::is_same_v<T, T_complex64> ? 0x7FFFFFFF7FFFFFFFU : TOP<S> - 1;
    static constexpr ep::Lens lens = {is_signed_number ? magnitude : EVERY, TOP<S>, 1.0};
    static constexpr const ep_storage* from() {
        if constexpr (sizeof(T) > sizeof(S))
            return &Loaded<T, uint64_t, Bits>::value;
        else
            return EP_STORAGE(S);
    }
    static constexpr auto finish = tested<S>;
};
template <class T, class R>
struct All : Any<T, R> {
    static constexpr ep::Lens lens = {Any<T, R>::lens.keep, ~Any<T, R>::lens.flip, 1.0};
};

// In double; of complex numbers the squares of both parts.
template <class T, class R>
struct SquareSum : Way {
    using Op = Squares;
    static constexpr int64_t parts = parts_of<T>;
    static constexpr bool is_zero_of_nothing = true;
    static constexpr const ep_storage* from() {
        if constexpr (parts == 2)
            return storage_as<T, Complex<double>>();
        else
            return storage_as<T, double>();
    }
    static constexpr auto finish = added_squares<R, parts, false>;
};
template <class T, class R>
struct Norm2 : SquareSum<T, R> {
    static constexpr bool has_scaled_root = std::is_same_v<R, double>;
    static constexpr auto finish = has_scaled_root ? first_parts<R, parts_of<T>> : added_squares<R, parts_of<T>, true>;
};

template <class T, class R>
struct Norm1 : Total<T, R> {
    static constexpr ep::Lens lens = {TOP<Staged<T>> - 1, 0, 1.0};
};
template <class T, class R>
struct Norm1<Complex<T>, R> : Way {
    using Op = Sum<double>;
    static constexpr bool is_zero_of_nothing = true;
    static constexpr const ep_storage* from() { return &Loaded<Complex<T>, double, Modulus>::value; }
    static constexpr auto finish = converted<double, R>;
};
// The bits of numbers that have no sign have their order, NaN above infinity.
template <class T, class R>
struct NormInf : Way {
    using S = Staged<T>;
    using Op = Greatest<WordOf<sizeof(S)>>;
    static constexpr bool is_zero_of_nothing = true;
    static constexpr ep::Lens lens = {TOP<S> - 1, 0, 1.0};
    static constexpr const ep_storage* from() { return EP_STORAGE(T); }
    static constexpr auto finish = unpacked<S, R>;
};
template <class T, class R>
struct NormInf<Complex<T>, R> : Norm1<Complex<T>, R> {
    using Op = Greatest<int64_t>;
    static constexpr ep::Lens lens = {TOP<double> - 1, 0, 1.0};
    static constexpr auto finish = unpacked<double, R>;
};

template <class T, class R>
struct LogOfSum : Way {
    using Op = LogSumExp<Staged<T>>;
    static constexpr int64_t cost = 8;
    static constexpr const ep_storage* from() { return EP_STORAGE(T); }
    static constexpr auto finish = logarithms<Staged<T>, R>;
};

template <class T, class W>
constexpr ep::Reducer REDUCER = {
    &JointOf<typename W::Op>::value,
    W::finish,
    stored<typename W::Op, T>(),
    folds<typename W::Op, T>(),
    folds_two<typename W::Op, T>(),
    W::lens,
    W::parts,
    W::cost,
    W::is_zero_of_nothing,
    is_order_free<typename W::Op>,
    W::has_scaled_root,
};

template <class T, class W>
constexpr ep_row row(const char* op, const char* input, const char* output, const ep_storage* to) {
    static_assert(W::parts == 1 || may_have_parts<typename W::Op>);
    return {"reduce", op, input, output, ep::reduce, W::from(), to, nullptr, nullptr, &REDUCER<T, W>};
}

#define EP_REDUCE_ROW(T, op, gives, way)                                                        \
    row<T_##T, way<T_##T, EP_TYPE(EP_GIVES_##gives(T))>>(#op, #T, EP_TEXT(EP_GIVES_##gives(T)), \
                                                         EP_STORAGE(EP_TYPE(EP_GIVES_##gives(T)))),
#define EP_REDUCE(op, dtypes, gives, way) EP_##dtypes(EP_REDUCE_ROW, op, gives, way)

// clang-format off
const ep_row ROWS[] = {
#include "reduce.def"
};
// clang-format on

}  // namespace

EP_PART
