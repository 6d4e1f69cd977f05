/* options.h - typed access to the option table, for the library's own use.
 *
 * A NULL set stands for all defaults. A name that is not in the table is a bug in the caller: the
 * result is then 0, false or "".
 */
#ifndef TRELLIS_BASE_OPTIONS_H
#define TRELLIS_BASE_OPTIONS_H

#include "base/text.h"

int64_t tr_option_integer(const trellis_options *options, const char *name);
double tr_option_real(const trellis_options *options, const char *name);
bool tr_option_flag(const trellis_options *options, const char *name);
/* Never NULL. */
const char *tr_option_text(const trellis_options *options, const char *name);
bool tr_option_is(const trellis_options *options, const char *name, const char *value);

#endif
