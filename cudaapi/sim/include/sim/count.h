// What a kernel in PTX reports of its threads where it is counted (package ptx/cpp writes the calls,
// runtime/count.h counts).
#pragma once

namespace gocuda {

// count_stretch: a thread comes to a stretch of code that lies in so many loops, of which one may begin with it.
GOCUDA_CALL void count_stretch(gocuda_u32 number, gocuda_u32 depth, bool loops);
// count_access: it accesses memory at a site, or comes to a branch and takes it or not. what: the site's kind, and below it the bytes.
GOCUDA_CALL void count_access(gocuda_u64 a, gocuda_u32 site, gocuda_u32 what);
GOCUDA_CALL void count_enter();
GOCUDA_CALL void count_leave();

// CountedCall is the time of a function that is no kernel.
struct CountedCall {
    GOCUDA_INLINE GOCUDA_RAW CountedCall() { count_enter(); }
    GOCUDA_INLINE GOCUDA_RAW ~CountedCall() { count_leave(); }
};

} // namespace gocuda
