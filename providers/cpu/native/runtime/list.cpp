// Command lists.
#include <cerrno>
#include <memory>
#include <new>

#include "native.h"

namespace {

int64_t run(const ep_list& list, const char* arena) {
    for (int64_t i = 0; i < list.count; ++i) {
        const ep_command& command = list.commands[i];
        const int status = command.entry(arena + command.at);
        if (status != 0) return i * (int64_t{1} << 32) + status;
    }
    return 0;
}

}  // namespace

extern "C" int64_t ep_run(const ep_list* list, const intptr_t* slots) {
    if (slots == nullptr) return run(*list, list->arena);
    const std::unique_ptr<char[]> arena(new (std::nothrow) char[static_cast<size_t>(list->nbytes)]);
    if (arena == nullptr) return -(int64_t{1} << 32) + ENOMEM;
    std::memcpy(arena.get(), list->arena, static_cast<size_t>(list->nbytes));
    for (int64_t i = 0; i < list->patch_count; ++i) {
        const ep_patch& patch = list->patches[i];
        if (slots[patch.slot] == 0) continue;
        const intptr_t address = slots[patch.slot] + patch.offset;
        std::memcpy(arena.get() + patch.at, &address, sizeof address);
    }
    return run(*list, arena.get());
}
