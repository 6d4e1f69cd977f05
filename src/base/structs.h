/* structs.h - public structs that may grow, passed between programs and libraries of different age.
 *
 * Such a struct begins with struct_size, which its owner sets to sizeof. The library works on a
 * copy in its own size: members that the caller does not know yet are 0 in it, and members that the
 * library does not know yet are left alone.
 */
#ifndef TRELLIS_BASE_STRUCTS_H
#define TRELLIS_BASE_STRUCTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies the caller's struct into the library's; false where struct_size was not set. */
static inline bool tr_struct_take(void *ours, size_t size, const void *theirs)
{
    size_t known = 0;
    memset(ours, 0, size);
    if (theirs) {
        memcpy(&known, theirs, sizeof known);
        memcpy(ours, theirs, known < size ? known : size);
    }
    return known >= sizeof known;
}

/* Copies the library's struct back, as far as the caller's reaches, but not struct_size; writes
 * nothing and returns false where that was not set. */
static inline bool tr_struct_give(const void *ours, size_t size, void *theirs)
{
    size_t known;
    memcpy(&known, theirs, sizeof known);
    if (known < sizeof known) {
        return false;
    }
    memcpy((char *)theirs + sizeof known, (const char *)ours + sizeof known,
           (known < size ? known : size) - sizeof known);
    return true;
}

#endif
