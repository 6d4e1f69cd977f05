/* interpreter_lock.c - letting go of the interpreter lock for some microseconds
 *
 * Passing the lock on by way of the kernel, which puts one thread to sleep and wakes another, takes
 * longer than tagging a sentence. So a thread that wants it back looks first who has it: if that is
 * another thread that tags, it will let go in a moment, and it is faster to wait for that awake. A
 * thread that waited in vain waits half as long the next time.
 */
#include "extension.h"

#include <time.h>

enum { MAX_PATIENCE = 40000, MIN_PATIENCE = 500 }; // nanoseconds

/* Whether a thread that tags has the interpreter lock: a hint, which may be wrong. */
static atomic_bool busy;

static long nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long)t.tv_sec * 1000000000L + t.tv_nsec;
}

static inline void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Waits until no thread that tags has the lock, or patience is at its end. */
static bool wait_for_lock(long patience)
{
    long began = nanoseconds();
    while (atomic_load_explicit(&busy, memory_order_acquire)) {
        for (int i = 0; i < 16; i++) {
            pause_processor();
        }
        if (nanoseconds() - began > patience) {
            return false;
        }
    }
    return true;
}

PyThreadState *tpy_unlock(void)
{
    PyThreadState *state = PyEval_SaveThread();
    atomic_store_explicit(&busy, false, memory_order_release);
    return state;
}

#ifdef Py_GIL_DISABLED
static const bool has_lock = false;
#else
static const bool has_lock = true;
#endif

void tpy_relock(PyThreadState *state, long *patience)
{
    if (has_lock && atomic_load_explicit(&busy, memory_order_acquire)) {
        long longer = *patience ? *patience : MAX_PATIENCE;
        *patience = wait_for_lock(longer) ? MAX_PATIENCE : longer / 2;
        *patience = *patience < MIN_PATIENCE ? MIN_PATIENCE : *patience;
    }
    PyEval_RestoreThread(state);
    atomic_store_explicit(&busy, true, memory_order_relaxed);
}
