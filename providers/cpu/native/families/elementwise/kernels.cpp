// The kernels of one group of rows for one instruction set: CMake defines EP_GROUP and EP_ISA. A group file, NAME.def,
// starts with the headers of its bodies and is read twice: for the bodies, then for the table.
#include "elementwise.h"
#include "isa/isa.h"

#define EP_GROUP_FILE EP_TEXT(EP_GROUP.def)
#define EP_OP_(op, line) op_##op##_##line
#define EP_OP(op, line) EP_OP_(op, line)

namespace {

#include "bodies.h"

#define EP_UNARY(op, dtypes, result, ...)                                                          \
    struct EP_OP(op, __LINE__) {                                                                   \
        template <class S, class P>                                                                \
        static EP_INLINE auto of([[maybe_unused]] S x, [[maybe_unused]] P p, [[maybe_unused]] P q, \
                                 [[maybe_unused]] const double* attributes) {                      \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };
#define EP_BINARY(op, dtypes, result, ...)                                                          \
    struct EP_OP(op, __LINE__) {                                                                    \
        template <class S, class P>                                                                 \
        static EP_INLINE auto of([[maybe_unused]] S a, [[maybe_unused]] S b, [[maybe_unused]] P p,  \
                                 [[maybe_unused]] P q, [[maybe_unused]] const double* attributes) { \
            return __VA_ARGS__;                                                                     \
        }                                                                                           \
    };
#define EP_LIGHT EP_BINARY
#define EP_PLAIN EP_BINARY
#define EP_PRODUCT EP_BINARY
#define EP_WORDS EP_UNARY
#define EP_BRIEF(op, ...) EP_UNARY(op, NARROW, SAME, __VA_ARGS__)
// `value` of a and b takes its time where is_long; where not, `brief` is the same.
#define EP_STEPPED(op, dtypes, result, is_long_, brief, ...)          \
    struct EP_OP(op, __LINE__) {                                      \
        template <class S>                                            \
        static EP_INLINE bool is_long(S a, S b) {                     \
            return is_long_;                                          \
        }                                                             \
        struct Short {                                                \
            template <class S, class P>                               \
            static EP_INLINE auto of(S a, S b, P, P, const double*) { \
                return brief;                                         \
            }                                                         \
        };                                                            \
        template <class S, class P>                                   \
        static EP_INLINE auto of(S a, S b, P, P, const double*) {     \
            return __VA_ARGS__;                                       \
        }                                                             \
    };
// The same of x.
#define EP_STEPPED_UNARY(op, dtypes, result, is_long_, brief, ...) \
    struct EP_OP(op, __LINE__) {                                   \
        template <class S>                                         \
        static EP_INLINE bool is_long(S x) {                       \
            return is_long_;                                       \
        }                                                          \
        struct Short {                                             \
            template <class S, class P>                            \
            static EP_INLINE auto of(S x, P, P, const double*) {   \
                return brief;                                      \
            }                                                      \
        };                                                         \
        template <class S, class P>                                \
        static EP_INLINE auto of(S x, P, P, const double*) {       \
            return __VA_ARGS__;                                    \
        }                                                          \
    };
#include EP_GROUP_FILE
#undef EP_UNARY
#undef EP_BINARY
#undef EP_LIGHT
#undef EP_PLAIN
#undef EP_PRODUCT
#undef EP_WORDS
#undef EP_BRIEF
#undef EP_STEPPED
#undef EP_STEPPED_UNARY

#define EP_STAGED(x) Staged<EP_TYPE(x)>
#define EP_OP_ROW(family, op, T, R, loop, body) EP_ROW(family, #op, T, R, ep_elementwise, loop, body, nullptr)
#define EP_UNARY_ROW(T, op, line, gives)                                  \
    EP_OP_ROW("elementwise_unary", op, T, EP_GIVES_##gives(T), ep::unary, \
              (body1<EP_OP(op, line), EP_STAGED(T), EP_STAGED(EP_GIVES_##gives(T))>))
#define EP_WORDS_ROW(T, op, line, gives)         \
    {"elementwise_unary",                        \
     #op,                                        \
     #T,                                         \
     #T,                                         \
     ep_elementwise,                             \
     EP_STORAGE(uint16_t),                       \
     EP_STORAGE(uint16_t),                       \
     ep::unary,                                  \
     body1<EP_OP(op, line), uint16_t, uint16_t>, \
     nullptr},
#define EP_BRIEF_ROW(op, line)                                                      \
    EP_UNARY_ROW(float16, op, line, SAME)                                           \
    EP_ROW("elementwise_unary", #op, bfloat16, bfloat16, ep_elementwise, ep::unary, \
           (body1<EP_OP(op, line), float, float>), (&OF_WORDS<EP_OP(op, line)>))
#define EP_BINARY_ROW(T, op, line, gives)                                 \
    EP_OP_ROW("broadcast_binary", op, T, EP_GIVES_##gives(T), ep::binary, \
              (body2<EP_OP(op, line), EP_STAGED(T), EP_STAGED(EP_GIVES_##gives(T))>))
#define EP_LIGHT_ROW(T, op, line, gives)                                  \
    EP_OP_ROW("broadcast_binary", op, T, EP_GIVES_##gives(T), ep::binary, \
              (body2_light<EP_OP(op, line), EP_STAGED(T), EP_STAGED(EP_GIVES_##gives(T))>))
#define EP_PLAIN_ROW(T, op, line, gives)                                                 \
    EP_ROW("broadcast_binary", #op, T, EP_GIVES_##gives(T), ep_elementwise, ep::binary,  \
           (body2_light<EP_OP(op, line), EP_STAGED(T), EP_STAGED(EP_GIVES_##gives(T))>), \
           (stored_code<EP_OP(op, line), EP_TYPE(T)>()))
#define EP_PRODUCT_ROW(T, op, line, gives) \
    EP_OP_ROW("broadcast_binary", op, T, T, ep::binary, (body2_product<EP_OP(op, line), EP_STAGED(T)>))
#define EP_STEPPED_UNARY_ROW(T, op, line, gives)                          \
    EP_OP_ROW("elementwise_unary", op, T, EP_GIVES_##gives(T), ep::unary, \
              (body1_short<EP_OP(op, line), EP_STAGED(T), EP_STAGED(EP_GIVES_##gives(T))>))
#define EP_STEPPED_ROW(T, op, line, gives)                                \
    EP_OP_ROW("broadcast_binary", op, T, EP_GIVES_##gives(T), ep::binary, \
              (body2_short<EP_OP(op, line), EP_STAGED(T), EP_STAGED(EP_GIVES_##gives(T))>))
#define EP_UNARY(op, dtypes, result, ...) EP_##dtypes(EP_UNARY_ROW, op, __LINE__, result)
#define EP_WORDS(op, dtypes, result, ...) EP_##dtypes(EP_WORDS_ROW, op, __LINE__, result)
#define EP_BRIEF(op, ...) EP_BRIEF_ROW(op, __LINE__)
#define EP_BINARY(op, dtypes, result, ...) EP_##dtypes(EP_BINARY_ROW, op, __LINE__, result)
#define EP_LIGHT(op, dtypes, result, ...) EP_##dtypes(EP_LIGHT_ROW, op, __LINE__, result)
#define EP_PRODUCT(op, dtypes, result, ...) EP_##dtypes(EP_PRODUCT_ROW, op, __LINE__, result)
#define EP_PLAIN(op, dtypes, result, ...) EP_##dtypes(EP_PLAIN_ROW, op, __LINE__, result)
#define EP_STEPPED_UNARY(op, dtypes, result, ...) EP_##dtypes(EP_STEPPED_UNARY_ROW, op, __LINE__, result)
#define EP_STEPPED(op, dtypes, result, ...) EP_##dtypes(EP_STEPPED_ROW, op, __LINE__, result)

// clang-format off
const ep_row ROWS[] = {
#include EP_GROUP_FILE
};
// clang-format on

}  // namespace

EP_PART
