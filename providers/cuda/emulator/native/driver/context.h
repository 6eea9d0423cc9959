// Contexts, and the stack of them that each thread has.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "driver/codes.h"
#include "machine/layout.h"

class Stream;

struct Context {
    int device = 0;
    bool is_primary = false;
    std::atomic<int> broken{0};  // the first fault of a kernel; it stays
    std::mutex turn;
    std::set<Stream*> streams;   // all that live
    std::set<Stream*> blocking;  // those that take turns with the default stream
    Stream* legacy = nullptr;    // the default stream
    std::set<int> peers;         // devices whose memory kernels may use
    unsigned flags = 0;
};

inline thread_local std::vector<Context*> stack;

int device_count();
Context* primary(int device);

// The current context; `code` says why there is none, or what broke it.
Context* current(int* code);

// At the beginning of a function that needs a context.
#define CURRENT(context)                                           \
    int code_of_context = SUCCESS;                                 \
    [[maybe_unused]] Context* context = current(&code_of_context); \
    if (code_of_context) return code_of_context
