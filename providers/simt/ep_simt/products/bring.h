// Brings lines of a factor into shared memory, all factors by one function: of each of `lines`, which lie `next` apart,
// `length` elements, which lie `step` apart, to places `to_next` and `to_step` apart; second parts `far` behind the
// first. A group takes `across` elements of a line at once. A work-item alone takes those that will lie apart in runs,
// so that they stay near from line to line, and makes no vectors of them, or of what comes in two parts, which are not
// worth the compiler's time.
#if EP_GROUP == 1
#define EP_SCATTERED EP_ROLLED
#else
#define EP_SCATTERED
#endif
#if EP_PARTS == 2
#define EP_BESIDE EP_SCATTERED
#define EP_BRING_TO(place) to[place] = x, to[(place) + far] = x_im;
#else
#define EP_BESIDE EP_INDEPENDENT
#define EP_BRING_TO(place) to[place] = x;
#endif
#define EP_BRING_LINE(to_step)                                          \
    for (ep_index t = first + lane % across; t < end; t += across) {    \
        EP_FACTOR_OF(x, a, (ep_i64)(line * next + t * step), conjugate) \
        EP_BRING_TO(line * to_next + t * (to_step))                     \
    }
EP_FN_APART void ep_bring(EP_GLOBAL const EP_GIVEN* a, const ep_i64 a_at, const ep_index conjugate, const int lane,
                          const int across, const ep_index lines, const ep_index next, const ep_index length,
                          const ep_index step, EP_SHARED_PTR(EP_A) to, const ep_index to_next, const ep_index to_step,
                          const ep_index far) {
    const ep_index run = EP_GROUP > 1 || to_step == 1 ? length : 16;
    for (ep_index first = 0; first < length; first += run) {
        const ep_index end = ep_least(length, first + run);
        for (ep_index line = lane / across; line < lines; line += EP_GROUP / across) {
            if (to_step == 1) {
                EP_BESIDE
                EP_BRING_LINE(1)
            } else {
                EP_SCATTERED
                EP_BRING_LINE(to_step)
            }
        }
    }
}

// Brings what a tile has of a factor, along the smaller of its two strides: `deep` elements along the depth, `down`
// apart, of each of `extent` rows or columns of the tile's `width`, `step` apart. The tile has nothing beyond them.
#define EP_SPAN(width) ((width) < EP_GROUP ? (width) : EP_GROUP)
#define EP_BRING_FACTOR(runs_deep, name, at, conjugate, width, extent, step, down, to, to_step, to_down, far)        \
    if (runs_deep)                                                                                                   \
        ep_bring(name, at, conjugate, lane, EP_SPAN(EP_DEPTH), extent, step, deep, down, to, to_step, to_down, far); \
    else                                                                                                             \
        ep_bring(name, at, conjugate, lane, EP_SPAN(width), deep, down, extent, step, to, to_down, to_step, far);
