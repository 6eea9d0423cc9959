#include "machine/heap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t PAGE = 4096;
constexpr std::size_t LARGE = 64 << 10;
constexpr std::size_t SMALL_BYTES = std::size_t{256} << 20;
constexpr std::size_t MOST_FREED = 4096;

std::size_t rounded(std::size_t size, std::size_t to) {
    return (size + to - 1) / to * to;
}

void* mapped(Address where, std::size_t size, int protection, int flags, int file) {
    void* place =
        mmap(reinterpret_cast<void*>(where), size, protection, flags | MAP_FIXED_NOREPLACE | MAP_NORESERVE, file, 0);
    if (place != reinterpret_cast<void*>(where)) {
        std::fprintf(stderr, "emulated CUDA: no room for device addresses at %#zx\n", static_cast<std::size_t>(where));
        std::abort();
    }
    return place;
}

}  // namespace

Heap& Heap::get() {
    static Heap* one = new Heap;  // for ever: threads may still run when the process ends
    return *one;
}

std::size_t Heap::total() {
    static const std::size_t bytes = [] {
        const char* chosen = std::getenv("EP_CUDA_EMULATOR_MEMORY");
        std::size_t asked = chosen ? std::strtoull(chosen, nullptr, 0) : std::size_t{4} << 30;
        return std::clamp(asked, std::size_t{1} << 20, DEVICE_BYTES - SMALL_BYTES);
    }();
    return bytes;
}

bool Heap::tracks_writes() {
    static const bool is_on = [] {
        const char* chosen = std::getenv("EP_CUDA_EMULATOR_UNWRITTEN");
        return chosen && *chosen && std::strcmp(chosen, "0");
    }();
    return is_on;
}

void Heap::mark_written(Address place, std::size_t size) {
    if (tracks_writes() && is_device_address(place))
        std::memset(reinterpret_cast<void*>(WRITTEN + (place - BASE)), 1, size);
}

Heap::Heap() {
    file_ = memfd_create("emulated CUDA", MFD_CLOEXEC);
    if (file_ < 0 || ftruncate(file_, BYTES)) {
        std::perror("emulated CUDA: memory of the devices");
        std::abort();
    }
    mapped(BASE, BYTES, PROT_NONE, MAP_SHARED, file_);
    mapped(STORE, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file_);
    mapped(TABLE, rounded((GRANULES + 1) * 2, PAGE), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (tracks_writes()) mapped(WRITTEN, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    for (int device = 0; device < MOST_DEVICES; ++device) {
        Address start = BASE + device * DEVICE_BYTES;
        // The first granule stays empty: an address before the first allocation is nobody's.
        small_[device] = {start + GRANULE, start + SMALL_BYTES, start + GRANULE, {}};
        large_[device] = {start + SMALL_BYTES, start + DEVICE_BYTES, start + SMALL_BYTES, {}};
    }
}

// Places go round, so that what was freed stays unused for a while; a granule is left empty behind each allocation.
Address Heap::place_for(std::size_t size, std::size_t align, int device) {
    bool is_small = size < LARGE;
    auto& arena = is_small ? small_[device] : large_[device];
    std::size_t room = rounded(size, GRANULE) + GRANULE;
    for (int turn = 0; turn < 2; ++turn) {
        Address place = rounded(turn ? arena.start : arena.next, align);
        auto next = arena.taken.lower_bound(place);
        if (next != arena.taken.begin()) {
            auto last = std::prev(next);
            place = std::max(place, static_cast<Address>(rounded(last->first + last->second, align)));
        }
        while (next != arena.taken.end() && place + room > next->first) {
            place = rounded(next->first + next->second, align);
            ++next;
        }
        if (place + room <= arena.end) {
            arena.taken[place] = room;
            arena.next = place + room;
            return place;
        }
    }
    return 0;
}

void Heap::fill_table(Address start, std::size_t size, bool is_allocated) {
    auto* entry = reinterpret_cast<std::uint16_t*>(TABLE) + (start - BASE) / GRANULE;
    for (std::size_t left = size; left; ++entry) {
        std::size_t here = std::min(left, GRANULE);
        *entry = is_allocated ? static_cast<std::uint16_t>(here) : 0;
        left -= here;
    }
}

Address Heap::allocate(std::size_t size, Kind kind, int device) {
    std::lock_guard guard(turn_);
    bool is_shared = kind == Kind::PINNED || kind == Kind::MANAGED;
    bool counts = kind != Kind::PINNED;
    if (!size || size > DEVICE_BYTES || (counts && size > total() - used_[device])) return 0;
    std::size_t room = is_shared ? rounded(size, PAGE) : size;
    Address start = place_for(room, is_shared || size >= LARGE ? PAGE : GRANULE, device);
    if (!start) return 0;
    if (is_shared) mprotect(reinterpret_cast<void*>(start), room, PROT_READ | PROT_WRITE);
    if (counts) used_[device] += size;
    if (tracks_writes()) std::memset(reinterpret_cast<void*>(WRITTEN + (start - BASE)), is_shared, size);
    living_[start] = {start, size, kind, device, ++count_};
    fill_table(start, size, true);
    return start;
}

bool Heap::free(Address start) {
    std::lock_guard guard(turn_);
    auto found = living_.find(start);
    if (found == living_.end()) return false;
    auto gone = found->second;
    bool is_shared = gone.kind == Kind::PINNED || gone.kind == Kind::MANAGED;
    if (gone.kind != Kind::PINNED) used_[gone.device] -= gone.size;
    fill_table(start, gone.size, false);
    if (is_shared) mprotect(reinterpret_cast<void*>(start), rounded(gone.size, PAGE), PROT_NONE);
    if (is_shared || gone.size >= LARGE)
        fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start - BASE, rounded(gone.size, PAGE));
    small_[gone.device].taken.erase(start);
    large_[gone.device].taken.erase(start);
    living_.erase(found);
    if (freed_.size() >= MOST_FREED) freed_.erase(freed_.begin());
    freed_[start] = gone;
    return true;
}

Allocation Heap::find(Address place) {
    std::lock_guard guard(turn_);
    auto next = living_.upper_bound(place);
    if (next == living_.begin()) return {};
    auto& found = std::prev(next)->second;
    return place < found.start + found.size ? found : Allocation{};
}

Allocation Heap::before(Address place, bool* is_freed) {
    std::lock_guard guard(turn_);
    Allocation best;
    *is_freed = false;
    for (auto* all : {&living_, &freed_}) {
        auto next = all->upper_bound(place);
        if (next == all->begin()) continue;
        auto& found = std::prev(next)->second;
        bool is_inside = place < found.start + found.size;
        if (!best.size || found.start > best.start || (all == &freed_ && is_inside && found.start == best.start)) {
            best = found;
            *is_freed = all == &freed_;
        }
    }
    return best;
}

bool Heap::holds(Address place, std::size_t size) {
    auto found = find(place);
    return found.size && size <= found.start + found.size - place;
}

bool Heap::is_allocated(Address place, std::size_t size) {
    Address start = place - BASE, end = start + size;
    if (start >= BYTES || end > BYTES) return false;
    auto* table = reinterpret_cast<const std::uint16_t*>(TABLE);
    std::size_t last = (end - 1) / GRANULE;
    for (std::size_t number = start / GRANULE; number < last; ++number)
        if (table[number] < GRANULE) return false;  // an empty granule stands behind each allocation
    return table[last] > (end - 1) % GRANULE;
}

std::size_t Heap::free_bytes(int device) {
    std::lock_guard guard(turn_);
    return total() - used_[device];
}

void Heap::keep(int device, std::size_t size, bool is_kept) {
    std::lock_guard guard(turn_);
    used_[device] += is_kept ? size : -size;
}

bool Heap::add_host(Address start, std::size_t size) {
    std::lock_guard guard(turn_);
    return host_.emplace(start, size).second;
}

bool Heap::remove_host(Address start) {
    std::lock_guard guard(turn_);
    return host_.erase(start);
}

bool Heap::is_host(Address place, std::size_t size) {
    std::lock_guard guard(turn_);
    auto next = host_.upper_bound(place);
    if (next == host_.begin()) return false;
    auto [start, length] = *std::prev(next);
    return place - start <= length && size <= length - (place - start);
}
