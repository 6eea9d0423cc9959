#include "machine/races.h"

void Races::begin(std::size_t bytes, std::size_t warps) {
    next_epoch();
    if (bytes_.size() < bytes) bytes_.resize(bytes);
    warps_.assign(warps, 0);
}

// Threads of one warp are in order if the warp has waited for itself since.
bool Races::conflicts(const Mark& mark, std::uint32_t thread) const {
    if (mark.epoch != epoch_) return false;
    if (mark.many) return true;
    if (mark.thread == thread) return false;
    std::uint32_t warp = thread >> 5;
    return mark.thread >> 5 != warp || mark.in_warp == warps_[warp];
}

Races::Other Races::access(std::uint32_t thread, std::size_t place, std::size_t size, bool writes) {
    std::uint32_t warp = thread >> 5;
    for (std::size_t at = place; at < place + size; ++at) {
        auto& byte = bytes_[at];
        if (conflicts(byte.written, thread)) return {true, byte.written.thread, true};
        if (writes) {
            if (conflicts(byte.read, thread)) return {true, byte.read.thread, false};
            byte.written = {epoch_, warps_[warp], thread, false};
        } else {
            bool is_other = byte.read.epoch == epoch_ && byte.read.thread >> 5 != warp;
            byte.read = {epoch_, warps_[warp], thread, is_other || (byte.read.epoch == epoch_ && byte.read.many)};
        }
    }
    return {};
}
