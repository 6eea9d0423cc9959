/* Reports the address of a touch of a device's memory, then lets the process die as it would have.
   Everything here is async-signal-safe: no allocation, no locks, no stdio. */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"

static struct sigaction previous;

typedef struct {
    char bytes[512];
    size_t length;
} text;

static void add(text* to, const char* words) {
    while (*words && to->length < sizeof to->bytes) to->bytes[to->length++] = *words++;
}

static void add_number(text* to, uint64_t value, unsigned radix) {
    char digits[24];
    int at = sizeof digits - 1;
    digits[at] = 0;
    do digits[--at] = "0123456789abcdef"[value % radix];
    while (value /= radix);
    add(to, digits + at);
}

/* The slot around an offset, a live one rather than a freed one, else the live one that begins or ends nearest. */
static const ep_slot* slot_at(const ep_arena* arena, uint64_t offset) {
    const ep_slot *freed = NULL, *near = NULL;
    uint64_t least = UINT64_MAX;
    for (const ep_slot* slot = arena->slots; slot < arena->slots + EP_SLOTS; ++slot) {
        if (slot->state == EP_FREE) continue;
        const uint64_t end = slot->start + slot->span;
        const int inside = offset >= slot->start && offset < end;
        if (inside && slot->state == EP_LIVE) return slot;
        if (inside) freed = slot;
        if (slot->state != EP_LIVE) continue;
        const uint64_t distance = offset < slot->start ? slot->start - offset : offset - end;
        if (distance < least) {
            least = distance;
            near = slot;
        }
    }
    return freed ? freed : near;
}

static void add_place(text* to, const ep_slot* slot, uint64_t offset) {
    if (!slot) {
        add(to, " (there is no allocation)");
        return;
    }
    add(to, slot->state != EP_LIVE ? " (freed allocation of " : " (allocation of ");
    add_number(to, slot->nbytes, 10);
    if (offset < slot->offset) {
        add(to, " bytes, ");
        add_number(to, slot->offset - offset, 10);
        add(to, " bytes before it");
    } else if (offset >= slot->offset + slot->nbytes) {
        add(to, " bytes, ");
        add_number(to, offset - slot->offset - slot->nbytes, 10);
        add(to, " bytes behind its end");
    } else {
        add(to, " bytes, offset ");
        add_number(to, offset - slot->offset, 10);
    }
    add(to, ")");
}

static void report(const ep_arena* arena, uint64_t offset, int is_host) {
    text line = {.length = 0};
    const ep_slot* const slot = slot_at(arena, offset);
    const int is_visible = !is_host && slot && slot->is_visible;
    add(&line, "ep_sim: ");
    add(&line, is_host ? "the host" : is_visible ? "the host or work of the device" : "work of the device");
    add(&line, " touched memory of ");
    add(&line, arena->name);
    add(&line, " at 0x");
    add_number(&line, arena->device + offset, 16);
    add_place(&line, slot, offset);
    add(&line, "\n");
    const ssize_t ignored = write(STDERR_FILENO, line.bytes, line.length);
    (void)ignored;
}

static int report_address(uintptr_t address) {
    for (int i = 0; i < EP_ARENAS; ++i) {
        const ep_arena* const arena = ep_arenas[i];
        if (!arena) continue;
        const int is_host = address - arena->device < arena->reserve;
        if (!is_host && address - arena->shadow >= arena->reserve) continue;
        report(arena, address - (is_host ? arena->device : arena->shadow), is_host);
        return 1;
    }
    return 0;
}

static void die(int number, int is_sent) {
    signal(number, SIG_DFL);
    if (is_sent) raise(number);
}

static void on_fault(int number, siginfo_t* info, void* context) {
    static volatile sig_atomic_t is_reported;
    const int is_sent = info->si_code <= 0; /* by kill() or raise(): it does not come again by itself */
    if (is_reported) {                      /* whoever was here before us has had its turn, and hands back to us */
        die(number, is_sent);
        return;
    }
    is_reported = !is_sent && report_address((uintptr_t)info->si_addr);
    if (previous.sa_flags & SA_SIGINFO) {
        previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
        previous.sa_handler(number);
    } else {
        die(number, is_sent);
    }
}

void ep_watch_faults(void) {
    struct sigaction current;
    if (sigaction(SIGSEGV, NULL, &current)) return;
    if ((current.sa_flags & SA_SIGINFO) && current.sa_sigaction == on_fault) return;
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    ours.sa_sigaction = on_fault;
    sigemptyset(&ours.sa_mask);
    previous = current;
    sigaction(SIGSEGV, &ours, NULL);
}
