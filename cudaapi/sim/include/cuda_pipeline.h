// Copies to shared memory that need not wait: here they are done at once.
#pragma once

static GOCUDA_INLINE void __pipeline_memcpy_async(void *dst, const void *src, size_t n, size_t zeros = 0) {
    for (size_t i = 0; i < n; i += 4) ((unsigned *)dst)[i / 4] = i + 4 <= n - zeros ? ((const unsigned *)src)[i / 4] : 0;
}
static GOCUDA_INLINE void __pipeline_commit() {}
static GOCUDA_INLINE void __pipeline_wait_prior(size_t) {}
