/* input.h - reads a file, or bytes in memory, line by line: plain, gzip or Zstandard.
 *
 * Compression is detected by the first bytes, not by the file name. Lines are slices of a buffer
 * that grows only to the size of the longest line (or of the lines held); "\n" and "\r\n" both end
 * a line, and the last line need not have an end.
 */
#ifndef TRELLIS_BASE_INPUT_H
#define TRELLIS_BASE_INPUT_H

#include "base/limits.h"

struct tr_input;

/* "-" is standard input. A missing file, a directory, a disk or a device without an end are
 * TRELLIS_IO with a message. */
trellis_status tr_input_open(const char *path, struct tr_input **ret_input, trellis_error *error);
/* A file that is read as a whole, within the limits of the options. */
trellis_status tr_input_open_file(const char *path, const trellis_options *options,
                                  struct tr_input **ret_input, trellis_error *error);
/* The bytes of a file, which must outlive the input; `name` takes the place of the path in
 * messages. */
trellis_status tr_input_open_bytes(const void *data, size_t size, const char *name,
                                   struct tr_input **ret_input, trellis_error *error);
void tr_input_close(struct tr_input *input);
/* Until this is called, the default limits hold for a file that is read as a whole. A `stream` may
 * be of any length, but not what is held of it. */
void tr_input_set_limits(struct tr_input *input, const struct tr_limits *limits, bool stream);

/* The next line without its end, valid until the next call; TRELLIS_END after the last. */
trellis_status tr_input_line(struct tr_input *input, trellis_text *ret_line, trellis_error *error);

/* As tr_input_line(), but lines stay valid until tr_input_release(): for readers that return slices
 * of a whole sequence. A line is an offset into tr_input_base(), because the buffer may move while
 * it grows. */
trellis_status tr_input_hold(struct tr_input *input, size_t *ret_offset, size_t *ret_size,
                             trellis_error *error);
const char *tr_input_base(const struct tr_input *input);
void tr_input_release(struct tr_input *input);
/* Bytes of the lines held. */
size_t tr_input_held(const struct tr_input *input);

/* An input without bytes, for tr_input_take(). */
trellis_status tr_input_open_empty(const char *name, struct tr_input **ret_input,
                                   trellis_error *error);
/* Moves the next lines to `to`, in place of what it has left: about `size` bytes up to and
 * with a blank line, or all that is left; TRELLIS_END if nothing is. If `comment` is not 0, a blank
 * line counts only behind a line that is neither blank nor begins with it. `to` numbers its lines
 * as they are here. */
trellis_status tr_input_take(struct tr_input *input, size_t size, char comment, struct tr_input *to,
                             trellis_error *error);
const char *tr_input_path(const struct tr_input *input);

/* For a file that is read in parts: its size, where it is a file of known size that is not compressed;
 * else 0. */
uint64_t tr_input_size(const struct tr_input *input);
/* The bytes of such a file before the next line. */
uint64_t tr_input_offset(const struct tr_input *input);
/* Goes on with its bytes begin .. end-1, the first of which begins a line, behind `line` lines. No line
 * may be held. */
trellis_status tr_input_seek(struct tr_input *input, uint64_t begin, uint64_t end, uint64_t line,
                             trellis_error *error);

/* The file and number of the line read last. */
struct tr_place tr_input_place(const struct tr_input *input);

/* The whole file, decompressed, with a terminating zero byte that is not counted; TRELLIS_LIMIT if
 * it has more than `max` bytes. */
trellis_status tr_input_slurp(const char *path, size_t max, char **ret_data, size_t *ret_size,
                              trellis_error *error);

#endif
