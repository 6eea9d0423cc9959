// Rows of b that are made of windows of an image: for each term of a sum, an element of a window in a channel, what
// neighbouring windows have there. Included once per instruction set, in an anonymous namespace, after isa/copies.h.
#pragma once

// Columns that are neighbours in the innermost dimension: the first one's window begins at these coordinates of x, `at`
// bytes from its first element. A line may follow the one before as elements of x do.
struct Line {
    int64_t column, count, at, begin[EP_SPATIAL];
    bool follows;
};

// How many lines `columns` from number `column` on are, and these.
inline int lines_of(const ep_windows& w, int64_t size, int64_t column, int64_t columns, Line* lines) {
    const int last = w.ndim - 1;
    const int64_t step = w.stride[last] * w.step[last];
    int n = 0;
    for (int64_t done = 0; done < columns; ++n) {
        Line& line = lines[n];
        int64_t rest = column + done;
        line = {done, std::min(columns - done, w.count[last] - rest % w.count[last]), 0, {}, false};
        for (int d = last; d >= 0; rest /= w.count[d], --d) {
            line.begin[d] = rest % w.count[d] * w.stride[d] - w.before[d];
            line.at += line.begin[d] * w.step[d];
        }
        line.follows = n > 0 && step == size && line.at == lines[n - 1].at + lines[n - 1].count * step;
        done += line.count;
    }
    return n;
}

// Where an element of a window lies in x, from where the window begins, and how it moves each coordinate.
struct Moved {
    int64_t at, by[EP_SPATIAL];
};

inline Moved moved_of(const ep_windows& w, int64_t element) {
    Moved moved = {};
    for (int d = w.ndim - 1; d >= 0; element /= w.window[d], --d) {
        moved.by[d] = element % w.window[d] * w.dilation[d];
        moved.at += moved.by[d] * w.step[d];
    }
    return moved;
}

alignas(ep::LINE) constexpr char ZEROS[ep::WINDOWS * 8] = {};

// What an element of a window is of the columns of a run of lines: elements of x from column `begin` to `end`, the
// first of them at `from`, but for gaps, where zeros are.
struct Run {
    const char* from;
    int64_t begin, end;
    int gaps;
    int64_t gap[ep::WINDOWS + 1], width[ep::WINDOWS + 1];

    void leave(int64_t column, int64_t next) {
        if (column < next) gap[gaps] = column, width[gaps++] = next - column;
    }
};

// The run that begins with a line, of those before `stop`; returns the line after it.
inline const Line* run_of(const ep_windows& w, const char* x, const Moved& moved, const Line* line, const Line* stop,
                          Run& run) {
    const int last = w.ndim - 1;
    const int64_t stride = w.stride[last];
    const auto strides = [stride](int64_t n) { return stride == 1 ? n : (n + stride - 1) / stride; };
    int64_t done = line->column, columns = done;
    run.from = x, run.begin = run.end = done, run.gaps = 0;
    do {
        bool is_there = true;
        for (int d = 0; d < last; ++d) {
            const int64_t place = line->begin[d] + moved.by[d];
            is_there = is_there && place >= 0 && place < w.extent[d];
        }
        // Elements [low, high) of the line are elements of x.
        const int64_t first = line->begin[last] + moved.by[last], left = is_there ? w.extent[last] - first : 0;
        const int64_t high = left <= 0 ? 0 : std::min(line->count, strides(left));
        const int64_t low = first >= 0 ? 0 : std::min(high, strides(-first));
        if (low < high) {
            if (run.begin == run.end) {
                run.from = x + line->at + moved.at + low * stride * w.step[last];
                run.begin = line->column + low;
            }
            run.leave(done, line->column + low);
            run.end = done = line->column + high;
        }
        columns = line->column + line->count;
    } while (++line < stop && line->follows);
    run.leave(done, columns);
    return line;
}

// What a run of `count` channels has, the first of them at `own`, whose rows are `rows` bytes apart: copy(from, to)
// moves that of a channel.
template <class Copy>
EP_INLINE void copy_channels(const ep_windows& w, const Run& run, int64_t size, int64_t count, char* own, int64_t rows,
                             Copy copy) {
    const char* from = run.from;
    for (int64_t c = 0; c < count; ++c, from += w.channel, own += rows) {
        copy(from, own + run.begin * size);
        for (int gap = 0; gap < run.gaps; ++gap)
            copy_bytes<EP_WIDTH>(ZEROS, run.width[gap] * size, own + run.gap[gap] * size);
    }
}

// n words of 32 bits, no more than a vector has; of every two the first, if there are two for each.
template <bool is_second>
EP_INLINE void copy_words(const char* at, int n, char* to) {
    const float* const from = reinterpret_cast<const float*>(at);
    constexpr int lanes = Vector<float>::lanes;
    V<float> words;
    if constexpr (is_second) {
        const int read = 2 * n - 1;
        words = dealt_lanes<V<float>, 0>(load_part(from, std::min(lanes, read), 0.0F),
                                         load_part(from + lanes, std::max(0, read - lanes), 0.0F),
                                         std::make_index_sequence<size_t{lanes}>{});
    } else {
        words = load_part(from, n, 0.0F);
    }
    store_part(reinterpret_cast<float*>(to), n, words);
}

// The same of a run whose elements are `step` bytes apart.
EP_INLINE void copy_run(const ep_windows& w, const Run& run, int64_t step, int64_t size, int64_t count, char* own,
                        int64_t rows) {
    // Masks of other instruction sets are slower than several copies.
    constexpr bool has_masks = EP_WIDTH == 64;
    const int64_t n = run.end - run.begin, nbytes = step == size ? n * size : 0;
    const int words = static_cast<int>(nbytes / 4);
    const auto copy = [&](auto each) EP_LAMBDA { copy_channels(w, run, size, count, own, rows, each); };
    if (nbytes == 2 * EP_WIDTH)
        copy([](const char* from, char* to) EP_LAMBDA { std::memcpy(to, from, 2 * EP_WIDTH); });
    else if (nbytes == EP_WIDTH)
        copy([](const char* from, char* to) EP_LAMBDA { std::memcpy(to, from, EP_WIDTH); });
    else if (has_masks && nbytes > 0 && nbytes < EP_WIDTH && nbytes % 4 == 0)
        copy([words](const char* from, char* to) EP_LAMBDA { copy_words<false>(from, words, to); });
    else if (has_masks && size == 4 && step == 2 * size && n > 0 && n <= Vector<float>::lanes)
        copy([n](const char* from, char* to) EP_LAMBDA { copy_words<true>(from, static_cast<int>(n), to); });
    else
        copy([=](const char* from, char* to) EP_LAMBDA { copy_elements(from, step, size, n, to); });
}

// Every element of a window has the same place in a line for all channels, so that these are the innermost loop.
void bring_windows(const ep_windows& w, const char* x, int64_t size, int64_t k, int64_t depth, int64_t column,
                   int64_t columns, int64_t width, char* to) {
    const int64_t step = w.stride[w.ndim - 1] * w.step[w.ndim - 1], pitch = width * size;
    Line lines[ep::WINDOWS];
    const Line* const stop = lines + lines_of(w, size, column, columns, lines);
    int64_t elements = 1;
    for (int d = 0; d < w.ndim; ++d) elements *= w.window[d];
    Run run;
    for (int64_t element = 0; element < elements; ++element) {
        // Channels [begin, end) have this element among the rows.
        const int64_t begin = element >= k ? 0 : (k - element + elements - 1) / elements;
        const int64_t end = (k + depth - element + elements - 1) / elements;
        if (begin >= end) continue;
        const Moved moved = moved_of(w, element);
        for (const Line* line = lines; line != stop;) {
            line = run_of(w, x, moved, line, stop, run);
            run.from += begin * w.channel;
            char* const own = to + (begin * elements + element - k) * pitch;
            copy_run(w, run, step, size, end - begin, own, elements * pitch);
        }
    }
    if (columns < width)
        for (int64_t i = 0; i < depth; ++i)
            std::memset(to + i * pitch + columns * size, 0, static_cast<size_t>((width - columns) * size));
}
