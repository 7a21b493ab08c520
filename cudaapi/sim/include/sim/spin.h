// Loops that wait for what another thread writes. Conditions of loops that may
// be such pass through again or spin (spins.go), so that others get a turn:
// threads of the block first, then other blocks, the host and other devices.
#pragma once

namespace gocuda {

#define GOCUDA_SPINS 32u // turns of a loop between two pauses

// changed notes what an atomic operation did to memory: a thread that changes
// something does not merely wait.
static GOCUDA_INLINE GOCUDA_RAW void changed(bool something) {
    if (something) store(self()->turns, 0);
}

static GOCUDA_INLINE GOCUDA_RAW bool loop(bool on, bool looks) {
    Thread *t = self();
    gocuda_u32 n = load(t->turns);
    if (on) {
        store(t->turns, n + 1);
        if (looks && n == 0)
            for (int k = 0; k < 6; k++) t->before[k] = t->accessed[k];
        if (n % GOCUDA_SPINS == GOCUDA_SPINS - 1) linger(looks);
    } else {
        if (n >= GOCUDA_SPINS) arrived();
        store(t->turns, 0);
    }
    return on;
}

// again is the condition of a loop that has something in it, spin of one that
// has nothing.
static GOCUDA_INLINE GOCUDA_RAW bool again(bool on) { return loop(on, false); }
static GOCUDA_INLINE GOCUDA_RAW bool spin(bool on) { return loop(on, true); }

} // namespace gocuda
