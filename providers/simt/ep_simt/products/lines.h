// Products with few rows are as fast as b is read, once and without a copy. Cells are sums that a work-item has side by
// side: one where it has neighbours, which have the next ones, and EP_LINE where it is alone. Across, cells are columns
// of a row; deep, they are shares of one element's depth.

#if EP_GROUP == 1
#define EP_CELLS                                     \
    EP_SHARED_ARRAY(EP_A, cells, EP_PARTS* EP_LINE); \
    EP_SHARED_ARRAY(EP_C, totals, EP_PARTS* EP_LINE);
#define EP_CELL(part) cells[(part) * EP_LINE + c]
#define EP_CELL_TOTAL(part) totals[(part) * EP_LINE + c]
#else
#define EP_CELLS          \
    EP_A cells[EP_PARTS]; \
    EP_C totals[EP_PARTS];
#define EP_CELL(part) cells[part]
#define EP_CELL_TOTAL(part) totals[part]
#endif

#define EP_EACH_CELL(count) \
    EP_INDEPENDENT          \
    for (ep_index c = 0; c < (count); ++c)
#if EP_PARTS == 2
#define EP_SET(cell, value) cell(0) = value, cell(1) = value
#define EP_ADD EP_CELL_TOTAL(0) += EP_CELL(0), EP_CELL_TOTAL(1) += EP_CELL(1)
#else
#define EP_SET(cell, value) cell(0) = value
#define EP_ADD EP_CELL_TOTAL(0) = EP_PLUS(EP_CELL_TOTAL(0), (EP_C)EP_CELL(0))
#endif
