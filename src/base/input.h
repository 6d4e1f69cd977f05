/* input.h - lines of a file: plain, .gz or .zst, or of standard input.
 *
 * The kind of compression is told by the first bytes, not by the name. Lines are slices of a buffer
 * that grows with the longest line and no further; "\n" and "\r\n" both end a line, and the last line
 * may lack its end.
 */
#ifndef TRELLIS_BASE_INPUT_H
#define TRELLIS_BASE_INPUT_H

#include "base/error.h"

struct tr_input;

/* "-" is standard input. A directory, a missing file and the like are an error with a sentence. */
trellis_status tr_input_open(const char *path, struct tr_input **ret_input, trellis_error *error);
void tr_input_close(struct tr_input *input);

/* TRELLIS_OK and the next line without its end, until the next call; TRELLIS_END; or an error. */
trellis_status tr_input_line(struct tr_input *input, trellis_text *ret_line, trellis_error *error);

/* As tr_input_line(), but earlier lines stay where they are until tr_input_release(): for readers
 * that hand out slices of a whole sequence. Slices are offsets into tr_input_base(), because the
 * buffer may move while it grows. */
trellis_status tr_input_hold(struct tr_input *input, size_t *ret_offset, size_t *ret_size,
                             trellis_error *error);
const char *tr_input_base(const struct tr_input *input);
void tr_input_release(struct tr_input *input);

/* Where the line read last stands. */
struct tr_place tr_input_place(const struct tr_input *input);

/* The whole file, ended by a zero byte that is not counted; refuses more than `most` bytes. */
trellis_status tr_input_slurp(const char *path, size_t most, char **ret_data, size_t *ret_size,
                              trellis_error *error);

#endif
