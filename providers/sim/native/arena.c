/* Memory of a simulated device: one file mapped twice; the host is given addresses in the view that must not be
 * touched. */
#define _GNU_SOURCE
#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

ep_arena* volatile ep_arenas[EP_ARENAS];

uint64_t ep_page_size(void) {
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

static void* view_of(int file, uint64_t reserve) {
    return mmap(NULL, reserve, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
}

static int publish(ep_arena* arena) {
    for (int i = 0; i < EP_ARENAS; ++i) {
        if (ep_arenas[i] == NULL) {
            ep_arenas[i] = arena;
            return 1;
        }
    }
    errno = EMFILE;
    return 0;
}

static int map_views(ep_arena* arena) {
    arena->file = memfd_create(arena->name, MFD_CLOEXEC);
    if (arena->file < 0 || ftruncate(arena->file, (off_t)arena->reserve)) return 0;
    void* device = view_of(arena->file, arena->reserve);
    void* shadow = view_of(arena->file, arena->reserve);
    arena->device = device == MAP_FAILED ? 0 : (uintptr_t)device;
    arena->shadow = shadow == MAP_FAILED ? 0 : (uintptr_t)shadow;
    /* A forked child has no workers, and must not share bytes with its parent's. */
    return arena->device && arena->shadow && !madvise(shadow, arena->reserve, MADV_DONTFORK) && publish(arena);
}

ep_arena* ep_arena_open(const char* name, uint64_t reserve) {
    ep_arena* arena = calloc(1, sizeof *arena);
    if (!arena) return NULL;
    arena->file = -1;
    arena->reserve = reserve;
    strncpy(arena->name, name, EP_NAME - 1);
    arena->slots = calloc(EP_SLOTS, sizeof *arena->slots);
    if (!arena->slots || !map_views(arena)) {
        const int reason = errno;
        ep_arena_close(arena);
        errno = reason;
        return NULL;
    }
    ep_watch_faults();
    return arena;
}

void ep_arena_close(ep_arena* arena) {
    for (int i = 0; i < EP_ARENAS; ++i) {
        if (ep_arenas[i] == arena) ep_arenas[i] = NULL;
    }
    if (arena->device) munmap((void*)arena->device, arena->reserve);
    if (arena->shadow) munmap((void*)arena->shadow, arena->reserve);
    if (arena->file >= 0) close(arena->file);
    free(arena->slots);
    free(arena);
}

uintptr_t ep_arena_device(const ep_arena* arena) {
    return arena->device;
}

uintptr_t ep_arena_shadow(const ep_arena* arena) {
    return arena->shadow;
}

static int64_t free_slot(ep_arena* arena) {
    for (int64_t tried = 0; tried < EP_SLOTS; ++tried) {
        const int64_t slot = arena->next;
        arena->next = (arena->next + 1) % EP_SLOTS;
        const enum ep_state state = arena->slots[slot].state;
        if (state == EP_FREE || state == EP_FREED) return slot;
    }
    return -ENOMEM;
}

int64_t ep_arena_map(ep_arena* arena, uint64_t start, uint64_t span, uint64_t offset, uint64_t nbytes, int is_visible) {
    ep_watch_faults();
    const int64_t slot = free_slot(arena);
    if (slot < 0) return slot;
    if (mprotect((void*)(arena->shadow + start), span, PROT_READ | PROT_WRITE)) return -errno;
    arena->slots[slot] = (ep_slot){start, span, offset, nbytes, EP_LIVE, is_visible};
    return slot;
}

static int protect(ep_arena* arena, int64_t slot, enum ep_state state) {
    ep_slot* const at = arena->slots + slot;
    at->state = state;
    const int access = state == EP_LIVE ? PROT_READ | PROT_WRITE : PROT_NONE;
    return mprotect((void*)(arena->shadow + at->start), at->span, access) ? -errno : 0;
}

int ep_arena_park(ep_arena* arena, int64_t slot) {
    return protect(arena, slot, EP_PARKED);
}

int ep_arena_unpark(ep_arena* arena, int64_t slot) {
    return protect(arena, slot, EP_LIVE);
}

int ep_arena_unmap(ep_arena* arena, int64_t slot) {
    const ep_slot* const freed = arena->slots + slot;
    const int status = protect(arena, slot, EP_FREED);
    if (status) return status;
    const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    return fallocate(arena->file, mode, (off_t)freed->start, (off_t)freed->span) ? -errno : 0;
}
