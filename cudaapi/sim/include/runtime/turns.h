// Turns that threads give to others while they wait (sim/spin.h), or so that
// races show (sim/races.h).
#pragma once

namespace gocuda {

// linger is every so manyth turn of a loop. If it did nothing but look, what it
// accessed does not count.
GOCUDA_CALL void linger(bool looks) {
    Thread *t = self();
    if (looks)
        for (int k = 0; k < 6; k++) t->accessed[k] = t->before[k];
    pause();
}

GOCUDA_CALL void arrived() { moved(self()->block); }

// between is where others may come in. Now and then the threads of the block
// do, and blocks on other cores have time to. The first to be interrupted goes
// on last, so that all that the others did is lost.
GOCUDA_CALL void between() {
    Thread *t = self();
    Worker *w = t->worker;
    if (w->patience--) return;
    w->patience = 7;
    yield(t->waited); // not first twice: it may be in a loop
    moved(t->block);
    for (int i = 0; i < 50; i++) {
#if defined(__x86_64__)
        asm volatile("pause" ::: "memory");
#else
        asm volatile("yield" ::: "memory");
#endif
    }
}

} // namespace gocuda
