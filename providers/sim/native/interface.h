/* The C interface of the simulated device. cffi reads this very file: declarations alone, no preprocessor. */

/* The memory of one device: a file without a name, mapped twice. Handles give addresses in the device view, never
   accessible; the shadow view is for the device's workers, and accessible where an allocation is. */
typedef struct ep_arena ep_arena;

/* Maps `reserve` bytes twice under a name of at most 31 characters; NULL with errno set if the system refuses. */
ep_arena* ep_arena_open(const char* name, uint64_t reserve);
void ep_arena_close(ep_arena* arena);
uintptr_t ep_arena_device(const ep_arena* arena);
uintptr_t ep_arena_shadow(const ep_arena* arena);
uint64_t ep_page_size(void);

/* Opens [start, start + span), whole pages, to the workers, and notes that [offset, offset + nbytes) is an allocation,
   which the host reaches in the shadow view too if it is visible. Returns its slot, or -errno. */
int64_t ep_arena_map(ep_arena* arena, uint64_t start, uint64_t span, uint64_t offset, uint64_t nbytes, int is_visible);

/* Protects the pages of a slot until the allocation is used again. Returns 0 or -errno. */
int ep_arena_park(ep_arena* arena, int64_t slot);
int ep_arena_unpark(ep_arena* arena, int64_t slot);

/* Protects the pages of a slot again and gives their memory back to the system. Returns 0 or -errno. */
int ep_arena_unmap(ep_arena* arena, int64_t slot);

/* Byte operations of the workers, at shadow or host addresses. A fill repeats a pattern of `length` bytes. */
void ep_sim_copy(uintptr_t dst, uintptr_t src, uint64_t nbytes);
void ep_sim_fill(uintptr_t dst, uint64_t nbytes, const char* pattern, uint64_t length);

/* How many of nbytes bytes are not `value`. */
uint64_t ep_sim_count_others(uintptr_t at, uint64_t nbytes, uint8_t value);
