// Tiles: rows that lie beside each other, whose elements a group holds, and their sums. Packs of EP_SPREAD elements
// belong to the row's chains in turn, pack `i` to chain i modulo `chains`, a power of two, and the chains are joined in
// pairs. So the order of a sum depends on the extent of its row alone: not on how rows lie, nor on how many there are.

// A chain of a row has a cell, in which its sum grows. A group of one work-item walks through all cells, in a larger
// one each work-item has one, and holds the elements of its chain alone.
typedef struct {
    ep_index extent;    // elements of a row
    int rows;           // in the tile
    int chains, pitch;  // of a row, and the number of rows that have cells
    int cells;          // chains * pitch
    int blocks;         // the most packs of a chain that this work-item has
    int row, chain;     // this work-item's, or its first
    bool across;        // whether neighbouring cells are of neighbouring rows, else of the chains of a row
} ep_tile;

EP_FN ep_tile ep_tile_of(ep_index extent, int rows, int chains, int across) {
    const int lane = EP_LOCAL_ID(x);
    ep_tile tile;
    tile.extent = extent, tile.rows = rows, tile.chains = chains, tile.across = across != 0;
    tile.pitch = EP_GROUP == 1 ? rows : EP_GROUP / chains;
    tile.cells = chains * tile.pitch;
    tile.row = across ? lane % tile.pitch : lane / chains;
    tile.chain = across ? lane / tile.pitch : lane % chains;
    const int packs = (int)((extent - 1) / EP_SPREAD) + 1;
    tile.blocks = tile.row < rows ? (packs - tile.chain + chains - 1) / chains : 0;
    return tile;
}

// EP_HOLDING(name), EP_CELLS(name): the elements of a tile, and a cell a chain; each work-item of a larger group has
// its own in registers. EP_EXCHANGED: memory in which these meet. EP_EACH_CELL(statement): each cell that is this
// work-item's. EP_EACH_HELD(statement): each element of its chains, which is held at `at` and has the cell `cell`.
// EP_GROW(cells, statement): the same for a statement that makes more of `grown`, which the cell has then.
// EP_EACH_READ(x, k, statement): the same for elements of tensor `x`, column `k`, at `place` there; EP_EACH_WRITTEN for
// a tensor that is written. EP_EACH_READ_AND_GROW(x, k, read, cells, statement): both; in a larger group all are on
// their way before the first is waited for.
#define EP_START(k) ep_row_at(&rows, k, first_row) + (ep_i64)piece * EP_PIECE * rows.stride[k][0]
#define EP_STEP(k) ((ep_i64)rows.stride[k][0])
#define EP_BESIDE(k) ((ep_i64)rows.stride[k][rows.along])
#if EP_GROUP == 1
#define EP_HOLDING(name) EP_SHARED_ARRAY(EP_C, name, EP_HELD);
#define EP_CELLS(name) EP_SHARED_ARRAY(EP_C, name, EP_MOST_CELLS);
#define EP_EXCHANGED
#define EP_GROWN(cells, statement) \
    EP_C grown = cells[cell];      \
    statement;                     \
    cells[cell] = grown
#define EP_GROW(cells, statement) EP_EACH_HELD(EP_GROWN(cells, statement))
#define EP_EACH_READ(x, k, statement) EP_EACH_ELEMENT(EP_START(k), EP_STEP(k), EP_BESIDE(k), statement)
#define EP_EACH_WRITTEN(x, k, statement) EP_EACH_READ(x, k, statement)
#define EP_EACH_READ_AND_GROW(x, k, read, cells, statement) EP_EACH_READ(x, k, read; EP_GROWN(cells, statement))
#define EP_EACH_CELL(statement)                     \
    EP_INDEPENDENT                                  \
    for (int cell = 0; cell < tile.cells; ++cell) { \
        statement;                                  \
    }
#define EP_EACH_HELD(statement)                                             \
    for (int block = 0; block < tile.blocks; ++block) {                     \
        const int first = block * tile.cells, chains_left = EP_CHAINS_LEFT; \
        EP_INDEPENDENT                                                      \
        for (int cell = 0; cell < chains_left * tile.pitch; ++cell) {       \
            const int at = first + cell;                                    \
            statement;                                                      \
        }                                                                   \
    }
// Neighbours in a row are `step` apart, neighbouring rows `beside`. The inner loop is along a single row, else along
// the rows that lie beside each other.
#define EP_EACH_ELEMENT(start, step, beside, statement)                                                      \
    {                                                                                                        \
        const ep_i64 start_of_tile = start, outer_step = step, inner_step = tile.pitch == 1 ? step : beside; \
        for (int block = 0; block < tile.blocks; ++block) {                                                  \
            const int chains_left = EP_CHAINS_LEFT, outer_end = tile.pitch == 1 ? 1 : chains_left;           \
            const int inner_end = tile.pitch == 1 ? chains_left : tile.rows;                                 \
            for (int outer = 0; outer < outer_end; ++outer) {                                                \
                const int first = outer * tile.pitch, first_at = block * tile.cells + first;                 \
                const ep_i64 from = start_of_tile + ((ep_i64)block * tile.chains + outer) * outer_step;      \
                if (inner_step == 1) {                                                                       \
                    EP_INDEPENDENT                                                                           \
                    EP_EACH_INNER(inner, statement)                                                          \
                } else {                                                                                     \
                    EP_ROLLED                                                                                \
                    EP_EACH_INNER(inner * inner_step, statement)                                             \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
    }
#define EP_EACH_INNER(further, statement)                      \
    for (int inner = 0; inner < inner_end; ++inner) {          \
        const int cell = first + inner, at = first_at + inner; \
        const ep_i64 place = from + (further);                 \
        statement;                                             \
    }
#define EP_CHAINS_LEFT \
    (tile.extent - block * tile.chains < tile.chains ? (int)tile.extent - block * tile.chains : tile.chains)
#else
#define EP_EACH_CELL(statement) \
    {                           \
        const int cell = 0;     \
        statement;              \
    }
#define EP_HOLDING(name) EP_C name[EP_HELD];
#define EP_CELLS(name) EP_C name[1];
#define EP_EXCHANGED EP_SHARED_ARRAY(EP_C, exchanged, EP_GROUP);
#define EP_EACH_HELD(statement) EP_EACH_BLOCK(EP_EACH_OF_BLOCK(statement))
#define EP_GROW(cells, statement) \
    {                             \
        EP_C grown = cells[0];    \
        EP_EACH_HELD(statement)   \
        cells[0] = grown;         \
    }
#define EP_EACH_READ_AND_GROW(x, k, read, cells, statement) \
    EP_EACH_READ(x, k, read)                                \
    EP_GROW(cells, statement)

// Block after block: what this work-item does not have is beyond the first that it lacks.
#define EP_EACH_BLOCK(statement)                                \
    EP_UNROLLED                                                 \
    for (int block = 0; block < EP_HELD / EP_SPREAD; ++block) { \
        const int cell = 0;                                     \
        if (block >= tile.blocks) break;                        \
        statement                                               \
    }
#define EP_EACH_OF_BLOCK(statement)                                                       \
    {                                                                                     \
        const ep_index number = (ep_index)(block * tile.chains + tile.chain) * EP_SPREAD; \
        EP_UNROLLED                                                                       \
        for (int i = 0; i < EP_SPREAD; ++i) {                                             \
            const int at = block * EP_SPREAD + i;                                         \
            if (number + i < tile.extent) {                                               \
                statement;                                                                \
            }                                                                             \
        }                                                                                 \
    }
// A block's elements are one word where they are neighbours, and there are as many in every block.
#define EP_EACH_READ(x, k, statement)                                                                      \
    {                                                                                                      \
        EP_BLOCKS(k)                                                                                       \
        if (tile.extent % EP_SPREAD == 0 && EP_IS_PACK(x, k)) {                                            \
            EP_EACH_BLOCK(EP_FETCH(x, k){EP_OWN(x, const) EP_EACH_IN_PACK(statement)} from##k += between;) \
        } else {                                                                                           \
            EP_EACH_IN_PLACE(k, statement)                                                                 \
        }                                                                                                  \
    }
#define EP_EACH_WRITTEN(x, k, statement)                                                                        \
    {                                                                                                           \
        EP_BLOCKS(k)                                                                                            \
        if (tile.extent % EP_SPREAD == 0 && EP_IS_PACK(x, k)) {                                                 \
            EP_EACH_BLOCK(EP_PACK(x){EP_OWN(x, ) EP_EACH_IN_PACK(statement)} EP_GIVE(x, k) from##k += between;) \
        } else {                                                                                                \
            EP_EACH_IN_PLACE(k, statement)                                                                      \
        }                                                                                                       \
    }
#define EP_BLOCKS(k)                                                                        \
    const ep_i64 step##k = EP_STEP(k), between = (ep_i64)tile.chains * EP_SPREAD * step##k; \
    ep_i64 from##k = EP_START(k) + tile.chain * EP_SPREAD * step##k + tile.row * EP_BESIDE(k);
#define EP_EACH_IN_PACK(statement)                       \
    EP_UNROLLED                                          \
    for (int i = 0; i < EP_SPREAD; ++i) {                \
        const int at = block * EP_SPREAD + i, place = i; \
        statement;                                       \
    }
#define EP_EACH_IN_PLACE(k, statement) \
    EP_EACH_BLOCK(EP_EACH_OF_BLOCK(const ep_i64 place = from##k + i * step##k; statement) from##k += between;)
#endif

// EP_TILE_FOLD(name, join, group_join) defines what EP_FOLD_TILE(name, cells) calls: what the cells of a row have,
// joined, for the cell of each row that EP_EACH_ROW(statement) is about. EP_SPREAD_TILE(cells) gives all cells of a row
// what that one has.
#if EP_GROUP == 1
#define EP_TILE_FOLD(name, join, group_join)                                                               \
    EP_FN void name(ep_tile tile, EP_SHARED_PTR(EP_C) cells) {                                             \
        for (int reach = tile.cells / 2; reach >= tile.pitch; reach /= 2) {                                \
            EP_INDEPENDENT                                                                                 \
            for (int cell = 0; cell < reach; ++cell) cells[cell] = join(cells[cell], cells[cell + reach]); \
        }                                                                                                  \
    }
#define EP_FOLD_TILE(name, cells) name(tile, cells);
#define EP_EACH_ROW(condition, statement)                                            \
    EP_ROLLED                                                                        \
    for (int row = 0, end_row = (condition) ? tile.rows : 0; row < end_row; ++row) { \
        const int cell = row;                                                        \
        statement;                                                                   \
    }
EP_FN void ep_spread(ep_tile tile, EP_SHARED_PTR(EP_C) cells) {
    for (int reach = tile.pitch; reach < tile.cells; reach *= 2) {
        EP_INDEPENDENT
        for (int cell = 0; cell < reach; ++cell) cells[cell + reach] = cells[cell];
    }
}
#define EP_SPREAD_TILE(cells) ep_spread(tile, cells);
#else
// Where rows lie across, work-items change places for the fold; where they do not, each stays at its own, and those of
// a subgroup wait for nobody.
#define EP_TILE_FOLD(name, join, group_join)                                                   \
    EP_FN EP_C name(ep_tile tile, EP_SHARED_PTR(EP_C) exchanged, EP_C own) {                   \
        const int lane = EP_LOCAL_ID(x), place = tile.row * tile.chains + tile.chain;          \
        own = group_join(exchanged, ep_moved(tile, exchanged, own, place, lane), tile.chains); \
        return ep_moved(tile, exchanged, own, lane, place);                                    \
    }
// What the work-item has that moves to `from`, where rows lie across.
EP_FN EP_C ep_moved(ep_tile tile, EP_SHARED_PTR(EP_C) exchanged, EP_C own, int to, int from) {
    if (tile.across) exchanged[to] = own;
    EP_BARRIER_IF(tile.across);
    if (tile.across) own = exchanged[from];
    EP_BARRIER_IF(tile.across);
    return own;
}
#define EP_FOLD_TILE(name, cells) cells[0] = name(tile, exchanged, cells[0]);
#define EP_EACH_ROW(condition, statement)      \
    if ((condition) && tile.row < tile.rows) { \
        const int row = tile.row, cell = 0;    \
        statement;                             \
    }
#define EP_SPREAD_TILE(cells)
#endif
