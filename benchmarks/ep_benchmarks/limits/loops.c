/* The machine's own limits: loops that move bytes, or multiply and add, and do nothing else.
 *
 * Compiled where it runs, for the processor that it runs on; see native.py. All threads take part in each loop: they
 * sleep between calls; where bytes move, they meet at a spinning barrier after each repetition.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define PAUSE() _mm_pause()
#else
#define PAUSE() ((void)0)
#endif
#if defined(__AMX_TILE__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__AVX512F__)
#define BYTES 64
#define STREAM(to, value) _mm512_stream_ps((to), (__m512)(value))
#elif defined(__AVX__)
#define BYTES 32
#define STREAM(to, value) _mm256_stream_ps((to), (__m256)(value))
#else
#define BYTES 16
#if defined(__SSE2__)
#define STREAM(to, value) _mm_stream_ps((to), (__m128)(value))
#endif
#endif

typedef float vector __attribute__((vector_size(BYTES)));
typedef double doubles __attribute__((vector_size(BYTES)));
/* Vectors between two streams of reads. */
enum { BESIDE = (1 << 14) / BYTES };
/* Sums that stay in registers beside two factors: 16 of 32 registers, 12 of 16. */
enum { LANES = BYTES / 4, CHAINS = BYTES == 64 ? 16 : 12, MOST_THREADS = 1024, SPINS = 4096 };

/* ---- threads ---- */

typedef void (*work)(int me, int of, const void* given);

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static unsigned calls;
static int threads;
static atomic_int arrived;
static atomic_uint phase;
static volatile float sink[MOST_THREADS * 16];

static void meet(int of) {
    unsigned before = atomic_load(&phase);
    if (atomic_fetch_add(&arrived, 1) + 1 == of) {
        atomic_store(&arrived, 0);
        atomic_fetch_add(&phase, 1);
        return;
    }
    for (int spins = 0; atomic_load_explicit(&phase, memory_order_acquire) == before; ++spins) {
        if (spins < SPINS)
            PAUSE();
        else
            sched_yield();
    }
}

/* Each thread takes a copy: the caller may bring the next call while others leave this one. */
struct call {
    work function;
    const void* given;
    long times;
    int of;
    int meets; /* after each repetition, or after the last one */
};
static struct call current;

static void take_part(int me, struct call call) {
    for (long done = 0; done < call.times; ++done) {
        call.function(me, call.of, call.given);
        if (call.meets) meet(call.of);
    }
    meet(call.of);
}

static void* wait_for_calls(void* given) {
    int me = (int)(intptr_t)given;
    unsigned seen = 0;
    for (;;) {
        pthread_mutex_lock(&door);
        while (calls == seen) pthread_cond_wait(&bell, &door);
        seen = calls;
        struct call call = current;
        pthread_mutex_unlock(&door);
        if (me < call.of) take_part(me, call);
    }
    return NULL;
}

/* Returns how many threads there are from now on, the caller among them. */
int limits_open(int wanted) {
    if (wanted > MOST_THREADS) wanted = MOST_THREADS;
    if (!threads) threads = 1;
    while (threads < wanted) {
        pthread_t made;
        if (pthread_create(&made, NULL, wait_for_calls, (void*)(intptr_t)threads)) break;
        pthread_detach(made);
        ++threads;
    }
    return threads;
}

static void run(struct call call) {
    pthread_mutex_lock(&door);
    current = call;
    ++calls;
    pthread_cond_broadcast(&bell);
    pthread_mutex_unlock(&door);
    take_part(0, call);
}

/* ---- bytes ---- */

/* Whole vectors of each kind: c = a + b, c = a, a read, c = a constant, one behind the other in each array. */
struct traffic {
    const float *a, *b;
    float* c;
    int64_t adds, copies, reads, fills;
    int64_t way; /* 0 stores into the caches, 1 past them and reads two streams, 2 copies as the C library does */
};

struct span {
    int64_t from, to;
};

static struct span share(int64_t vectors, int me, int of) {
    return (struct span){vectors * me / of, vectors * (me + 1) / of};
}

#ifdef STREAM
#define PUT(to, value)                     \
    do {                                   \
        if (streams)                       \
            STREAM((float*)(to), (value)); \
        else                               \
            *(to) = (value);               \
    } while (0)
#else
#define PUT(to, value) (*(to) = (value))
#endif

static inline __attribute__((always_inline)) void move(int me, int of, const struct traffic* t, int streams) {
    const vector *a = (const vector*)t->a, *b = (const vector*)t->b;
    vector* c = (vector*)t->c;
    (void)streams;
    struct span s = share(t->adds, me, of);
#pragma GCC unroll 4
    for (int64_t i = s.from; i < s.to; ++i) PUT(c + i, a[i] + b[i]);
    a += t->adds, c += t->adds;
    s = share(t->copies, me, of);
    if (t->way == 2) {
        memcpy(c + s.from, a + s.from, (size_t)(s.to - s.from) * BYTES);
    } else {
#pragma GCC unroll 4
        for (int64_t i = s.from; i < s.to; ++i) PUT(c + i, a[i]);
    }
    a += t->copies, c += t->copies;
    s = share(t->reads, me, of);
    vector sums[8] = {{0}};
    int64_t i = s.from;
    if (streams) /* of reads there are two, 16 KiB apart, whose lines come in turn */
        for (; i + 2 * BESIDE <= s.to; i += 2 * BESIDE)
            for (int64_t k = i; k < i + BESIDE; k += 4)
#pragma GCC unroll 2
                for (int j = 0; j < 4; j += 2) {
                    sums[j] += a[k + j], sums[j + 1] += a[k + j + 1];
                    sums[4 + j] += a[k + BESIDE + j], sums[5 + j] += a[k + BESIDE + j + 1];
                }
    for (; i + 8 <= s.to; i += 8)
        for (int j = 0; j < 8; ++j) sums[j] += a[i + j];
    for (; i < s.to; ++i) sums[0] += a[i];
    for (int j = 1; j < 8; ++j) sums[0] += sums[j];
    sink[me * 16] = sums[0][0] + sums[0][LANES - 1];
    s = share(t->fills, me, of);
    vector constant = {0};
    constant += 1.0f;
#pragma GCC unroll 4
    for (i = s.from; i < s.to; ++i) PUT(c + i, constant);
#if defined(__SSE2__)
    if (streams) _mm_sfence();
#endif
}

static void move_through(int me, int of, const void* given) {
    move(me, of, given, 0);
}
static void move_past(int me, int of, const void* given) {
    move(me, of, given, 1);
}

void limits_move(const struct traffic* given, long times, int of) {
    run((struct call){given->way == 1 ? move_past : move_through, given, times, of, 1});
}

int64_t limits_vector(void) {
    return BYTES;
}

/* ---- products ---- */

enum { STEPS = 4096 };

#define CHAINED(type, one)                                                      \
    do {                                                                        \
        type sums[CHAINS], factor = {0}, more = {0};                            \
        factor += (one)0.999f, more += (one)0.001f;                             \
        for (int j = 0; j < CHAINS; ++j) sums[j] = factor * (one)j;             \
        for (int i = 0; i < STEPS; ++i)                                         \
            for (int j = 0; j < CHAINS; ++j) sums[j] = sums[j] * factor + more; \
        for (int j = 1; j < CHAINS; ++j) sums[0] += sums[j];                    \
        sink[me * 16] = (float)sums[0][0];                                      \
    } while (0)

static void fma_float32(int me, int of, const void* given) {
    (void)of, (void)given;
    CHAINED(vector, float);
}

static void fma_float64(int me, int of, const void* given) {
    (void)of, (void)given;
    CHAINED(doubles, double);
}

#if defined(__AVX512BF16__)
static void dot_bfloat16(int me, int of, const void* given) {
    (void)of, (void)given;
    __m512 sums[CHAINS];
    __m512bh one = (__m512bh)_mm512_set1_epi16(0x3c00);
    for (int j = 0; j < CHAINS; ++j) sums[j] = _mm512_set1_ps((float)j);
    for (int i = 0; i < STEPS; ++i)
        for (int j = 0; j < CHAINS; ++j) sums[j] = _mm512_dpbf16_ps(sums[j], one, one);
    for (int j = 1; j < CHAINS; ++j) sums[0] = _mm512_add_ps(sums[0], sums[j]);
    sink[me * 16] = _mm512_cvtss_f32(sums[0]);
}
#endif

/* Bytes as numbers of 16 bits. A product of constants alone would be made once; each product takes a register, too. */
#if defined(__AVX2__) && !defined(__AVX512VNNI__)
enum { PAIR_CHAINS = 8 };

static void pairs_int8(int me, int of, const void* given) {
    (void)of, (void)given;
    __m256i sums[PAIR_CHAINS], one = _mm256_set1_epi16(1);
    for (int j = 0; j < PAIR_CHAINS; ++j) sums[j] = _mm256_set1_epi32(j);
    for (int i = 0; i < STEPS; ++i)
        for (int j = 0; j < PAIR_CHAINS; ++j) sums[j] = _mm256_add_epi32(sums[j], _mm256_madd_epi16(sums[j], one));
    for (int j = 1; j < PAIR_CHAINS; ++j) sums[0] = _mm256_add_epi32(sums[0], sums[j]);
    sink[me * 16] = (float)_mm_cvtsi128_si32(_mm256_castsi256_si128(sums[0]));
}
#endif

#if defined(__AVX512VNNI__)
static void dot_int8(int me, int of, const void* given) {
    (void)of, (void)given;
    __m512i sums[CHAINS], one = _mm512_set1_epi8(1);
    for (int j = 0; j < CHAINS; ++j) sums[j] = _mm512_set1_epi32(j);
    for (int i = 0; i < STEPS; ++i)
        for (int j = 0; j < CHAINS; ++j) sums[j] = _mm512_dpbusd_epi32(sums[j], one, one);
    for (int j = 1; j < CHAINS; ++j) sums[0] = _mm512_add_epi32(sums[0], sums[j]);
    sink[me * 16] = (float)_mm_cvtsi128_si32(_mm512_castsi512_si128(sums[0]));
}
#endif

#if defined(__AVX512FP16__)
static void fma_float16(int me, int of, const void* given) {
    (void)of, (void)given;
    __m512h sums[CHAINS], factor = _mm512_set1_ph(0.5f16), more = _mm512_set1_ph(0.25f16);
    for (int j = 0; j < CHAINS; ++j) sums[j] = _mm512_set1_ph((_Float16)j);
    for (int i = 0; i < STEPS; ++i)
        for (int j = 0; j < CHAINS; ++j) sums[j] = _mm512_fmadd_ph(sums[j], factor, more);
    for (int j = 1; j < CHAINS; ++j) sums[0] = _mm512_add_ph(sums[0], sums[j]);
    sink[me * 16] = (float)_mm512_cvtsh_h(sums[0]);
}
#endif

#if defined(__AMX_TILE__) && defined(__linux__)
static int tiles_allowed(void) {
    static int known; /* 18 is the state of tiles, 0x1023 asks the kernel for it */
    if (!known) known = syscall(SYS_arch_prctl, 0x1023, 18) ? -1 : 1;
    return known > 0;
}

/* Constant: GCC 12 takes the instruction to read 8 bytes of it, and leaves out what would fill the others. */
static const struct {
    uint8_t palette, start, zero[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} SHAPE = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

#define TILED(product)                    \
    do {                                  \
        _tile_loadconfig(&SHAPE);         \
        _tile_zero(0);                    \
        _tile_zero(1);                    \
        _tile_zero(2);                    \
        _tile_zero(3);                    \
        _tile_zero(4);                    \
        _tile_zero(5);                    \
        _tile_zero(6);                    \
        _tile_zero(7);                    \
        for (int i = 0; i < STEPS; ++i) { \
            product(0, 4, 6);             \
            product(1, 4, 7);             \
            product(2, 5, 6);             \
            product(3, 5, 7);             \
        }                                 \
        _tile_release();                  \
    } while (0)

#if defined(__AMX_BF16__)
static void tile_bfloat16(int me, int of, const void* given) {
    (void)me, (void)of, (void)given;
    TILED(_tile_dpbf16ps);
}
#endif
#if defined(__AMX_INT8__)
static void tile_int8(int me, int of, const void* given) {
    (void)me, (void)of, (void)given;
    TILED(_tile_dpbssd);
}
#endif
#endif

struct unit {
    work function;
    double flops; /* of one repetition on one thread */
};

/* Units by number: 0 and up are float32, float64, bfloat16, float16, int8; without a function the processor has none.
 */
static struct unit unit_of(int number) {
    double steps = (double)STEPS * CHAINS * 2;
    switch (number) {
        case 0:
            return (struct unit){fma_float32, steps * LANES};
        case 1:
            return (struct unit){fma_float64, steps * LANES / 2};
        case 2:
#if defined(__AMX_BF16__) && defined(__linux__)
            if (tiles_allowed()) return (struct unit){tile_bfloat16, (double)STEPS * 4 * 2 * 16 * 16 * 32};
#endif
#if defined(__AVX512BF16__)
            return (struct unit){dot_bfloat16, steps * 32};
#endif
            break;
        case 3:
#if defined(__AVX512FP16__)
            return (struct unit){fma_float16, steps * 32};
#endif
            break;
        case 4:
#if defined(__AMX_INT8__) && defined(__linux__)
            if (tiles_allowed()) return (struct unit){tile_int8, (double)STEPS * 4 * 2 * 16 * 16 * 64};
#endif
#if defined(__AVX512VNNI__)
            return (struct unit){dot_int8, steps * 64};
#elif defined(__AVX2__)
            return (struct unit){pairs_int8, (double)STEPS * PAIR_CHAINS * 2 * 16};
#endif
            break;
    }
    return (struct unit){NULL, 0.0};
}

double limits_flops(int unit) {
    return unit_of(unit).flops;
}

void limits_multiply(int unit, long times, int of) {
    struct unit found = unit_of(unit);
    if (found.function) run((struct call){found.function, NULL, times, of, 0});
}
