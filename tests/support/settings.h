/* settings.h - options of tests, written as "name=value name=value"; no value has a blank. */
#ifndef TRELLIS_TESTS_SUPPORT_SETTINGS_H
#define TRELLIS_TESTS_SUPPORT_SETTINGS_H

#include <trellis.h>

/* Sets these options until one is refused. */
trellis_status apply_settings(trellis_options *options, const char *settings, trellis_error *error);

/* New options with these settings; one that is refused fails the test. */
trellis_options *make_options(const char *settings);

#endif
