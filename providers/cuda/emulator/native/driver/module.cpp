#include "driver/module.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "driver/graph.h"
#include "machine/exports.h"
#include "machine/heap.h"
#include "machine/machine.h"

namespace {

constexpr std::uint64_t HOT = std::uint64_t{1} << 20;  // threads after which better code pays

// The bytes of a program's text; code of a real device is none that can be run here.
int text_of(const void* image, std::string& text) {
    const char* bytes = static_cast<const char*>(image);
    constexpr unsigned char FATBIN[] = {0x50, 0xed, 0x55, 0xba};
    if (!std::memcmp(bytes, "\177ELF", 4) || !std::memcmp(bytes, FATBIN, 4)) return NO_BINARY_FOR_GPU;
    text = bytes;
    return text.find(".version") == std::string::npos ? INVALID_IMAGE : SUCCESS;
}

int load(Module** result, const void* image, std::string& why) {
    CURRENT(context);
    if (!result) return INVALID_VALUE;
    ProgramFacts facts;
    if (int code = read_program(image, facts, why)) return code;
    return make_module(context, facts, result);
}

}  // namespace

int read_program(const void* image, ProgramFacts& facts, std::string& why) {
    if (!image) return INVALID_VALUE;
    std::string text;
    if (int code = text_of(image, text)) return code;
    return load_program(text, facts, why);
}

int make_module(Context* context, const ProgramFacts& facts, Module** result) {
    auto module = std::make_unique<Module>();
    module->context = context;
    module->program = facts.handle;
    for (auto& each : facts.entries) {
        auto function = std::make_unique<Function>();
        function->module = module.get();
        function->facts = each;
        module->functions[each.name] = std::move(function);
    }
    for (auto& each : facts.variables) {
        Address place = Heap::get().allocate(std::max<std::size_t>(each.size, 1), Kind::VARIABLE, context->device);
        if (!place) return OUT_OF_MEMORY;
        std::memset(bytes_at(place), 0, each.size);
        std::memcpy(bytes_at(place), each.initial.data(), std::min(each.initial.size(), each.size));
        Heap::mark_written(place, each.size);
        module->variables[each.name] = {place, each.size};
    }
    *result = module.release();
    return SUCCESS;
}

void drop_module(Module* module) {
    wait_for_all(module->context);
    for (auto& [name, place] : module->variables) Heap::get().free(place.first);
    delete module;
}

int Function::prepare(std::uint64_t threads) {
    std::lock_guard guard(turn);
    threads_run += threads;
    bool wants_hot = threads_run > HOT && !is_hot;
    if (code && !wants_hot) return SUCCESS;
    Built built;
    std::string why;
    is_hot = is_hot || wants_hot;
    if (int failure = build_entry(module->program, facts.name, is_hot, built, why)) {
        say("emulated CUDA: kernel " + facts.name + ": " + why);
        return failure;
    }
    auto made = std::make_shared<Object>(built.object, [this](const std::string& name) -> std::uint64_t {
        auto variable = module->variables.find(name);
        if (variable != module->variables.end()) return variable->second.first;
        auto found = exports().find(name);
        return found == exports().end() ? 0 : reinterpret_cast<std::uint64_t>(found->second);
    });
    void* entry = made->symbol("ep_run");
    if (!entry) {
        say("emulated CUDA: kernel " + facts.name + ": its code cannot be loaded: " + made->error);
        return UNKNOWN;
    }
    object = made;
    code = entry;
    is_cooperative = built.is_cooperative;
    shared = built.shared;
    return SUCCESS;
}

extern "C" {

int cuModuleLoadData(Module** module, const void* image) {
    std::string why;
    int code = load(module, image, why);
    if (!why.empty()) say("emulated CUDA: a program cannot be loaded: " + why);
    return code;
}
int cuModuleLoadDataEx(Module** module, const void* image, unsigned count, int* options, void** values) {
    enum { INFO_LOG = 3, INFO_SIZE = 4, ERROR_LOG = 5, ERROR_SIZE = 6 };
    std::string why;
    int code = load(module, image, why);
    char* log = nullptr;
    std::size_t size = 0;
    for (unsigned number = 0; number < count; ++number) {
        if (options[number] == ERROR_LOG) log = static_cast<char*>(values[number]);
        if (options[number] == ERROR_SIZE) {
            size = reinterpret_cast<std::uintptr_t>(values[number]);
            values[number] = reinterpret_cast<void*>(std::min(size, why.size()));
        }
        if (options[number] == INFO_SIZE) values[number] = nullptr;
    }
    if (log && size) {
        std::strncpy(log, why.c_str(), size - 1);
        log[size - 1] = 0;
    } else if (!why.empty()) {
        say("emulated CUDA: a program cannot be loaded: " + why);
    }
    return code;
}
int cuModuleLoad(Module** module, const char* path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return FILE_NOT_FOUND;
    std::string image{std::istreambuf_iterator<char>(file), {}};
    return cuModuleLoadData(module, image.c_str());
}
int cuModuleLoadFatBinary(Module**, const void*) {
    return NO_BINARY_FOR_GPU;
}
int cuModuleUnload(Module* module) {
    CURRENT(context);
    if (!module) return INVALID_HANDLE;
    int program = module->program;
    drop_module(module);
    forget_program(program);
    return SUCCESS;
}
int cuModuleGetFunction(Function** function, Module* module, const char* name) {
    CURRENT(context);
    if (!module || !name) return INVALID_VALUE;
    auto found = module->functions.find(name);
    if (found == module->functions.end()) return NOT_FOUND;
    *function = found->second.get();
    return SUCCESS;
}
int cuModuleGetGlobal_v2(Address* place, std::size_t* size, Module* module, const char* name) {
    CURRENT(context);
    if (!module || !name) return INVALID_VALUE;
    auto found = module->variables.find(name);
    if (found == module->variables.end()) return NOT_FOUND;
    if (place) *place = found->second.first;
    if (size) *size = found->second.second;
    return SUCCESS;
}
int cuFuncGetAttribute(int* value, int attribute, Function* function) {
    enum { MOST, SHARED, CONST, LOCAL, REGISTERS, PTX, BINARY, CACHE, DYNAMIC, CARVEOUT };
    if (!function || !value) return INVALID_VALUE;
    if (attribute == SHARED)
        if (int code = function->prepare(0)) return code;
    switch (attribute) {
        case MOST:
            *value = static_cast<int>(function->facts.most_threads ? function->facts.most_threads : MOST_THREADS);
            break;
        case SHARED:
            *value = static_cast<int>(function->shared);
            break;
        case REGISTERS:
            *value = 32;
            break;
        case PTX:
        case BINARY:
            *value = 90;
            break;
        case DYNAMIC:
            *value = std::max(function->dynamic_most, static_cast<int>(SHARED_BY_DEFAULT - function->shared));
            break;
        case CARVEOUT:
            *value = -1;
            break;
        default:
            *value = 0;
    }
    return SUCCESS;
}
int cuFuncSetAttribute(Function* function, int attribute, int value) {
    constexpr int DYNAMIC = 8;
    if (!function) return INVALID_HANDLE;
    if (attribute == DYNAMIC) {
        if (value < 0 || static_cast<std::size_t>(value) + function->shared > SHARED_MOST) return INVALID_VALUE;
        function->dynamic_most = value;
    }
    return SUCCESS;
}
int cuFuncSetCacheConfig(Function*, int) {
    return SUCCESS;
}
int cuFuncSetSharedMemConfig(Function*, int) {
    return SUCCESS;
}
int cuFuncGetModule(Module** module, Function* function) {
    if (!function) return INVALID_HANDLE;
    *module = function->module;
    return SUCCESS;
}
}
