// Bytes: allocation, copies, fills; and the clock and the counter.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "count.h"
#include "moves.h"
#include "pool.h"
#include "stream.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace {

std::atomic<int64_t> calls{0};

// From here on pages of 2 MiB are asked for: a streaming kernel otherwise waits for the page tables.
constexpr int64_t HUGE_PAGE = int64_t{2} << 20, HUGE_FROM = int64_t{4} << 20;

// src null: fill with `pattern`.
struct Move {
    char* dst;
    const char* src;
    int64_t nbytes, traffic, part;
    ep::Pattern pattern;
};

void move_part(void* context, int i) {
    const Move& m = *static_cast<const Move*>(context);
    const int64_t begin = i * m.part, left = m.nbytes - begin, n = left < m.part ? left : m.part;
    if (m.src == nullptr) return ep::fill_bytes(m.dst + begin, m.pattern, n);
    if (m.traffic < ep::STREAMING || !ep::is_line_aligned(m.dst + begin)) {
        std::memcpy(m.dst + begin, m.src + begin, static_cast<size_t>(n));
    } else {
        ep::stream_far(m.dst + begin, m.src + begin, n);
        ep::stream_done();
    }
}

// Parts start on lines of the target where its first byte does.
void move(Move& m) {
    if (m.nbytes == 0) return;
    const int count = ep::parts(m.traffic);
    m.part = ((m.nbytes + count - 1) / count + ep::LINE - 1) / ep::LINE * ep::LINE;
    ep::parallel(static_cast<int>((m.nbytes + m.part - 1) / m.part), move_part, &m);
}

// The bytes of a cache that one core owns or shares, or `otherwise` where the system does not tell. sysconf counts the
// last caches of all cores together.
int64_t cache(const char* size, int64_t otherwise) {
    long long kibibytes = 0;
    if (std::FILE* const file = std::fopen(size, "r")) {
        if (std::fscanf(file, "%lldK", &kibibytes) != 1) kibibytes = 0;
        std::fclose(file);
    }
    return kibibytes > 0 ? int64_t{kibibytes} << 10 : otherwise;
}

// The bytes of the last cache, as far as others leave them: 480 MiB of a server's processor are those of dozens of
// cores.
int64_t last_cache() {
    constexpr int64_t most = int64_t{32} << 20;
    return std::min(cache("/sys/devices/system/cpu/cpu0/cache/index3/size", most), most);
}

// A Sapphire Rapids of a cloud does not: unless they are fetched, 512 Ki elements of relu take 2.4 to 2.9 times as
// long, 1 Mi 1.2 times, and of tanh 1.3 times. A Zen 3 does, but for inputs beyond its caches beside outputs that go
// past them.
bool foresees() {
#if EP_X86
    return !__builtin_cpu_is("intel");
#else
    return true;
#endif
}

}  // namespace

// What a launch leaves in the cache beside others is still there at the next one.
const int64_t ep::STREAMING = last_cache() + (int64_t{8} << 20);
const bool ep::FORESEES = foresees();
const int64_t ep::FETCHING = FORESEES ? STREAMING : int64_t{2} << 20;
const int64_t ep::OWN = cache("/sys/devices/system/cpu/cpu0/cache/index2/size", int64_t{1} << 20);

void ep::count_call() {
    calls.fetch_add(1, std::memory_order_relaxed);
}

extern "C" int64_t ep_calls(void) {
    return calls.load(std::memory_order_relaxed);
}

extern "C" int64_t ep_clock(void) {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

extern "C" int ep_copy(char* dst, const char* src, int64_t nbytes) {
    ep::count_call();
    Move m;
    m.dst = dst;
    m.src = src;
    m.nbytes = nbytes;
    m.traffic = 2 * nbytes;
    const int64_t distance = dst < src ? src - dst : dst - src;
    if (distance < nbytes) {
        std::memmove(m.dst, m.src, static_cast<size_t>(nbytes));
    } else {
        move(m);
    }
    return 0;
}

extern "C" int ep_fill(char* dst, int64_t nbytes, const char* pattern, int length) {
    ep::count_call();
    Move m;
    m.dst = dst;
    m.src = nullptr;
    m.nbytes = nbytes;
    m.traffic = nbytes;
    m.pattern = ep::pattern_of(pattern, length);
    move(m);
    return 0;
}

extern "C" int ep_copy_bytes(const void* packed) {
    const auto& p = *static_cast<const ep_copy_packed*>(packed);
    return ep_copy(p.dst, p.src, p.nbytes);
}

extern "C" int ep_fill_bytes(const void* packed) {
    const auto& p = *static_cast<const ep_fill_packed*>(packed);
    return ep_fill(p.dst, p.nbytes, p.pattern, static_cast<int>(p.length));
}

extern "C" char* ep_allocate(int64_t nbytes, int64_t alignment) {
    const int64_t step = nbytes >= HUGE_FROM ? HUGE_PAGE : alignment;
    if (nbytes > std::numeric_limits<int64_t>::max() - step) return nullptr;
    const int64_t rounded = (nbytes + step - 1) / step * step;
    void* const address = std::aligned_alloc(static_cast<size_t>(step), static_cast<size_t>(rounded));
#if defined(__linux__)
    if (address != nullptr && step == HUGE_PAGE) madvise(address, static_cast<size_t>(rounded), MADV_HUGEPAGE);
#endif
    return static_cast<char*>(address);
}

extern "C" void ep_free(char* memory) {
    std::free(memory);
}
