/* foreign.h - models that other programs wrote, opened wherever one of ours is.
 *
 * A reader checks every byte that it uses, and ends in tr_model_build() as a training does: what is
 * opened is one of our models, and all that works with those works with it.
 */
#ifndef TRELLIS_MODEL_FOREIGN_H
#define TRELLIS_MODEL_FOREIGN_H

#include <endian.h>

#include "model/image.h"
#include "model/model.h"

struct tr_foreign_format {
    const char *program; // for messages
    /* Whether the bytes begin as a file of this format does. */
    bool (*recognises)(trellis_text bytes);
    /* `path` is for messages and may be NULL. */
    trellis_status (*read)(trellis_text bytes, const char *path, trellis_model **ret_model,
                           trellis_error *error);
};

/* One in each foreign_<program>.c; foreign.c lists them. */
extern const struct tr_foreign_format tr_foreign_crfsuite;
extern const struct tr_foreign_format tr_foreign_wapiti;
extern const struct tr_foreign_format tr_foreign_crfpp;

/* The format of a file, NULL where it is none of these. */
const struct tr_foreign_format *tr_foreign_find(trellis_text bytes);

/* The error of a file that was recognised but does not fit. */
trellis_status tr_foreign_damaged(const struct tr_foreign_format *format, const char *path,
                                  const char *what, trellis_error *error);

/* The numbers of these files, which are little-endian wherever they are read and written. */
static inline uint32_t tr_foreign_u32(struct tr_cursor *cursor)
{
    return le32toh(tr_cursor_u32(cursor));
}

static inline uint64_t tr_foreign_u64(struct tr_cursor *cursor)
{
    return le64toh(tr_cursor_u64(cursor));
}

static inline void tr_foreign_put_u32(struct tr_buffer *buffer, uint32_t value)
{
    tr_put_u32(buffer, htole32(value));
}

static inline void tr_foreign_put_u64(struct tr_buffer *buffer, uint64_t value)
{
    tr_put_u64(buffer, htole64(value));
}

#endif
