#include "machine/races.h"

#include <algorithm>

void Races::begin(std::size_t bytes, std::size_t warps) {
    next_epoch();
    std::size_t words = (bytes + WORD - 1) / WORD;
    if (words_.size() < words) {
        words_.resize(words);
        bytes_.resize(words * WORD);
    }
    warps_.assign(warps, 0);
}

// Threads of one warp are in order if the warp has waited for itself since.
inline bool Races::conflicts(Mark mark, std::uint32_t thread) const {
    if (mark >> EPOCH_SHIFT != epoch_) return false;
    if (mark & 1) return true;
    std::uint32_t other = thread_of(mark), warp = thread >> 5;
    if (other == thread) return false;
    return other >> 5 != warp || static_cast<std::uint16_t>(mark >> WARP_SHIFT) == warps_[warp];
}

// Reads agree with each other, and so do atomic operations.
inline bool Races::take(Marks& marks, std::uint32_t thread, Mark own, Access access) const {
    auto& [read, written, changed] = marks.last;
    if (conflicts(written, thread) || (access != READ && conflicts(read, thread)) ||
        (access != ATOMIC && conflicts(changed, thread)))
        return false;
    Mark& last = marks.last[access];
    bool is_many =
        access != WRITE && last >> EPOCH_SHIFT == epoch_ && ((last & 1) || thread_of(last) >> 5 != thread >> 5);
    last = own | is_many;
    return true;
}

Races::Other Races::other(const Marks& marks, std::uint32_t thread, Access access) const {
    for (Access other : {WRITE, READ, ATOMIC})
        if ((other == WRITE || other != access) && conflicts(marks.last[other], thread))
            return {true, thread_of(marks.last[other]), other};
    return {};
}

Races::Other Races::access(std::uint32_t thread, std::size_t place, std::size_t size, Access access) {
    const Mark own = mark(thread);
    const std::size_t end = place + size;
    for (std::size_t number = place / WORD; number * WORD < end; ++number) {
        Word& word = words_[number];
        if (size >= WORD && word.split != epoch_) {
            if (!take(word.marks, thread, own, access)) return other(word.marks, thread, access);
            continue;
        }
        if (word.split != epoch_) {
            word.split = epoch_;
            std::fill_n(&bytes_[number * WORD], WORD, word.marks);
        }
        for (std::size_t byte = std::max(place, number * WORD); byte < std::min(end, (number + 1) * WORD); ++byte)
            if (!take(bytes_[byte], thread, own, access)) return other(bytes_[byte], thread, access);
    }
    return {};
}
