#include "machine/races.h"

void Races::begin(std::size_t bytes, std::size_t warps) {
    next_epoch();
    if (bytes_.size() < bytes) bytes_.resize(bytes);
    warps_.assign(warps, 0);
}

// Threads of one warp are in order if the warp has waited for itself since.
bool Races::conflicts(Mark mark, std::uint32_t thread) const {
    if (mark & 1) return true;
    std::uint32_t other = thread_of(mark), warp = thread >> 5;
    if (other == thread) return false;
    return other >> 5 != warp || static_cast<std::uint16_t>(mark >> WARP_SHIFT) == warps_[warp];
}

Races::Other Races::access(std::uint32_t thread, std::size_t place, std::size_t size, Access access) {
    const Mark own = mark(thread);
    for (Byte* byte = &bytes_[place]; byte != &bytes_[place] + size; ++byte) {
        for (Access other : {WRITE, READ, ATOMIC}) {
            Mark last = byte->last[other];
            bool agree = other == access && access != WRITE;  // reads do, and so do atomic operations
            if (!agree && last >> EPOCH_SHIFT == epoch_ && last != own && conflicts(last, thread))
                return {true, thread_of(last), other};
        }
        Mark& last = byte->last[access];
        if (last == own) continue;
        bool is_many =
            access != WRITE && last >> EPOCH_SHIFT == epoch_ && ((last & 1) || thread_of(last) >> 5 != thread >> 5);
        last = own | is_many;
    }
    return {};
}
