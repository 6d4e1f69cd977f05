/* integrity.h - which parts of a model file have been compared with their checksums.
 *
 * Opening a model reads little of it. Whoever reads weights later verifies them first: all of the
 * file (tr_integrity_all), or the blocks that it is about to read (tr_integrity_range) by the
 * checksums of the section SUMS. A bit for each block says that this was done; the threads that
 * share a model may verify a block twice, which does no harm. Files without SUMS, written by 0.1.0,
 * can be verified as a whole only. No tagger reads the texts of attributes, half of a file.
 */
#ifndef TRELLIS_MODEL_INTEGRITY_H
#define TRELLIS_MODEL_INTEGRITY_H

#include "model/image.h"

struct tr_integrity;

/* For a checked image, which must outlive it. A `trusted` one has just been written: nothing is
 * left to verify. */
trellis_status tr_integrity_create(const struct tr_image *image, const char *path, bool trusted,
                                   struct tr_integrity **ret_integrity, trellis_error *error);
void tr_integrity_destroy(struct tr_integrity *integrity);
/* The path of the file; NULL for bytes in memory. */
const char *tr_integrity_path(const struct tr_integrity *integrity);

/* Whether all that taggers read has been verified, or needs no verification. */
bool tr_integrity_done(const struct tr_integrity *integrity);
/* Verifies what is left of the file. TRELLIS_MODEL, and the message names the file. */
trellis_status tr_integrity_all(struct tr_integrity *integrity, trellis_error *error);
/* Verifies the bytes [at, at + size), which lie in the image; the whole file where it has no
 * checksums of blocks. */
trellis_status tr_integrity_range(struct tr_integrity *integrity, const void *at, size_t size,
                                  trellis_error *error);
/* Verifies a few more blocks that taggers read, in their order: a program that tags on and on has
 * soon verified all of them and need not look any more. */
trellis_status tr_integrity_advance(struct tr_integrity *integrity, trellis_error *error);

#endif
