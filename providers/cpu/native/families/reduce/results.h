// Results from the states of n rows. Included once per instruction set, in an anonymous namespace, after joints.h.
#pragma once

template <class T>
constexpr int64_t parts_of = 1;
template <class T>
constexpr int64_t parts_of<Complex<T>> = 2;

// The real type of an element's parts, as they are staged.
template <class T>
struct RealPart {
    using type = Staged<T>;
};
template <class T>
struct RealPart<Complex<T>> {
    using type = T;
};
template <class T>
using Part = typename RealPart<T>::type;

template <class S, class R>
void converted(const void* states, void* out, int64_t n, double, const ep::Lens&) {
    const S* const from = static_cast<const S*>(states);
    Part<R>* const to = static_cast<Part<R>*>(out);
    for (int64_t i = 0; i < n * parts_of<R>; ++i) to[i] = static_cast<Part<R>>(from[i]);
}

template <class S, class R>
void averaged(const void* states, void* out, int64_t n, double terms, const ep::Lens&) {
    const S* const from = static_cast<const S*>(states);
    Part<R>* const to = static_cast<Part<R>*>(out);
    for (int64_t i = 0; i < n * parts_of<R>; ++i) to[i] = static_cast<Part<R>>(static_cast<double>(from[i]) / terms);
}

template <class T>
void narrowed_product(const void* states, void* out, int64_t n, double, const ep::Lens&) {
    const auto* const from = static_cast<const Complex<double>*>(states);
    T* const to = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) to[i] = put<T>(from[i]);
}

// A state is inverted as its elements were.
template <class S, class R>
void unmasked(const void* states, void* out, int64_t n, double, const ep::Lens& lens) {
    const S* const from = static_cast<const S*>(states);
    auto* const to = static_cast<Staged<R>*>(out);
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Staged<R>>(masked(from[i], S{-1}, static_cast<S>(lens.flip)));
}
template <class S, class R>
void unkeyed(const void* states, void* out, int64_t n, double, const ep::Lens& lens) {
    const auto* const from = static_cast<const typename KeyOf<S>::Key*>(states);
    auto* const to = static_cast<Staged<R>*>(out);
    const auto flip = static_cast<Mask<S>>(lens.flip);
    for (int64_t i = 0; i < n; ++i) to[i] = masked(KeyOf<S>::value(from[i]), ~Mask<S>{}, flip);
}
// Bits of S.
template <class S, class R>
void unpacked(const void* states, void* out, int64_t n, double, const ep::Lens&) {
    const auto* const from = static_cast<const typename Float<S>::Bits*>(states);
    auto* const to = static_cast<Staged<R>*>(out);
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Staged<R>>(of_bits<S>(from[i]));
}

// Zero is `flip`.
template <class S>
void tested(const void* states, void* out, int64_t n, double, const ep::Lens& lens) {
    const S* const from = static_cast<const S*>(states);
    auto* const to = static_cast<Boolean*>(out);
    const S zero = static_cast<S>(lens.flip);
    for (int64_t i = 0; i < n; ++i) to[i].byte = from[i] != zero;
}

template <class R, int64_t parts, bool is_root>
void added_squares(const void* states, void* out, int64_t n, double, const ep::Lens&) {
    const auto* const from = static_cast<const double*>(states);
    auto* const to = static_cast<Staged<R>*>(out);
    for (int64_t i = 0; i < n; ++i) {
        const double sum = parts == 2 ? from[2 * i] + from[2 * i + 1] : from[i];
        to[i] = static_cast<Staged<R>>(is_root ? square_root(sum) : sum);
    }
}

// A root that the driver has taken already.
template <class R, int64_t parts>
void first_parts(const void* states, void* out, int64_t n, double, const ep::Lens&) {
    const auto* const from = static_cast<const double*>(states);
    auto* const to = static_cast<Staged<R>*>(out);
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Staged<R>>(from[parts * i]);
}

template <class S, class R>
void logarithms(const void* states, void* out, int64_t n, double, const ep::Lens&) {
    const auto* const from = static_cast<const Exponents<S>*>(states);
    auto* const to = static_cast<Staged<R>*>(out);
    for (int64_t i = 0; i < n; ++i) {
        const auto greatest = static_cast<double>(from[i].greatest);
        const double value = greatest + logarithm(static_cast<double>(from[i].sum));
        to[i] = static_cast<Staged<R>>(greatest - greatest == 0 ? value : greatest);
    }
}
