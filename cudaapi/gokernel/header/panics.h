// record is where the first panic of a module is told to the host, in memory of the
// host's. state is 0, 1 while it is being written, 2.
struct record { u32 state, site, kernel, pad; i64 args[4]; u32 block[3], thread[3]; };
} // namespace go
__device__ go::record *go_panics;
namespace go {

// tell writes the record of a panic, if it is the first.
#ifdef __GOCUDA_SIM__
static __noinline__
#else
GO_FUNC
#endif
void tell(u32 kernel, u32 site, i64 a, i64 b, i64 c, i64 d) {
    record *r = go_panics;
    if (!r || atomicCAS(&r->state, 0u, 1u) != 0) return;
    r->site = site; r->kernel = kernel;
    r->args[0] = a; r->args[1] = b; r->args[2] = c; r->args[3] = d;
    r->block[0] = blockIdx.x; r->block[1] = blockIdx.y; r->block[2] = blockIdx.z;
    r->thread[0] = threadIdx.x; r->thread[1] = threadIdx.y; r->thread[2] = threadIdx.z;
    __threadfence_system();
    *(volatile u32 *)&r->state = 2;
    __threadfence_system();
}
// thread is what a kernel's functions know of the thread that runs them. On a GPU a
// panic is told when the thread ends, in one place: a call, or the telling itself, at
// every check would cost those that hold registers and instructions.
struct thread {
    bool dead;
    u32 kernel;
#ifndef __GOCUDA_SIM__
    u32 site;
    i64 a, b, c, d;
#endif
};
// panic ends the thread: those who call it return.
GO_FUNC void panic(thread &go, u32 site, i64 a = 0, i64 b = 0, i64 c = 0, i64 d = 0) {
    go.dead = true;
#ifdef __GOCUDA_SIM__
    tell(go.kernel, site, a, b, c, d);
#else
    go.site = site; go.a = a; go.b = b; go.c = c; go.d = d;
#endif
}
GO_FUNC void finish(thread &go) {
#ifndef __GOCUDA_SIM__
    if (GO_RARELY(go.dead)) tell(go.kernel, go.site, go.a, go.b, go.c, go.d);
#endif
}
