// Philox-4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011; constants of Random123's philox.h), and elements from its words.

typedef struct {
    ep_u32 a, b, c, d;
} ep_words;

// Written out: a loop inside of the loop over blocks keeps compilers from making vectors of the latter.
#define EP_PHILOX_ROUND                                                \
    even = (ep_u64)0xD2511F53u * x.a, odd = (ep_u64)0xCD9E8D57u * x.c; \
    x.a = (ep_u32)(odd >> 32) ^ x.b ^ k0, x.b = (ep_u32)odd;           \
    x.c = (ep_u32)(even >> 32) ^ x.d ^ k1, x.d = (ep_u32)even;         \
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;

EP_FN ep_words ep_philox(ep_u64 seed, ep_u64 block) {
    ep_u32 k0 = (ep_u32)seed, k1 = (ep_u32)(seed >> 32);
    ep_u64 even, odd;
    ep_words x;
    x.a = (ep_u32)block, x.b = (ep_u32)(block >> 32), x.c = 0, x.d = 0;
    EP_PHILOX_ROUND EP_PHILOX_ROUND EP_PHILOX_ROUND EP_PHILOX_ROUND EP_PHILOX_ROUND EP_PHILOX_ROUND EP_PHILOX_ROUND
        EP_PHILOX_ROUND EP_PHILOX_ROUND EP_PHILOX_ROUND return x;
}

// The four words of a seed's sequence from number 4 block + skipped on, skipped < 4. Words are numbered by 64 bits, so
// blocks by 62.
EP_FN ep_words ep_words_at(ep_u64 seed, ep_u64 block, int skipped) {
    const ep_u64 mask = ~(ep_u64)0 >> 2;
    const ep_words x = ep_philox(seed, block & mask);
    if (skipped == 0) return x;
    const ep_words y = ep_philox(seed, (block + 1) & mask);
    ep_words z;
    z.a = skipped == 1 ? x.b : skipped == 2 ? x.c : x.d;
    z.b = skipped == 1 ? x.c : skipped == 2 ? x.d : y.a;
    z.c = skipped == 1 ? x.d : skipped == 2 ? y.a : y.b;
    z.d = skipped == 1 ? y.a : skipped == 2 ? y.b : y.c;
    return z;
}

EP_FN ep_u64 ep_wide_word(ep_u32 low, ep_u32 high) {
    return (ep_u64)high << 32 | low;
}

// floor(word (bound + 1) / 2^w)
EP_FN ep_u64 ep_share_u32(ep_u32 word, ep_u64 bound) {
    return (word * bound + word) >> 32;
}
EP_FN ep_u64 ep_share_u64(ep_u64 word, ep_u64 bound) {
    const ep_u64 low = word & 0xffffffffu, high = word >> 32, first = bound & 0xffffffffu, second = bound >> 32;
    const ep_u64 under = low * first, middle = high * first + (under >> 32),
                 over = low * second + (middle & 0xffffffffu);
    const ep_u64 rest = (over << 32 | (under & 0xffffffffu)) + word;
    return high * second + (middle >> 32) + (over >> 32) + (rest < word);
}
