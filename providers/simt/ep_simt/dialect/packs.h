// Packs: where neighbours fetch together, a work-item visits EP_SPREAD neighbours of a row, and each operand as one
// word of all of them, if they are neighbours there and begin at a multiple of the word, or are one element. Any other
// run is visited element by element. The program says for each form of its inputs what that is: EP_ARE_PACKS_tt and the
// like.
//
// A tensor's name is that of the work-item's own elements meanwhile: what is written for tensors is true of packs.

#define EP_PLACE(x, k) (x + (x##_at + from##k))
#define EP_IS_PACK(x, k) (step##k == 1 && (ep_u64)EP_PLACE(x, k) % sizeof(EP_WORD_##x) == 0)
#define EP_IS_PACK_OR_ONE(x, k) (step##k == 0 || EP_IS_PACK(x, k))

#define EP_PACK(x)                    \
    union {                           \
        EP_WORD_##x word;             \
        EP_ELEMENT_##x of[EP_SPREAD]; \
    } x##_pack;
#define EP_FETCH(x, k)                                                             \
    EP_PACK(x)                                                                     \
    if (step##k == 1) {                                                            \
        x##_pack.word = *(EP_GLOBAL const EP_WORD_##x*)EP_PLACE(x, k);             \
    } else {                                                                       \
        const EP_ELEMENT_##x repeated = x[x##_at + from##k];                       \
        EP_UNROLLED for (int i = 0; i < EP_SPREAD; ++i) x##_pack.of[i] = repeated; \
    }
#define EP_GIVE(x, k) EP_STORE_WORD((EP_GLOBAL EP_WORD_##x*)EP_PLACE(x, k), x##_pack.word);
#define EP_OWN(x, qualifier)                         \
    qualifier EP_ELEMENT_##x* const x = x##_pack.of; \
    const ep_i64 x##_at = 0;

// The elements of a pack.
#define EP_EACH_OF_PACK(statement)                             \
    EP_UNROLLED                                                \
    for (int i = 0; i < EP_SPREAD; ++i) {                      \
        const int at0 = i, at1 = i, at2 = i, at3 = i, at4 = i; \
        statement;                                             \
    }

// Runs over dense tensors: neighbours, unless the group's last elements are beyond the end, or a tensor begins in
// between words. Then they lie a group's length apart.
#define EP_PACKS_DENSE(form)                                                               \
    const ep_i64 beside = EP_LOCAL_SIZE(x), begin = EP_GROUP_ID(x) * beside * EP_SPREAD;   \
    const ep_i64 from0 = begin + EP_LOCAL_ID(x) * EP_SPREAD, from1 = from0, from2 = from0; \
    const ep_i64 from3 = from0, from4 = from0;                                             \
    const int step0 = 1, step1 = 1, step2 = 1, step3 = 1, step4 = 1;                       \
    const bool are_packs = begin + beside * EP_SPREAD <= n && EP_ARE_PACKS_##form;
#define EP_EACH_SPREAD(statement)                                                                           \
    EP_UNROLLED                                                                                             \
    for (int i = 0; i < EP_SPREAD; ++i) {                                                                   \
        const ep_i64 at0 = begin + EP_LOCAL_ID(x) + i * beside, at1 = at0, at2 = at0, at3 = at0, at4 = at0; \
        if (at0 < n) {                                                                                      \
            statement;                                                                                      \
        }                                                                                                   \
    }

// Runs with any strides, in a block that EP_RUN_STRIDED begins.
#define EP_PACKS_STRIDED(form) const bool are_packs = count == EP_SPREAD && EP_ARE_PACKS_##form;
#define EP_EACH_OF_RUN(statement)                                                                 \
    EP_UNROLLED                                                                                   \
    for (int i = 0; i < EP_SPREAD; ++i) {                                                         \
        const ep_index at0 = from0 + i * step0, at1 = from1 + i * step1, at2 = from2 + i * step2; \
        const ep_index at3 = from3 + i * step3, at4 = from4 + i * step4;                          \
        if (i < count) {                                                                          \
            statement;                                                                            \
        }                                                                                         \
    }

// Do `hold` with the inputs of each element, and `put` with what is stored of it.
#define EP_HOLD_ALL(form, EACH, hold)               \
    if (are_packs) {                                \
        EP_FETCH_##form {                           \
            EP_FETCHED_##form EP_EACH_OF_PACK(hold) \
        }                                           \
    } else {                                        \
        EACH(hold)                                  \
    }
#define EP_PUT_ALL(x, k, EACH, put)                                \
    if (are_packs) {                                               \
        EP_PACK(x){EP_OWN(x, ) EP_EACH_OF_PACK(put)} EP_GIVE(x, k) \
    } else {                                                       \
        EACH(put)                                                  \
    }
