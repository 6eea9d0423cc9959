// Libraries: programs of no context. Their kernels, which stand where functions do, run in the context of their stream.

#pragma once

#include "driver/module.h"

// While it lives, the context of the stream is current, if `handle` is a library's kernel and the stream no default
// one.
class InContextOf {
   public:
    InContextOf(const void* handle, Stream* stream);
    ~InContextOf();
    InContextOf(const InContextOf&) = delete;

   private:
    bool is_put_ = false;
};

// Puts a kernel's function in a context into the place of its handle; leaves other functions. The driver's code.
int function_of(Function*& handle, Context* context);
