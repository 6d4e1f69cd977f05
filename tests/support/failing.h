/* failing.h - an allocator that counts, and fails when told to, in place of the C library's.
 *
 * In a plain build the functions stand in for those of the C library, for the libraries under ours
 * as well as for ours. A sanitizer has an allocator of its own that must stay, so there only the
 * calls of our library are wrapped (tests/CMakeLists.txt links with --wrap).
 */
#ifndef TRELLIS_TESTS_SUPPORT_FAILING_H
#define TRELLIS_TESTS_SUPPORT_FAILING_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static atomic_long allocations; // since failing_from() was called
static atomic_long fail_at;     // the number of the allocation that fails, 0: none
static atomic_bool fail_on;     // and all after it
static atomic_long failed;      // how many have failed
static atomic_size_t largest;   // the largest size asked for

static inline bool fails_now(size_t size)
{
    size_t max = atomic_load(&largest);
    while (size > max && !atomic_compare_exchange_weak(&largest, &max, size)) {}
    long number = atomic_fetch_add(&allocations, 1) + 1, at = atomic_load(&fail_at);
    bool fails = at && (number == at || (number > at && atomic_load(&fail_on)));
    if (fails) {
        atomic_fetch_add(&failed, 1);
        errno = ENOMEM;
    }
    return fails;
}

static inline size_t product(size_t count, size_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

/* From here on the n-th allocation fails and, with `on`, all later ones; 0: none. */
static inline void failing_from(long n, bool on)
{
    atomic_store(&fail_at, 0);
    atomic_store(&allocations, 0);
    atomic_store(&failed, 0);
    atomic_store(&largest, 0);
    atomic_store(&fail_on, on);
    atomic_store(&fail_at, n);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FAILING(name) __wrap_##name
#define REAL(name) __real_##name
#else
#define FAILING(name) name
#define REAL(name) __libc_##name
#define __libc_aligned_alloc __libc_memalign
#endif

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t count, size_t size);
void *REAL(realloc)(void *memory, size_t size);
void *REAL(aligned_alloc)(size_t alignment, size_t size);
void *FAILING(malloc)(size_t size);
void *FAILING(calloc)(size_t count, size_t size);
void *FAILING(realloc)(void *memory, size_t size);
void *FAILING(aligned_alloc)(size_t alignment, size_t size);

void *FAILING(malloc)(size_t size)
{
    return fails_now(size) ? NULL : REAL(malloc)(size);
}

void *FAILING(calloc)(size_t count, size_t size)
{
    return fails_now(product(count, size)) ? NULL : REAL(calloc)(count, size);
}

void *FAILING(realloc)(void *memory, size_t size)
{
    return fails_now(size) ? NULL : REAL(realloc)(memory, size);
}

void *FAILING(aligned_alloc)(size_t alignment, size_t size)
{
    return fails_now(size) ? NULL : REAL(aligned_alloc)(alignment, size);
}

#endif
