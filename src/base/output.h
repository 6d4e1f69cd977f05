/* output.h - writes a file atomically: readers see the old contents or the new, never a part.
 *
 * Data goes to an unnamed file (O_TMPFILE), or where the file system has none, to a temporary file
 * beside the target. tr_output_commit() syncs it and renames it over the target;
 * tr_output_discard() removes it. After a crash the target is the old file or the new one, and an
 * unnamed file leaves nothing behind; a stale temporary file is removed by the next writer to the
 * same target. A target that is not a regular file, such as /dev/null or a pipe, is written to
 * directly. A symbolic link stays one: the file that it leads to is replaced.
 */
#ifndef TRELLIS_BASE_OUTPUT_H
#define TRELLIS_BASE_OUTPUT_H

#include "base/error.h"

struct tr_output;

trellis_status tr_output_open(const char *path, struct tr_output **ret_output,
                              trellis_error *error);
trellis_status tr_output_write(struct tr_output *output, const void *data, size_t size,
                               trellis_error *error);
/* Syncs, renames and closes; on failure the target is unchanged. Frees the output in either
 * case. */
trellis_status tr_output_commit(struct tr_output *output, trellis_error *error);
/* Opens, writes and commits. */
trellis_status tr_output_replace(const char *path, const void *data, size_t size,
                                 trellis_error *error);
/* Removes what was written and frees the output; accepts NULL. */
void tr_output_discard(struct tr_output *output);

#endif
