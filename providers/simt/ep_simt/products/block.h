// A block of a product, of EP_BLOCK_ROWS by EP_BLOCK_COLUMNS elements, whose sums a work-item keeps in registers.

// What a work-item multiplies at once of a row on the right: all that its block has, where the compiler has vectors,
// else an element.
#if EP_GROUP == 1 && defined(EP_VECTOR)
typedef EP_VECTOR(EP_A, EP_BLOCK_COLUMNS) ep_word;
typedef EP_VECTOR(EP_C, EP_BLOCK_COLUMNS) ep_total;
#define EP_WORDS 1
#define EP_ADD_WORD(total, sum) total += EP_CONVERTED_VECTOR(sum, ep_total)  // integers wrap in vectors
EP_FN ep_word ep_multiply_add_words(ep_word a, ep_word b, ep_word c) {
    EP_CONTRACTED
    return a * b + c;
}
#else
typedef EP_A ep_word;
typedef EP_C ep_total;
#define EP_WORDS EP_BLOCK_COLUMNS
#define EP_ADD_WORD(total, sum) total = EP_PLUS(total, (EP_C)(sum))
#define ep_multiply_add_words ep_multiply_add
#endif
#define EP_ALL_WORDS (EP_PARTS * EP_BLOCK_ROWS * EP_WORDS)
// A word, or a total, that begins with an element in shared memory.
#define EP_WORD_AT(element) (*((EP_SHARED_PTR(const ep_word))(&(element))))
#define EP_TOTAL_AT(element) (*((EP_SHARED_PTR(ep_total))(&(element))))

#if EP_PARTS == 2
#define EP_IN_PARTS(x, first, second) const ep_word x = first, x##_im = second;
#else
#define EP_IN_PARTS(x, first, second) const ep_word x = first;
#endif
#define EP_SUM(part) sums[((part) * EP_BLOCK_ROWS + i) * EP_WORDS + j]

// Declares `sums`: left(part, i, d) is an element of the block's row i, right(part, d, j) word j of what is on the
// right. They have one term at least, so that compilers make no second loop over blocks for none.
#define EP_BLOCK_SUMS(left, right, deep)                                      \
    ep_word sums[EP_ALL_WORDS];                                               \
    {                                                                         \
        _Pragma("unroll") for (int e = 0; e < EP_ALL_WORDS; ++e) sums[e] = 0; \
        ep_index d = 0;                                                       \
        do {                                                                  \
            _Pragma("unroll") for (int i = 0; i < EP_BLOCK_ROWS; ++i) {       \
                EP_IN_PARTS(x, left(0, i, d), left(1, i, d))                  \
                _Pragma("unroll") for (int j = 0; j < EP_WORDS; ++j) {        \
                    EP_IN_PARTS(y, right(0, d, j), right(1, d, j))            \
                    EP_TERM_BY(ep_multiply_add_words, EP_SUM, x, y)           \
                }                                                             \
            }                                                                 \
        } while (++d < (deep));                                               \
    }
