// Changes of stacks: a kernel, or each of its threads, runs on a stack of its own, and is left in the middle.

#pragma once

// Keeps the caller's registers on its stack, whose end goes to `from`, and goes on where `to` was left.
extern "C" void ep_switch(void** from, void* to);

#if defined(__x86_64__)
asm(R"(
.text
.p2align 4
.type ep_switch, @function
ep_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size ep_switch, .-ep_switch
)");
constexpr int KEPT_REGISTERS = 6;
#else
#error "the emulated CUDA driver runs on x86-64"
#endif
