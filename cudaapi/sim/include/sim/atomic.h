// Atomic operations. All are system-wide: the CPU knows no narrower kind.
#pragma once

namespace gocuda {

template <class T, class F> static GOCUDA_INLINE T update(T *p, F f) {
    T old;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    for (;;) {
        T next = f(old);
        if (__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) return old;
    }
}

template <class T> struct Same { typedef T type; };
template <class T> using same = typename Same<T>::type;

} // namespace gocuda

#define GOCUDA_ATOMIC_SCOPES(T, name, params, args)                                       \
    static GOCUDA_INLINE T name##_block params { return name args; }                     \
    static GOCUDA_INLINE T name##_system params { return name args; }

// expr gives the old value, o; changes says whether the new one is another.
#define GOCUDA_ATOMIC_INT(T, name, expr, changes)                                                            \
    static GOCUDA_INLINE T name(T *p, T v) {                                                                 \
        gocuda::Atomic section;                                                                              \
        T o = expr;                                                                                          \
        gocuda::changed(changes);                                                                            \
        return o;                                                                                            \
    }                                                                                                        \
    GOCUDA_ATOMIC_SCOPES(T, name, (T *p, T v), (p, v))

#define GOCUDA_ATOMIC_SIZES(M)                                                                               \
    M(int)                                                                                                   \
    M(unsigned int)                                                                                          \
    M(unsigned long long)

#define GOCUDA_ATOMIC_ARITH(T)                                                                               \
    GOCUDA_ATOMIC_INT(T, atomicAdd, __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST), v != 0)                      \
    GOCUDA_ATOMIC_INT(T, atomicExch, __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST), o != v)                    \
    GOCUDA_ATOMIC_INT(T, atomicAnd, __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST), (o & v) != o)                \
    GOCUDA_ATOMIC_INT(T, atomicOr, __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST), (o | v) != o)                  \
    GOCUDA_ATOMIC_INT(T, atomicXor, __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST), v != 0)
GOCUDA_ATOMIC_SIZES(GOCUDA_ATOMIC_ARITH)

#define GOCUDA_ATOMIC_MINMAX(T)                                                                              \
    GOCUDA_ATOMIC_INT(T, atomicMin, gocuda::update(p, [=](T o) { return o < v ? o : v; }), v < o)            \
    GOCUDA_ATOMIC_INT(T, atomicMax, gocuda::update(p, [=](T o) { return o > v ? o : v; }), v > o)
GOCUDA_ATOMIC_SIZES(GOCUDA_ATOMIC_MINMAX)
GOCUDA_ATOMIC_MINMAX(long long)

GOCUDA_ATOMIC_INT(int, atomicSub, __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST), v != 0)
GOCUDA_ATOMIC_INT(unsigned int, atomicSub, __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST), v != 0)
GOCUDA_ATOMIC_INT(unsigned int, atomicInc, gocuda::update(p, [=](unsigned o) { return o >= v ? 0u : o + 1; }), true)
GOCUDA_ATOMIC_INT(unsigned int, atomicDec, gocuda::update(p, [=](unsigned o) { return o == 0 || o > v ? v : o - 1; }), true)
GOCUDA_ATOMIC_INT(float, atomicAdd, gocuda::update(p, [=](float o) { return o + v; }), v != 0)
GOCUDA_ATOMIC_INT(double, atomicAdd, gocuda::update(p, [=](double o) { return o + v; }), v != 0)
GOCUDA_ATOMIC_INT(float, atomicExch, gocuda::update(p, [=](float) { return v; }), o != v)

#define GOCUDA_ATOMIC_CAS(T)                                                                                 \
    static GOCUDA_INLINE T atomicCAS(T *p, T expect, T v) {                                                  \
        gocuda::Atomic section;                                                                              \
        if (__atomic_compare_exchange_n(p, &expect, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))           \
            gocuda::changed(v != expect);                                                                    \
        else                                                                                                 \
            gocuda::pause(); /* the caller may spin until another thread has had its turn */                 \
        return expect;                                                                                       \
    }                                                                                                        \
    GOCUDA_ATOMIC_SCOPES(T, atomicCAS, (T *p, T expect, T v), (p, expect, v))
GOCUDA_ATOMIC_SIZES(GOCUDA_ATOMIC_CAS)
GOCUDA_ATOMIC_CAS(unsigned short)

// Of vectors each number is added by itself.
#define GOCUDA_ATOMIC_VECTOR(T, ...)                                                                         \
    static GOCUDA_INLINE T atomicAdd(T *p, T v) { return T{__VA_ARGS__}; }                                   \
    GOCUDA_ATOMIC_SCOPES(T, atomicAdd, (T *p, T v), (p, v))
GOCUDA_ATOMIC_VECTOR(float2, atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y))
GOCUDA_ATOMIC_VECTOR(float4, atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w))
