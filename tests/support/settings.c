/* settings.c - options of tests, written as "name=value name=value". */
#include "support/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

trellis_status apply_settings(trellis_options *options, const char *settings, trellis_error *error)
{
    char *copy = strdup(settings), *rest = copy, *pair;
    trellis_status status = TRELLIS_OK;
    while (!status && (pair = strsep(&rest, " "))) {
        char *value = strchr(pair, '=');
        if (value) {
            *value++ = '\0';
            status = trellis_options_set(options, pair, value, error);
        } else if (*pair) {
            fail_msg("'%s' is not name=value", pair);
        }
    }
    free(copy);
    return status;
}

trellis_options *make_options(const char *settings)
{
    trellis_options *options;
    trellis_error error = {0};
    if (trellis_options_create(&options, &error) || apply_settings(options, settings, &error)) {
        fail_msg("%s", error.message);
    }
    return options;
}
