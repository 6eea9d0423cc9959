// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011; constants of Random123's philox.h), many blocks side by side.
// Included once per instruction set, in an anonymous namespace.
#pragma once

constexpr int64_t PHILOX_BLOCKS = 64, PHILOX_WORDS = 4 * PHILOX_BLOCKS;

// Words of a sequence are numbered by 64 bits, so blocks by 62: block `first` and the blocks after it, in order.
inline void philox(uint64_t seed, uint64_t first, uint32_t* words) {
    uint32_t c[4][PHILOX_BLOCKS];
    for (int64_t i = 0; i < PHILOX_BLOCKS; ++i) {
        const uint64_t block = (first + static_cast<uint64_t>(i)) & (~uint64_t{0} >> 2);
        c[0][i] = static_cast<uint32_t>(block);
        c[1][i] = static_cast<uint32_t>(block >> 32);
        c[2][i] = c[3][i] = 0;
    }
    auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9U, k1 += 0xBB67AE85U) {
        for (int64_t i = 0; i < PHILOX_BLOCKS; ++i) {
            const uint64_t even = uint64_t{0xD2511F53U} * c[0][i], odd = uint64_t{0xCD9E8D57U} * c[2][i];
            c[0][i] = static_cast<uint32_t>(odd >> 32) ^ c[1][i] ^ k0;
            c[1][i] = static_cast<uint32_t>(odd);
            c[2][i] = static_cast<uint32_t>(even >> 32) ^ c[3][i] ^ k1;
            c[3][i] = static_cast<uint32_t>(even);
        }
    }
    for (int64_t i = 0; i < PHILOX_BLOCKS; ++i)
        for (int j = 0; j < 4; ++j) words[4 * i + j] = c[j][i];
}
