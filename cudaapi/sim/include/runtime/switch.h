// How a worker goes from one stack to another.
#pragma once

namespace gocuda {

// GOCUDA_SITES: a register is kept for the sites of check.h. It belongs to the
// worker, not to the thread.
#ifdef GOCUDA_SITES
#define GOCUDA_PUSH_SITES ""
#define GOCUDA_POP_SITES ""
#define GOCUDA_SAVED 5
#else
#define GOCUDA_PUSH_SITES "pushq %r15"
#define GOCUDA_POP_SITES "popq %r15"
#define GOCUDA_SAVED 6
#endif

// gocuda_switch saves the caller's registers and stack pointer and goes on
// where another stack was left.
extern "C" void gocuda_switch(void **save, void *to) __attribute__((visibility("hidden")));
#if defined(__x86_64__)
asm(R"(
.text
.globl gocuda_switch
.hidden gocuda_switch
.type gocuda_switch, @function
gocuda_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    )" GOCUDA_PUSH_SITES R"(
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    )" GOCUDA_POP_SITES R"(
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size gocuda_switch, .-gocuda_switch
)");
#else
asm(R"(
.text
.globl gocuda_switch
.hidden gocuda_switch
.type gocuda_switch, %function
gocuda_switch:
    sub sp, sp, #160
    stp x19, x20, [sp]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size gocuda_switch, .-gocuda_switch
)");
#endif

} // namespace gocuda
