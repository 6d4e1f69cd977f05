/* near.h - whether a computed number is the expected one, up to rounding.
 *
 * cmocka's assert_float_equal() holds for a NaN, and for an infinite number beside a finite one.
 */
#ifndef TRELLIS_TESTS_SUPPORT_NEAR_H
#define TRELLIS_TESTS_SUPPORT_NEAR_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* |value - wanted| <= tolerance max(1, |wanted|), and both are finite or they are equal. */
#define assert_near(value, wanted, tolerance)                                                      \
    assert_near_at(value, wanted, tolerance, __FILE__, __LINE__)

static inline void assert_near_at(double value, double wanted, double tolerance, const char *file,
                                  int line)
{
    bool near = isfinite(wanted) && fabs(value - wanted) <= tolerance * fmax(1, fabs(wanted));
    if (!near && value != wanted) {
        print_error("%.17g is not %.17g\n", value, wanted);
        _fail(file, line);
    }
}

#endif
