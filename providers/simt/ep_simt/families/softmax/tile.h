// Tiles: rows that lie beside each other, whose elements a group holds in shared memory, and their sums. Element `i` of
// a row belongs to the row's chain i modulo `chains`, a power of two, and the chains are joined in pairs. So the order
// of a sum depends on the extent of its row alone: not on how rows lie, nor on how many there are.

// A chain of a row has a cell, in which its sum grows. A group of one work-item walks through all cells, in a larger
// one each work-item has one, and holds the elements of its chain alone.
typedef struct {
    int chains, pitch;  // of a row, and the number of rows that have cells
    int cells;          // chains * pitch
    int blocks;         // elements of a chain; 0 for a work-item without a row
    int row, chain;     // this work-item's, or its first
    ep_index extent;    // elements of a row
    int rows;
} ep_tile;

#if EP_GROUP == 1
#define EP_STRIDE(count) 1
#else
#define EP_STRIDE(count) (count)
#endif

// across: whether neighbouring cells are of neighbouring rows, else of the chains of a row
EP_FN ep_tile ep_tile_of(ep_index extent, int rows, int chains, int across) {
    const int lane = EP_LOCAL_ID(x);
    ep_tile tile;
    tile.extent = extent, tile.rows = rows, tile.chains = chains;
    tile.pitch = EP_GROUP == 1 ? rows : EP_GROUP / chains;
    tile.cells = EP_GROUP == 1 ? chains * rows : EP_GROUP;
    tile.row = across ? lane % tile.pitch : lane / chains;
    tile.chain = across ? lane / tile.pitch : lane % chains;
    tile.blocks = tile.row < rows ? (int)((extent + chains - 1) / chains) : 0;
    return tile;
}

// A statement about each element of a tile that is this work-item's: it is held at `at`, and its place in memory is
// `place`, if neighbours in a row are `step` apart and neighbouring rows `beside`. The inner loop is along a single
// row, else along the rows that lie beside each other.
#define EP_EACH_ELEMENT(start, step, beside, statement)                                                          \
    {                                                                                                            \
        const int is_single = EP_GROUP == 1 && tile.pitch == 1;                                                  \
        const ep_index outer_end = is_single ? 1 : tile.extent, inner_end = is_single ? tile.extent : tile.rows; \
        const ep_i64 inner_step = is_single ? (step) : (beside);                                                 \
        for (ep_index outer = tile.chain; outer < outer_end; outer += EP_STRIDE(tile.chains)) {                  \
            const ep_index first = EP_HELD_FROM(outer);                                                          \
            const ep_i64 place_of_first = (start) + outer * (step);                                              \
            EP_INDEPENDENT                                                                                       \
            for (ep_index inner = tile.row; inner < inner_end; inner += EP_STRIDE(tile.pitch)) {                 \
                const ep_index at = first + inner;                                                               \
                const ep_i64 place = place_of_first + inner * inner_step;                                        \
                statement;                                                                                       \
            }                                                                                                    \
        }                                                                                                        \
    }
#if EP_GROUP == 1
#define EP_HELD_FROM(i) ((i) * tile.pitch)
#else
#define EP_HELD_FROM(i) (((i) - tile.chain) * tile.pitch + EP_LOCAL_ID(x) - tile.row)
#endif

// A statement about each cell that is this work-item's, and about each element of its chain, which is held at `at`.
#define EP_EACH_CELL(statement)                                            \
    EP_INDEPENDENT                                                         \
    for (int cell = EP_LOCAL_ID(x); cell < tile.cells; cell += EP_GROUP) { \
        statement;                                                         \
    }
#define EP_EACH_HELD(statement)                              \
    for (int block = 0; block < tile.blocks; ++block) {      \
        const int first = block * tile.cells;                \
        EP_EACH_CELL(const int at = first + cell; statement) \
    }

// The last elements of chains may lie behind their row's end.
EP_FN void ep_clear_last(ep_tile tile, EP_SHARED_PTR(EP_C) held, EP_C nothing) {
    const int last = (tile.blocks - 1) * tile.cells;
    if (tile.blocks > 0) EP_EACH_CELL(held[last + cell] = nothing)
}

// EP_TILE_FOLD(name, join, group_join) defines `name(tile, cells)`, which puts into all cells of a row what they have,
// joined.
#if EP_GROUP == 1
#define EP_TILE_FOLD(name, join, group_join)                                                               \
    EP_FN void name(ep_tile tile, EP_SHARED_PTR(EP_C) cells) {                                             \
        for (int reach = tile.cells / 2; reach >= tile.pitch; reach /= 2) {                                \
            EP_INDEPENDENT                                                                                 \
            for (int cell = 0; cell < reach; ++cell) cells[cell] = join(cells[cell], cells[cell + reach]); \
        }                                                                                                  \
        for (int reach = tile.pitch; reach < tile.cells; reach *= 2) {                                     \
            EP_INDEPENDENT                                                                                 \
            for (int cell = 0; cell < reach; ++cell) cells[cell + reach] = cells[cell];                    \
        }                                                                                                  \
    }
#else
// Where rows lie across, work-items change places for the fold; where they do not, each stays at its own. Barriers do
// not stand under a condition, because not every compiler for CPUs takes them there.
#define EP_TILE_FOLD(name, join, group_join)                                          \
    EP_FN void name(ep_tile tile, EP_SHARED_PTR(EP_C) cells) {                        \
        const int lane = EP_LOCAL_ID(x), place = tile.row * tile.chains + tile.chain; \
        const EP_C own = ep_moved(cells, cells[lane], place, lane);                   \
        const EP_C joined = group_join(cells, own, tile.chains);                      \
        cells[lane] = ep_moved(cells, joined, lane, place);                           \
    }
// What the work-item has that moves to `from`.
EP_FN EP_C ep_moved(EP_SHARED_PTR(EP_C) cells, EP_C own, int to, int from) {
    EP_BARRIER();
    cells[to] = own;
    EP_BARRIER();
    own = cells[from];
    EP_BARRIER();
    return own;
}
#endif
