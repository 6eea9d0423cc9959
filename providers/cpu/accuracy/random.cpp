// Prints the worst errors of normal numbers, by the words that they are made of. ../README.md says how it is run.
#include "worst.h"

namespace {

#include "../native/math/normal_quantile.h"

// The quantile function of the lower tail, by Newton's method from a value that has half of the digits.
Quad lower_quantile(Quad u, double near) {
    const Quad root = sqrtq(2), slope = sqrtq(2 * M_PIq);
    Quad z = static_cast<Quad>(near);
    for (int i = 0; i < 2; ++i) {
        const Quad excess = u > 0.125Q ? (u - 0.5Q) - erfq(z / root) / 2 : u - erfcq(-z / root) / 2;
        z += excess * slope * expq(z * z / 2);
    }
    return z;
}

Quad quantile_of(uint64_t v, int bits, double near) {
    const uint64_t mirrored = (uint64_t{1} << bits) - 1 - v;
    const Quad u = ldexpq(static_cast<Quad>(v < mirrored ? v : mirrored) + 0.5Q, -bits);
    const Quad z = lower_quantile(u, v < mirrored ? near : -near);
    return v < mirrored ? z : -z;
}

// A third is any word, a third is near the ends and a third near the middle; how near is random, too.
template <class W>
W word_of(std::mt19937_64& random, int kind) {
    const auto any = static_cast<W>(random());
    const W small = any >> random() % (8 * sizeof(W)), middle = W{1} << (8 * sizeof(W) - 1);
    if (kind == 1) return random() % 2 ? small : ~small;
    return kind == 2 ? (random() % 2 ? middle + small / 2 : middle - small / 2) : any;
}

}  // namespace

int main(int count, char** arguments) {
    if (count > 1) stride = std::strtoull(arguments[1], nullptr, 10);
    Worst of_float, of_double;
    for (uint64_t word = 0; word < uint64_t{1} << 32; word += stride) {
        // The same numbers in double are nearer than a float can tell.
        const double q = (static_cast<double>(word) + 0.5) * 0x1p-32 - 0.5;
        const float z = normal_of<float>(static_cast<uint32_t>(word));
        of_float.see(static_cast<float>(q), z, z, normal_quantile(q, 0.5 - std::fabs(q)));
    }
    of_float.print("normal", "float32");
    std::mt19937_64 random(5);
    for (int i = 0; i < 600000; ++i) {
        const auto word = word_of<uint64_t>(random, i % 3);
        const double z = normal_of<double>(word);
        of_double.see(static_cast<double>(word), z, z, quantile_of(word >> 12, 52, z));
    }
    of_double.print("normal", "float64");
}
