// Tiles: rows that lie beside each other, whose elements a group holds in shared memory, and their sums. Element `i` of
// a row belongs to the row's chain i modulo `chains`, a power of two, and the chains are joined in pairs. So the order
// of a sum depends on the extent of its row alone: not on how rows lie, nor on how many there are.

// A chain of a row has a cell, in which its sum grows. A group of one work-item walks through all cells, in a larger
// one each work-item has one.
typedef struct {
    ep_index extent;  // elements of a row
    int rows;
    int across;         // whether neighbouring cells are of neighbouring rows, else of the chains of a row
    int chains, pitch;  // of a row, and the number of rows that have cells
    int cells;          // chains * pitch
    int blocks;         // elements of a chain; 0 for a work-item without a row
    int row, chain;     // this work-item's, or its first
    int skew;           // where it holds element 0 of row 0, if it is as far ahead of its own as in the order of rows
} ep_tile;

#if EP_GROUP == 1
#define EP_STRIDE(count) 1
#define EP_CELL_OF(row) (row)
#else
#define EP_STRIDE(count) (count)
#define EP_CELL_OF(row) EP_LOCAL_ID(x)
#endif

EP_FN ep_tile ep_tile_of(ep_index extent, int rows, int chains, int across) {
    const int lane = EP_LOCAL_ID(x);
    ep_tile tile;
    tile.extent = extent, tile.rows = rows, tile.across = across, tile.chains = chains;
    tile.pitch = EP_GROUP == 1 ? rows : EP_GROUP / chains;
    tile.cells = EP_GROUP == 1 ? chains * rows : EP_GROUP;
    tile.row = across ? lane % tile.pitch : lane / chains;
    tile.chain = across ? lane / tile.pitch : lane % chains;
    tile.blocks = tile.row < rows ? (int)((extent + chains - 1) / chains) : 0;
    tile.skew = lane - tile.chain * tile.pitch - tile.row;
    return tile;
}

// A statement about each element of a tile that is this work-item's: element `i` of row `row`, which is held at `at`.
#define EP_EACH_ELEMENT(statement)                                                    \
    if (EP_GROUP == 1 && tile.pitch == 1) {                                           \
        const int row = 0;                                                            \
        EP_INDEPENDENT                                                                \
        for (ep_index i = 0; i < tile.extent; ++i) {                                  \
            const ep_index at = i;                                                    \
            statement;                                                                \
        }                                                                             \
    } else {                                                                          \
        for (ep_index i = tile.chain; i < tile.extent; i += EP_STRIDE(tile.chains)) { \
            const ep_index first = i * tile.pitch + tile.skew;                        \
            EP_INDEPENDENT                                                            \
            for (int row = tile.row; row < tile.rows; row += EP_STRIDE(tile.pitch)) { \
                const ep_index at = first + row;                                      \
                statement;                                                            \
            }                                                                         \
        }                                                                             \
    }

// A statement about each cell that is this work-item's, and about each element of its chain, which is held at `at`.
#define EP_EACH_CELL(statement)                                            \
    EP_INDEPENDENT                                                         \
    for (int cell = EP_LOCAL_ID(x); cell < tile.cells; cell += EP_GROUP) { \
        statement;                                                         \
    }
#define EP_EACH_OF_CHAINS(statement)                         \
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
#define EP_TILE_FOLD(name, join, group_join)                                          \
    EP_FN void name(ep_tile tile, EP_SHARED_PTR(EP_C) cells) {                        \
        const int lane = EP_LOCAL_ID(x), place = tile.row * tile.chains + tile.chain; \
        EP_C own = cells[lane];                                                       \
        if (tile.across) own = ep_moved(cells, own, place, lane);                     \
        own = group_join(cells, own, tile.chains);                                    \
        if (tile.across) own = ep_moved(cells, own, lane, place);                     \
        cells[lane] = own;                                                            \
    }
// What the work-item has that wrote to `from`.
EP_FN EP_C ep_moved(EP_SHARED_PTR(EP_C) cells, EP_C own, int to, int from) {
    EP_BARRIER();
    cells[to] = own;
    EP_BARRIER();
    own = cells[from];
    EP_BARRIER();
    return own;
}
#endif
