// What compiled kernels ask of the machine: addresses that the fast path does not know, waiting, and text.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "machine/block.h"
#include "machine/exports.h"
#include "machine/heap.h"
#include "machine/machine.h"

namespace {

constexpr int ILLEGAL_ADDRESS = 700, ASSERT = 710, ILLEGAL_INSTRUCTION = 715, MISALIGNED_ADDRESS = 716,
              LAUNCH_FAILED = 719;

std::string hex(Address place) {
    char text[32];
    std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(place));
    return text;
}

// Where an address lies that no allocation holds: behind one, in one that is freed, or nowhere.
std::string explained(Address place, std::uint32_t size) {
    if (!is_device_address(place))
        return place < PARAM_WINDOW + PARAM_MOST ? ", which is no address"
                                                 : ", which is memory of the host that the driver does not know";
    bool is_freed = false;
    auto found = Heap::get().before(place, &is_freed);
    if (!found.size) return ", where nothing was ever allocated";
    std::string whose = "the allocation of " + std::to_string(found.size) + " bytes at " + hex(found.start);
    if (is_freed && place < found.start + found.size) return ", in " + whose + ", which was freed";
    Address end = found.start + found.size;
    if (place >= end) return ", " + std::to_string(place - end) + " bytes behind " + whose;
    return ", of which the last " + std::to_string(place + size - end) + " are behind " + whose;
}

}  // namespace

extern "C" {

// An address that is not simply allocated: shared memory and parameters by generic addresses, the host's memory,
// stacks, or a fault.
char* ep_slow(Block* block, Thread* thread, std::uint32_t tx, std::uint32_t ty, std::uint32_t tz, Address place,
              std::uint32_t size, std::uint32_t access, int line) {
    const std::uint32_t tid[3] = {tx, ty, tz};
    if (place - SHARED_WINDOW < SHARED_MOST && thread)
        return block->machine->shared(block, thread, place - SHARED_WINDOW, size, access, line);
    if (place - PARAM_WINDOW < PARAM_MOST && place - PARAM_WINDOW + size <= block->launch->parameters.size() &&
        access == READ)
        return block->parameters + (place - PARAM_WINDOW);
    if (!is_device_address(place) && (Heap::get().is_host(place, size) || block->machine->is_stack(place)))
        return reinterpret_cast<char*>(place);
    if (place & (size - 1))
        fault(block, tid, line, MISALIGNED_ADDRESS,
              "an access of " + std::to_string(size) + " bytes at " + hex(place) + ", which is no multiple");
    fault(block, tid, line, ILLEGAL_ADDRESS,
          std::string(access == READ || access == OPEN_READ ? "reads " : "writes ") + std::to_string(size) +
              " bytes at " + hex(place) + explained(place, size));
}
EXPORT(ep_slow);

// The bytes of the first access of a row of threads, if the accesses of all of them, `steps` strides beyond it, lie in
// one allocation and are aligned; else nothing.
char* ep_row(Address first, Address last, std::int64_t stride, std::uint32_t steps, std::uint32_t size) {
    if (last - first != static_cast<Address>(stride * steps) || (first & (size - 1))) return nullptr;
    Address start = std::min(first, last);
    return Heap::is_allocated(start, std::max(first, last) - start + size) ? bytes_at(first) : nullptr;
}
EXPORT(ep_row);

void ep_track(Block* block, Thread*, std::uint32_t tx, std::uint32_t ty, std::uint32_t tz, Address place,
              std::uint32_t size, std::uint32_t access, int line) {
    auto* written = reinterpret_cast<char*>(WRITTEN + (place - BASE));
    if (access == WRITE || access == OPEN_WRITE) {
        std::memset(written, 1, size);
        return;
    }
    if (std::memchr(written, 0, size)) {
        const std::uint32_t tid[3] = {tx, ty, tz};
        fault(block, tid, line, ILLEGAL_ADDRESS,
              "reads " + std::to_string(size) + " bytes at " + hex(place) + ", which nothing has written");
    }
}
EXPORT(ep_track);

// cp.async of fewer bytes than its size: the rest of the target becomes zero, and only what is copied is read.
void ep_copy_part(Block* block, Thread* thread, std::uint32_t tx, std::uint32_t ty, std::uint32_t tz, char* target,
                  Address source, std::uint32_t size, std::uint32_t count, int line) {
    const std::uint32_t tid[3] = {tx, ty, tz};
    if (count > size)
        fault(block, tid, line, LAUNCH_FAILED,
              "cp.async of " + std::to_string(size) + " bytes is asked for " + std::to_string(count));
    std::memset(target, 0, size);
    if (!count) return;
    if (source & (size - 1))
        fault(block, tid, line, MISALIGNED_ADDRESS,
              "a copy of " + std::to_string(size) + " bytes at " + hex(source) + ", which is no multiple");
    for (std::uint32_t byte = 0; byte < count; ++byte) {
        bool is_simple = Heap::is_allocated(source + byte, 1);
        if (is_simple && Heap::tracks_writes()) ep_track(block, thread, tx, ty, tz, source + byte, 1, READ, line);
        target[byte] =
            *(is_simple ? bytes_at(source + byte) : ep_slow(block, thread, tx, ty, tz, source + byte, 1, READ, line));
    }
}
EXPORT(ep_copy_part);

char* ep_shared(Block* block, Thread* thread, Address place, std::uint32_t size, std::uint32_t access, int line) {
    return block->machine->shared(block, thread, place, size, access, line);
}
EXPORT(ep_shared);

int ep_barrier(Thread* thread, std::uint32_t number, std::uint32_t count, int verb, int flag, int is_aligned,
               int line) {
    thread->line = line;
    return thread->block->machine->barrier(*thread, number, count, verb, flag, is_aligned);
}
EXPORT(ep_barrier);

std::uint64_t ep_exchange(Thread* thread, std::uint32_t verb, std::uint32_t mask, std::uint64_t value,
                          std::uint64_t extra, int line) {
    thread->verb = verb;
    thread->mask = mask;
    thread->value = value;
    thread->extra = extra;
    thread->line = line;
    thread->block->machine->exchange(*thread);
    return thread->result;
}
EXPORT(ep_exchange);

// Another thread may go on: what this one waits for may be the other's to do.
void ep_yield(Thread* thread, int line) {
    if (thread) thread->block->machine->wait(*thread, State::READY, line);
}
EXPORT(ep_yield);

std::uint32_t ep_active(Thread* thread) {
    return 1u << thread->lane();
}
EXPORT(ep_active);

std::uint64_t ep_nanoseconds() {
    auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
EXPORT(ep_nanoseconds);

int ep_is_space(Block* block, Thread*, Address place, int space) {
    enum { GLOBAL, CONST, SHARED, LOCAL, PARAM };
    bool is_shared = place - SHARED_WINDOW < SHARED_MOST, is_parameter = place - PARAM_WINDOW < PARAM_MOST;
    bool is_local = block->machine->is_stack(place);
    switch (space) {
        case SHARED:
            return is_shared;
        case LOCAL:
            return is_local;
        case PARAM:
            return is_parameter;
        case CONST:
            return false;
        default:
            return !is_shared && !is_parameter && !is_local;
    }
}
EXPORT(ep_is_space);

void ep_trap(Block* block, Thread*, std::uint32_t tx, std::uint32_t ty, std::uint32_t tz, int line) {
    const std::uint32_t tid[3] = {tx, ty, tz};
    fault(block, tid, line, ILLEGAL_INSTRUCTION, "trap");
}
EXPORT(ep_trap);

// A text, or what else may lie anywhere, by its generic address.
static char* ep_slow_or_fast(Block* block, Thread* thread, std::uint32_t tx, std::uint32_t ty, std::uint32_t tz,
                             Address place, int line) {
    if (Heap::get().holds(place, 1)) return bytes_at(place);
    return ep_slow(block, thread, tx, ty, tz, place, 1, READ, line);
}

// printf: its arguments stand behind each other as C passes them to a function without a prototype.
void ep_print(Block* block, Thread* thread, std::uint32_t tx, std::uint32_t ty, std::uint32_t tz, int* result,
              Address* format_place, Address* values_place, int line) {
    auto text_at = [&](Address place) { return ep_slow_or_fast(block, thread, tx, ty, tz, place, line); };
    std::string text;
    const char* format = text_at(*format_place);
    const char* values = *values_place ? text_at(*values_place) : nullptr;
    std::size_t at = 0;
    *result = 0;
    while (*format) {
        if (*format != '%' || format[1] == '%') {
            text += *format;
            format += *format == '%' ? 2 : 1;
            continue;
        }
        std::string spec = "%";
        ++format;
        while (*format && !std::strchr("diouxXcsfFeEgGaAp", *format)) spec += *format++;
        if (!*format) break;
        char kind = *format++;
        bool is_wide = spec.find('l') != std::string::npos || std::strchr("sfFeEgGaAp", kind);
        std::size_t size = is_wide ? 8 : 4;
        at = (at + size - 1) / size * size;
        std::uint64_t bits = 0;
        std::memcpy(&bits, values + at, size);
        at += size;
        char buffer[512];
        spec += kind;
        if (std::strchr("fFeEgGaA", kind)) {
            double value;
            std::memcpy(&value, &bits, 8);
            std::snprintf(buffer, sizeof buffer, spec.c_str(), value);
        } else if (kind == 's') {
            std::snprintf(buffer, sizeof buffer, spec.c_str(), text_at(bits));
        } else if (is_wide) {
            std::snprintf(buffer, sizeof buffer, spec.c_str(), bits);
        } else {
            std::snprintf(buffer, sizeof buffer, spec.c_str(), static_cast<std::uint32_t>(bits));
        }
        text += buffer;
        ++*result;
    }
    static std::mutex turn;
    std::lock_guard guard(turn);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}
EXPORT(ep_print);

// assert: the message, the file, its line, the function, and the size of a character.
void ep_assert(Block* block, Thread* thread, std::uint32_t tx, std::uint32_t ty, std::uint32_t tz, Address* message,
               Address* file, std::uint32_t* row, Address* function, Address*, int line) {
    const std::uint32_t tid[3] = {tx, ty, tz};
    auto text_at = [&](Address place) { return std::string(ep_slow_or_fast(block, thread, tx, ty, tz, place, line)); };
    fault(block, tid, line, ASSERT,
          "assertion `" + text_at(*message) + "` of " + text_at(*function) + " failed, " + text_at(*file) + ":" +
              std::to_string(*row));
}
EXPORT(ep_assert);
}
