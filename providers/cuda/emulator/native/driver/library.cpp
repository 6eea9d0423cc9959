#include "driver/library.h"

#include <unordered_set>

#include "driver/stream.h"

namespace {

struct Library;

struct Kernel {
    Library* library;
    std::string name;
};

struct Library {
    ProgramFacts facts;
    std::mutex turn;
    std::map<Context*, Module*> modules;  // made in a context when it is first needed there
    std::map<std::string, Kernel> kernels;

    int in(Context* context, Module** module) {
        std::lock_guard guard(turn);
        Module*& made = modules[context];
        if (!made)
            if (int code = make_module(context, facts, &made)) return code;
        *module = made;
        return SUCCESS;
    }
};

std::mutex turn;
std::unordered_set<const void*> kernels;  // all that live

bool is_kernel(const void* handle) {
    std::lock_guard guard(turn);
    return kernels.count(handle) > 0;
}

Context* context_of(Stream* stream) {
    for (int device = 0; device < device_count(); ++device) {
        Context* context = primary(device);
        std::lock_guard guard(context->turn);
        if (context->streams.count(stream)) return context;
    }
    return nullptr;
}

}  // namespace

InContextOf::InContextOf(const void* handle, Stream* stream) {
    if (is_default(stream) || !is_kernel(handle)) return;
    Context* context = context_of(stream);
    is_put_ = context != nullptr;
    if (is_put_) stack.push_back(context);
}

InContextOf::~InContextOf() {
    if (is_put_) stack.pop_back();
}

int function_of(Function*& handle, Context* context) {
    if (!is_kernel(handle)) return SUCCESS;
    auto* kernel = reinterpret_cast<Kernel*>(handle);
    Module* module = nullptr;
    if (int code = kernel->library->in(context, &module)) return code;
    handle = module->functions.at(kernel->name).get();
    return SUCCESS;
}

extern "C" {

int cuLibraryLoadData(Library** result, const void* image, int*, void**, unsigned, int*, void**, unsigned) {
    if (!result) return INVALID_VALUE;
    auto library = std::make_unique<Library>();
    std::string why;
    int code = read_program(image, library->facts, why);
    if (!why.empty()) say("emulated CUDA: a program cannot be loaded: " + why);
    if (code) return code;
    for (auto& each : library->facts.entries) {
        auto& kernel = library->kernels[each.name] = {library.get(), each.name};
        std::lock_guard guard(turn);
        kernels.insert(&kernel);
    }
    *result = library.release();
    return SUCCESS;
}
int cuLibraryUnload(Library* library) {
    if (!library) return INVALID_HANDLE;
    {
        std::lock_guard guard(turn);
        for (auto& [name, kernel] : library->kernels) kernels.erase(&kernel);
    }
    for (auto& [context, module] : library->modules)
        if (module) drop_module(module);
    forget_program(library->facts.handle);
    delete library;
    return SUCCESS;
}
int cuLibraryGetModule(Module** module, Library* library) {
    CURRENT(context);
    if (!module || !library) return INVALID_VALUE;
    return library->in(context, module);
}
int cuLibraryGetKernel(Kernel** kernel, Library* library, const char* name) {
    if (!kernel || !library || !name) return INVALID_VALUE;
    auto found = library->kernels.find(name);
    if (found == library->kernels.end()) return NOT_FOUND;
    *kernel = &found->second;
    return SUCCESS;
}
int cuKernelGetFunction(Function** function, Kernel* kernel) {
    CURRENT(context);
    if (!function || !is_kernel(kernel)) return INVALID_VALUE;
    *function = reinterpret_cast<Function*>(kernel);
    return function_of(*function, context);
}
}
