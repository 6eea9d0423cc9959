// Prints the worst errors of the complex functions, in ulps of the result's modulus, over random inputs against
// libquadmath: of complex128, and of complex64, which is computed in double and rounded once.
// Not part of the build; ../README.md says how it is run. The argument is the number of inputs of each.
#include "worst.h"

namespace {
#define EP_UNARY(...)
#define EP_BINARY(...)
#include "../native/families/elementwise/complex.def"
#include "../native/families/elementwise/complex_backward.def"

using Complex128 = Complex<double>;
using Quads = __complex128;

Quads quads(Quad re, Quad im) {
    Quads z;
    __real__ z = re;
    __imag__ z = im;
    return z;
}
Quad modulus_of(Quads z) {
    return hypotq(__real__ z, __imag__ z);
}
Quads inverse(Quads z) {
    const Quad size = modulus_of(z);
    return quads(__real__ z / size / size, -__imag__ z / size / size);
}
Quads product(Quads a, Quads b) {
    return quads(__real__ a * __real__ b - __imag__ a * __imag__ b, __real__ a * __imag__ b + __imag__ a * __real__ b);
}
Quads times(Quads z, Quad factor) {
    return quads(__real__ z * factor, __imag__ z * factor);
}
// one + other, and one - other, with the signs of zeros that a number plus an imaginary zero has
Quads plus_one(Quads z) {
    return quads(1 + __real__ z, __imag__ z);
}
Quads one_minus(Quads z) {
    return quads(1 - __real__ z, -__imag__ z);
}
Quads turned(Quads z) {
    return quads(-__imag__ z, __real__ z);
}
Quads exponential_of(Quads z) {
    return times(quads(cosq(__imag__ z), sinq(__imag__ z)), expq(__real__ z));
}
Quads expm1_of(Quads z) {
    const Quad sine = sinq(__imag__ z / 2);
    return quads(expm1q(__real__ z) * cosq(__imag__ z) - 2 * sine * sine, expq(__real__ z) * sinq(__imag__ z));
}
Quads log1p_of(Quads z) {
    const Quad x = __real__ z, y = __imag__ z;
    return modulus_of(z) < 0.25Q ? quads(log1pq(x * (2 + x) + y * y) / 2, atan2q(y, 1 + x)) : clogq(plus_one(z));
}
Quads sigmoid_of(Quads z) {
    const Quads half = times(z, 0.5Q);
    return product(exponential_of(half), inverse(times(ccoshq(half), 2)));
}
Quads asin_slope_of(Quads z) {
    return inverse(product(csqrtq(one_minus(z)), csqrtq(plus_one(z))));
}
Quads acosh_slope_of(Quads z) {
    return inverse(product(csqrtq(quads(__real__ z - 1, __imag__ z)), csqrtq(plus_one(z))));
}
Quads atanh_slope_of(Quads z) {
    return product(inverse(one_minus(z)), inverse(plus_one(z)));
}

long count = 200000;

// Parts 0, of any exponent within the limits, or anywhere within them; the numbers near 0, +-1, +-i, the unit circle,
// multiples of pi/2 and of i pi/2.
class Points {
   public:
    Points(double re, double im, double low) : re_(re), im_(im), low_(low) {}

    Complex128 next() {
        constexpr double quarter = 1.5707963267948966;
        const double turns_re = std::round(uniform(-re_, re_) / quarter), turn = uniform(-4, 4), r = 1 + part(-55, -1);
        const double turns_im = std::round(uniform(-im_, im_) / quarter);
        switch (random_() % 9) {
            case 0:
                return within({part(low_, std::log2(re_)), part(low_, std::log2(im_))});
            case 1:
                return within({part(low_, 4), part(low_, 4)});
            case 2:
                return within({part(-3, 3), part(-3, 3)});
            case 3:
                return within({r * std::cos(turn), r * std::sin(turn)});
            case 4:
                return within({sign() + part(-60, 0), part(-60, 0)});
            case 5:
                return within({part(-60, 0), sign() + part(-60, 0)});
            case 6:
                return within({part(-60, 0), turns_im * quarter + part(-60, 0)});
            case 7:
                return within({turns_re * quarter + part(-60, 0), part(-60, 0)});
            default:
                return within({uniform(-re_, re_), uniform(-im_, im_)});
        }
    }

   private:
    double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
    double sign() { return random_() % 2 ? 1 : -1; }
    double part(double low, double high) {
        return random_() % 16 == 0 ? 0 * sign() : sign() * std::exp2(uniform(low, high));
    }
    Complex128 within(Complex128 z) const {
        return {std::fmax(-re_, std::fmin(re_, z.re)), std::fmax(-im_, std::fmin(im_, z.im))};
    }

    std::mt19937_64 random_{7};
    double re_, im_, low_;
};

// With 24 digits, as complex64 has them. Not by a cast: GCC 12 takes a pair of numbers that goes from double to float
// and back for unchanged when it makes vectors of straight-line code.
Complex128 shortened(Complex128 z) {
    constexpr uint64_t kept = ~((uint64_t{1} << 29) - 1);
    return {of_bits<double>(bits_of(z.re) & kept), of_bits<double>(bits_of(z.im) & kept)};
}

struct WorstModulus {
    double ulps = 0;
    Complex128 at{0, 0};
    long wrong = 0;

    template <class T>
    void see(Complex128 z, Complex<T> result, Quads reference) {
        const bool is_finite = std::isfinite(result.re) && std::isfinite(result.im);
        const auto is_in = [](Quad part) { return fabsq(part) <= std::numeric_limits<T>::max(); };
        if (is_finite != (is_in(__real__ reference) && is_in(__imag__ reference))) ++wrong;
        if (!is_finite) return;
        constexpr int digits = std::numeric_limits<T>::digits, least = std::numeric_limits<T>::min_exponent - 1;
        const Quad size = modulus_of(reference);
        const int binade = size == 0 ? least : std::max(ilogbq(size), least);
        const Quad error = modulus_of(quads(result.re - __real__ reference, result.im - __imag__ reference));
        const auto value = static_cast<double>(ldexpq(error, digits - 1 - binade));
        if (value > ulps) ulps = value, at = z;
    }
};

template <class Function, class Reference>
void some(const char* name, double re, double im, Function function, Reference reference) {
    Points wide(re, im, -500), narrow(std::fmin(re, 0x1p60), std::fmin(im, 0x1p60), -60);
    WorstModulus worst, worst_narrow;
    for (long i = 0; i < count; ++i) {
        const Complex128 z = wide.next(), of_float = shortened(narrow.next());
        worst.see(z, function(z), reference(quads(z.re, z.im)));
        worst_narrow.see(of_float, narrowed(function(of_float)), reference(quads(of_float.re, of_float.im)));
    }
    std::printf("%-18s fma %d: complex128 %.2f ulp at (%.17g, %.17g), %ld wrong; complex64 %.2f ulp, %ld wrong\n", name,
                EP_FMA, worst.ulps, worst.at.re, worst.at.im, worst.wrong, worst_narrow.ulps, worst_narrow.wrong);
    std::fflush(stdout);
}

// b such that |b log(a)| is at most 700
void powers() {
    Points bases(0x1p500, 0x1p500, -500), exponents(700, 700, -20);
    WorstModulus worst;
    for (long i = 0; i < count; ++i) {
        const Complex128 a = bases.next();
        const Quads log = clogq(quads(a.re, a.im));
        Complex128 b = exponents.next() * static_cast<double>(1 / modulus_of(log));
        if (i % 4 == 0) b = {std::round(b.re), 0};
        const Quads exponent = product(quads(b.re, b.im), log);
        if (!(modulus_of(exponent) <= 700)) continue;
        worst.see(a, complex_power(a, b), exponential_of(exponent));
    }
    std::printf("%-18s fma %d: complex128 %.2f ulp at (%.17g, %.17g), %ld wrong\n", "pow", EP_FMA, worst.ulps,
                worst.at.re, worst.at.im, worst.wrong);
}

}  // namespace

#define EP_TRY(name, re, im, function, reference) \
    some(name, re, im, [](Complex128 z) { return function; }, [](Quads z) { return reference; });

int main(int arguments, char** argument) {
    if (arguments > 1) count = std::strtol(argument[1], nullptr, 10);
    constexpr double any = 0x1p500;
    EP_TRY("abs", any, any, (Complex128{modulus(z), 0}), quads(modulus_of(z), 0))
    EP_TRY("reciprocal", any, any, complex_reciprocal(z), inverse(z))
    EP_TRY("sign", any, any, complex_sign(z), modulus_of(z) == 0 ? z : times(z, 1 / modulus_of(z)))
    EP_TRY("sqrt", any, any, complex_square_root(z), csqrtq(z))
    EP_TRY("rsqrt", any, any, complex_reciprocal_square_root(z), inverse(csqrtq(z)))
    EP_TRY("log", any, any, complex_logarithm(z), clogq(z))
    EP_TRY("log2", any, any, complex_logarithm2(z), times(clogq(z), M_LOG2Eq))
    EP_TRY("log10", any, any, complex_logarithm10(z), times(clogq(z), M_LOG10Eq))
    EP_TRY("log1p", any, any, complex_logarithm1p(z), log1p_of(z))
    EP_TRY("asin", any, any, complex_arc_sine(z), casinq(z))
    EP_TRY("acos", any, any, complex_arc_cosine(z), cacosq(z))
    EP_TRY("atan", any, any, complex_arc_tangent(z), catanq(z))
    EP_TRY("asinh", any, any, complex_area_sine(z), casinhq(z))
    EP_TRY("acosh", any, any, complex_area_cosine(z), cacoshq(z))
    EP_TRY("atanh", any, any, complex_area_tangent(z), catanhq(z))
    EP_TRY("exp", 700, 1e15, complex_exponential(z), exponential_of(z))
    EP_TRY("exp2", 1000, 1e12, complex_exponential2(z), exponential_of(times(z, M_LN2q)))
    EP_TRY("expm1", 700, 1e15, complex_exponential_minus_one(z), expm1_of(z))
    EP_TRY("sigmoid", 700, 1e15, complex_sigmoid(z), sigmoid_of(z))
    EP_TRY("sinh", 700, 1e15, complex_hyperbolic_sine(z), csinhq(z))
    EP_TRY("cosh", 700, 1e15, complex_hyperbolic_cosine(z), ccoshq(z))
    EP_TRY("tanh", 350, 1e15, complex_hyperbolic_tangent(z), ctanhq(z))
    EP_TRY("sin", 1e15, 700, complex_sine(z), csinq(z))
    EP_TRY("cos", 1e15, 700, complex_cosine(z), ccosq(z))
    EP_TRY("tan", 1e15, 350, complex_tangent(z), ctanq(z))
    EP_TRY("asin slope", any, any, complex_arc_sine_slope(z), asin_slope_of(z))
    EP_TRY("asinh slope", any, any, complex_area_sine_slope(z), asin_slope_of(turned(z)))
    EP_TRY("acosh slope", any, any, complex_area_cosine_slope(z), acosh_slope_of(z))
    EP_TRY("atanh slope", any, any, complex_area_tangent_slope(z), atanh_slope_of(z))
    EP_TRY("atan slope", any, any, complex_arc_tangent_slope(z), atanh_slope_of(turned(z)))
    EP_TRY("sigmoid slope", 700, 1e15, complex_sigmoid_slope(z), product(sigmoid_of(z), sigmoid_of(times(z, -1))))
    EP_TRY("tan slope", 1e15, 350, complex_tangent_slope(z), product(inverse(ccosq(z)), inverse(ccosq(z))))
    powers();
}
