/* The workers' operations on bytes; cffi lets Python's other threads run meanwhile. */
#include <stdint.h>
#include <string.h>

#include "interface.h"

void ep_sim_copy(uintptr_t dst, uintptr_t src, uint64_t nbytes) {
    memmove((void*)dst, (const void*)src, nbytes);
}

void ep_sim_fill(uintptr_t dst, uint64_t nbytes, const char* pattern, uint64_t length) {
    char* const at = (char*)dst;
    if (length == 1) {
        memset(at, pattern[0], nbytes);
        return;
    }
    uint64_t done = nbytes < length ? nbytes : length;
    memcpy(at, pattern, done);
    while (done < nbytes) {
        const uint64_t more = done < nbytes - done ? done : nbytes - done;
        memcpy(at + done, at, more);
        done += more;
    }
}

uint64_t ep_sim_count_others(uintptr_t at, uint64_t nbytes, uint8_t value) {
    const uint8_t* const bytes = (const uint8_t*)at;
    uint64_t count = 0;
    for (uint64_t i = 0; i < nbytes; ++i) count += bytes[i] != value;
    return count;
}
