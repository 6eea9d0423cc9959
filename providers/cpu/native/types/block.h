// Blocks on their way from and to memory. Included in an anonymous namespace, because it is compiled for several
// instruction sets, after storage.h and stream.h.
#pragma once

constexpr int64_t WIDEST = 16;
// Bytes of a block that goes past the caches: with more, stores wait for each other while nothing is computed.
constexpr int64_t STREAMED = 1024;

struct Block {
    alignas(ep::LINE) char bytes[ep::BLOCK * WIDEST];
};

// n elements side by side: where they lie, or gathered in a block.
template <class T>
const T* contiguous(const char* at, int64_t step, int64_t n, T* block) {
    if (step == int64_t{sizeof(T)}) return reinterpret_cast<const T*>(at);
    for (int64_t i = 0; i < n; ++i) block[i] = *reinterpret_cast<const T*>(at + i * step);
    return block;
}

// Whether a run of n elements goes past the caches: a long one of a large output that shares no memory with an input.
inline bool streams(int64_t traffic, int operands, char* const* at, int64_t n) {
    if (traffic < ep::STREAMING || n < ep::BLOCK / 2) return false;
    for (int k = 0; k + 1 < operands; ++k)
        if (at[k] == at[operands - 1]) return false;
    return true;
}

// What a loop reads later: of each of its inputs the block a few behind the one that is computed.
class Later {
   public:
    // A block of an input lies at `at`.
    void add(const char* at, int64_t nbytes) { inputs_[count_++] = {at + DISTANCE * nbytes, nbytes, 0}; }

    // Fetches as much of each block as `done` of `all` bytes are of another one.
    void fetch(int64_t done, int64_t all) {
        for (int k = 0; k < count_; ++k) {
            Input& input = inputs_[k];
            for (; input.fetched * all < done * input.nbytes; input.fetched += ep::LINE)
                __builtin_prefetch(input.at + input.fetched);
        }
    }

   private:
    struct Input {
        const char* at;
        int64_t nbytes, fetched;
    };
    static constexpr int64_t DISTANCE = 3;
    Input inputs_[EP_PLACES];
    int count_ = 0;
};

// Where blocks are written, and how they get to the output.
class Target {
   public:
    Target(const ep_storage& storage, char* at, int64_t step, bool streams)
        : storage_(storage),
          at_(at),
          step_(step),
          is_streaming_(streams && step == storage.size && reinterpret_cast<uintptr_t>(at) % storage.size == 0),
          is_direct_(storage.is_direct && step == storage.size && !is_streaming_) {}

    bool is_direct() const { return is_direct_; }

    // Blocks end on lines when streaming, the first one too.
    int64_t length(int64_t left) const {
        const auto odd = static_cast<int64_t>(reinterpret_cast<uintptr_t>(at_) % ep::LINE) / storage_.size;
        const int64_t most = is_streaming_ && storage_.size > 2 ? STREAMED / storage_.size : ep::BLOCK;
        const int64_t whole = is_streaming_ && odd != 0 ? ep::LINE / storage_.size - odd : most;
        return left < whole ? left : whole;
    }

    void* block() { return is_direct_ ? at_ : staged_.bytes; }

    // Whether a block that is ready now goes past the caches line by line, beside which others can be fetched.
    bool has_room() const { return !ep::FORESEES && is_streaming_ && storage_.is_direct && ep::is_line_aligned(at_); }

    void flush(int64_t n) { take(block(), n); }
    // The same beside what is fetched: memory then neither waits nor is asked for more than a core can wait for.
    void flush(int64_t n, Later& later) {
        const int64_t nbytes = n * step_;
        for (int64_t line = 0; line < nbytes; line += ep::LINE) {
            later.fetch(line + ep::LINE, nbytes);
            ep::stream_copy(at_ + line, staged_.bytes + line, std::min(nbytes - line, ep::LINE));
        }
        at_ += nbytes;
    }

    // The same for elements elsewhere. Whoever walks over a large output calls stream_done() at the end.
    void take(const void* elements, int64_t n) {
        if (elements != at_) storage_.store(elements, at_, step_, n, is_streaming_ && ep::is_line_aligned(at_));
        at_ += n * step_;
    }

   private:
    const ep_storage& storage_;
    char* at_;
    const int64_t step_;
    const bool is_streaming_, is_direct_;
    Block staged_;
};
