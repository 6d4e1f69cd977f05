/* output.h - a file that appears whole or not at all.
 *
 * What is written goes to a file without a name, or where there are none to a temporary name beside the
 * target; commit syncs it and renames it over the target, anything else removes it. A crash at any moment
 * leaves the old file or the new one, and of a file without a name nothing; a temporary name that is left is
 * removed by who next writes to the same target. A target that is no plain file, such as /dev/null or a pipe,
 * is written to as it is.
 */
#ifndef TRELLIS_BASE_OUTPUT_H
#define TRELLIS_BASE_OUTPUT_H

#include "base/error.h"

struct tr_output;

trellis_status tr_output_open(const char *path, struct tr_output **ret_output,
                              trellis_error *error);
trellis_status tr_output_write(struct tr_output *output, const void *data, size_t size,
                               trellis_error *error);
/* Syncs, renames and closes. On failure the target is as it was. The output is gone either way. */
trellis_status tr_output_commit(struct tr_output *output, trellis_error *error);
/* All of it at once: opens, writes and commits. */
trellis_status tr_output_replace(const char *path, const void *data, size_t size,
                                 trellis_error *error);
/* Drops what was written; accepts NULL. */
void tr_output_discard(struct tr_output *output);

#endif
