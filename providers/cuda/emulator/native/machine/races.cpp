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

Races::Other Races::access(std::uint32_t thread, std::size_t place, std::size_t size, bool writes) {
    const Mark own = mark(thread);
    for (Byte* byte = &bytes_[place]; byte != &bytes_[place] + size; ++byte) {
        bool was_written = byte->written >> EPOCH_SHIFT == epoch_, was_read = byte->read >> EPOCH_SHIFT == epoch_;
        if (was_written && byte->written != own && conflicts(byte->written, thread))
            return {true, thread_of(byte->written), true};
        if (writes) {
            if (was_read && byte->read != own && conflicts(byte->read, thread))
                return {true, thread_of(byte->read), false};
            byte->written = own;
        } else if (byte->read != own) {
            bool is_many = was_read && ((byte->read & 1) || thread_of(byte->read) >> 5 != thread >> 5);
            byte->read = own | is_many;
        }
    }
    return {};
}
