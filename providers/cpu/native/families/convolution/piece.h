// A piece of x as windows are read, with zeros or other numbers around it, and its results on their way to y. Included
// once per instruction set, in an anonymous namespace, after isa/copies.h.
//
// Elements that windows meet at the same place lie a stride apart. Each dimension is therefore split into as many
// phases: those at places p, p + stride, ... side by side. Windows that begin at neighbouring places in y then read
// neighbours, whatever their strides, and the whole of y is one run of them, with some places at the ends of rows that
// do not count.
#pragma once

class Layout {
   public:
    explicit Layout(const ep_convolution_plan& convolution) : g_(convolution), w_(convolution.windows) {
        for (int d = w_.ndim - 1; d >= 0; --d) {
            const int64_t count = d == 0 ? g_.lines : w_.count[d];
            extent_[d] = (count - 1) + ((w_.window[d] - 1) * w_.dilation[d] + w_.stride[d]) / w_.stride[d];
            pitch_[d] = plane_;
            plane_ *= extent_[d];
            phases_ *= w_.stride[d];
        }
        int64_t place = 0;
        for (int64_t index[EP_SPATIAL] = {}; place < ep::WINDOW; ++place) {
            int64_t phase = 0;
            window_[place] = 0;
            for (int d = 0; d < w_.ndim; ++d) {
                const int64_t at = index[d] * w_.dilation[d];
                phase = phase * w_.stride[d] + at % w_.stride[d];
                window_[place] += at / w_.stride[d] * pitch_[d];
            }
            window_[place] += phase * plane_;
            int d = w_.ndim - 1;
            while (d >= 0 && ++index[d] == w_.window[d]) index[d--] = 0;
            if (d < 0) break;
        }
        size_ = place + 1;
        const int last = w_.ndim - 1;
        const ep_storage& storage = *g_.row->from;
        for (int phase = 0; phase < 2; ++phase) parts_[phase] = part_of(phase);
        deals_ = w_.stride[last] == 2 && meets(last, 1) && w_.step[last] == storage.size &&
                 (storage.is_direct || w_.extent[last] <= ep::BLOCK);
    }

    // Elements of a channel, and of a window of one; where each of these is read, from where y is written.
    int64_t channel() const { return plane_ * phases_; }
    int64_t size() const { return size_; }
    const int64_t* window() const { return window_; }

    // How far y reaches whose first dimension has `count` windows.
    int64_t length(int64_t count) const {
        int64_t last = (count - 1) * pitch_[0];
        for (int d = 1; d < w_.ndim; ++d) last += (w_.count[d] - 1) * pitch_[d];
        return last + 1;
    }

    // All channels of a piece, whose group begins at `at`, with places `beside` x.
    template <class S>
    void bring(const char* at, const ep::Piece& piece, S beside, S* to) const {
        const int last = w_.ndim - 1;
        int64_t place[EP_SPATIAL] = {};
        for (int64_t phase = 0; phase < phases_; ++phase) {
            bool is_met = !(deals_ && place[last] == 1);
            for (int d = 0; d <= last; ++d) is_met = is_met && meets(d, place[d]);
            if (is_met) bring_phase(at, piece, place, beside, to + phase * plane_);
            for (int d = last; d >= 0 && ++place[d] == w_.stride[d]; --d) place[d] = 0;
        }
        std::fill_n(to + g_.channels * channel(), ep::BEYOND, beside);
    }

    // One channel of a piece to y, where the piece begins at `at`.
    template <class S>
    void put(const S* from, const ep::Piece& piece, char* at) const {
        const ep_storage& storage = *g_.row->to;
        const int last = w_.ndim - 1;
        const int64_t n = w_.count[last], step = g_.y_step[last];
        each_line(piece.count, w_.count, [&](const int64_t* index) {
            int64_t line = 0;
            char* to = at;
            for (int d = 0; d < last; ++d) {
                line += index[d] * pitch_[d];
                to += index[d] * g_.y_step[d];
            }
            if (storage.is_direct && step == storage.size)
                copy_bytes<EP_WIDTH>(reinterpret_cast<const char*>(from + line), n * storage.size, to);
            else
                for (int64_t i = 0; i < n; i += ep::BLOCK)
                    storage.store(from + line + i, to + i * step, step, std::min(ep::BLOCK, n - i), false);
        });
    }

    // The numbers of elements along a line that count, for each of its windows.
    template <class S>
    void count(S* inner) const {
        const int last = w_.ndim - 1;
        for (int64_t i = 0; i < w_.count[last]; ++i) inner[i] = static_cast<S>(counted(last, i));
    }

    // Divides the sums of a piece by the numbers of elements that count, of which `inner` are those along a line.
    template <class S>
    void divide(S* sums, const ep::Piece& piece, const S* inner) const {
        const int last = w_.ndim - 1;
        const int64_t n = w_.count[last];
        each_line(piece.count, w_.count, [&](const int64_t* index) {
            int64_t line = 0, outer = 1;
            for (int d = 0; d < last; ++d) {
                line += index[d] * pitch_[d];
                outer *= counted(d, index[d] + (d == 0 ? piece.first : 0));
            }
            for (int64_t i = 0; i < n; ++i) sums[line + i] = sums[line + i] / (inner[i] * static_cast<S>(outer));
        });
    }

   private:
    // Elements of a window in a dimension that count.
    int64_t counted(int d, int64_t window) const {
        int64_t found = 0;
        for (int64_t k = 0; k < w_.window[d]; ++k) {
            const int64_t place = window * w_.stride[d] - w_.before[d] + k * w_.dilation[d];
            found += place >= g_.counted[0][d] && place < g_.counted[1][d];
        }
        return found;
    }

    // Whether a window has an element at place p, p + stride, ... of a dimension.
    bool meets(int d, int64_t p) const {
        if (w_.dilation[d] == 1) return p < w_.window[d];
        for (int64_t k = 0; k < w_.window[d] && k < w_.stride[d]; ++k)
            if (k * w_.dilation[d] % w_.stride[d] == p) return true;
        return false;
    }

    // visit(index) for each line along the last dimension: `count` of the first one, of the others as `counts` says.
    template <class Visit>
    void each_line(int64_t count, const int64_t* counts, Visit visit) const {
        for (int64_t index[EP_SPATIAL] = {};;) {
            visit(index);
            int d = w_.ndim - 2;
            while (d >= 0 && ++index[d] == (d == 0 ? count : counts[d])) index[d--] = 0;
            if (d < 0) return;
        }
    }

    // A line of a phase: its place number i is x's number from + i * stride, if that is from `begin` on, below `end`.
    struct Part {
        int64_t from, begin, end;
    };
    Part part(int64_t phase) const { return phase < 2 ? parts_[phase] : part_of(phase); }
    Part part_of(int64_t phase) const {
        const int last = w_.ndim - 1;
        const int64_t n = extent_[last], stride = w_.stride[last], from = phase - w_.before[last];
        const int64_t begin = from >= 0 ? 0 : std::min(n, (-from + stride - 1) / stride);
        const int64_t left = w_.extent[last] - from;
        return {from, begin, std::max(begin, std::min(n, left <= 0 ? 0 : (left + stride - 1) / stride))};
    }

    // A phase, and with it the next one of the last dimension if both are dealt.
    template <class S>
    void bring_phase(const char* at, const ep::Piece& piece, const int64_t* phase, S beside, S* to) const {
        const int last = w_.ndim - 1;
        const int64_t n = extent_[last];
        const Part own = part(phase[last]), next = part(phase[last] + 1);
        const int64_t lines = piece.count - 1 + extent_[0] - (g_.lines - 1);
        const bool is_direct = g_.row->from->is_direct;
        each_line(lines, extent_, [&](const int64_t* index) {
            int64_t line = 0, offset = 0;
            bool is_there = true;
            for (int d = 0; d < last; ++d) {
                const int64_t first = d == 0 ? piece.first : 0;
                const int64_t place = (first + index[d]) * w_.stride[d] + phase[d] - w_.before[d];
                is_there = is_there && place >= 0 && place < w_.extent[d];
                offset += place * w_.step[d];
                line += index[d] * pitch_[d];
            }
            for (int64_t c = 0; c < g_.channels; ++c) {
                S* const places = to + c * channel() + line;
                const char* const x = at + c * w_.channel + offset;
                if (!is_there) {
                    std::fill_n(places, n, beside);
                    if (deals_) std::fill_n(places + plane_, n, beside);
                } else if (deals_ && is_direct) {
                    deal_line(reinterpret_cast<const S*>(x), own, next, beside, places);
                } else if (deals_) {
                    deal_stored(x, own, next, beside, places);
                } else {
                    bring_line(x, own, beside, places);
                }
            }
        });
    }

    template <class S>
    void bring_line(const char* x, const Part& part, S beside, S* to) const {
        const int last = w_.ndim - 1;
        std::fill_n(to, part.begin, beside);
        load(x + (part.from + part.begin * w_.stride[last]) * w_.step[last], part.end - part.begin, to + part.begin);
        std::fill_n(to + part.end, extent_[last] - part.end, beside);
    }

    // Both phases at once, but for their ends.
    template <class S>
    void deal_line(const S* x, const Part& even, const Part& odd, S beside, S* to) const {
        using Word = std::conditional_t<sizeof(S) == 4, int32_t, int64_t>;
        const int64_t n = extent_[w_.ndim - 1], begin = std::max(even.begin, odd.begin),
                      end = std::max(begin, std::min(even.end, odd.end));
        const auto bring_ends = [&](const Part& part, S* own) {
            const auto bring = [&](int64_t i) {
                own[i] = i >= part.begin && i < part.end ? x[part.from + 2 * i] : beside;
            };
            for (int64_t i = 0; i < begin; ++i) bring(i);
            for (int64_t i = end; i < n; ++i) bring(i);
        };
        bring_ends(even, to);
        bring_ends(odd, to + plane_);
        deal<Word, Vector<Word>::lanes>(reinterpret_cast<const Word*>(x + even.from + 2 * begin), end - begin,
                                        reinterpret_cast<Word*>(to + begin),
                                        reinterpret_cast<Word*>(to + plane_ + begin));
    }

    // The same of a line that is not stored as it is computed with.
    template <class S>
    __attribute__((noinline)) void deal_stored(const char* x, const Part& even, const Part& odd, S beside,
                                               S* to) const {
        const ep_storage& storage = *g_.row->from;
        S line[ep::BLOCK];
        const void* const from = storage.load(x, storage.size, w_.extent[w_.ndim - 1], line);
        deal_line(static_cast<const S*>(from), even, odd, beside, to);
    }

    // n elements of x, a stride apart.
    template <class S>
    void load(const char* at, int64_t n, S* to) const {
        const ep_storage& storage = *g_.row->from;
        const int last = w_.ndim - 1;
        const int64_t step = w_.stride[last] * w_.step[last];
        if (storage.is_direct) return copy_elements(at, step, storage.size, n, reinterpret_cast<char*>(to));
        for (int64_t i = 0, some; i < n; i += some) {
            some = std::min(ep::BLOCK, n - i);
            const void* const from = storage.load(at + i * step, step, some, to + i);
            if (from != to + i) std::memcpy(to + i, from, static_cast<size_t>(some) * sizeof(S));
        }
    }

    const ep_convolution_plan& g_;
    const ep_windows& w_;
    int64_t extent_[EP_SPATIAL], pitch_[EP_SPATIAL];
    int64_t plane_ = 1, phases_ = 1, size_;
    int64_t window_[ep::WINDOW];
    Part parts_[2];
    bool deals_;  // whether phases of the last dimension are brought two at a time
};

// Piece number `number` of a plan, and where its group of x and its first window of y begin.
inline ep::Piece piece_of(const ep_convolution_plan& g, int64_t number) {
    const int64_t cuts = (g.windows.count[0] + g.lines - 1) / g.lines, first = number % cuts * g.lines;
    return {number / cuts / g.groups, number / cuts % g.groups, first, std::min(g.lines, g.windows.count[0] - first)};
}
inline void advance(const ep_convolution_plan& g, ep::Piece& piece) {
    piece.first += g.lines;
    if (piece.first >= g.windows.count[0]) {
        piece.first = 0;
        if (++piece.group == g.groups) piece.group = 0, ++piece.image;
    }
    piece.count = std::min(g.lines, g.windows.count[0] - piece.first);
}
inline const char* given(const ep_convolution_plan& g, char* const* at, const ep::Piece& piece) {
    return at[EP_CONVOLUTION_X] + piece.image * g.image[EP_CONVOLUTION_X] + piece.group * g.group[EP_CONVOLUTION_X];
}
inline char* made(const ep_convolution_plan& g, char* const* at, const ep::Piece& piece) {
    return at[EP_CONVOLUTION_Y] + piece.image * g.image[EP_CONVOLUTION_Y] + piece.group * g.group[EP_CONVOLUTION_Y] +
           piece.first * g.y_step[0];
}
