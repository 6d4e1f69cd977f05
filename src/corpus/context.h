/* context.h - what the rest of its document says of each word (--context): a window of sequences. */
#ifndef TRELLIS_CORPUS_CONTEXT_H
#define TRELLIS_CORPUS_CONTEXT_H

#include "base/error.h"

struct tr_word_context;

/* Reads the next sequence of the input into the reader's own. */
typedef trellis_status (*tr_word_context_source)(trellis_reader *reader, trellis_error *error);

/* `window` sequences before and after each, with at most `max_tokens` tokens on either side. */
trellis_status tr_word_context_create(size_t window, size_t max_tokens,
                                      struct tr_word_context **ret_context, trellis_error *error);
void tr_word_context_destroy(struct tr_word_context *context);

/* The next sequence with its context, valid until the next call. */
trellis_status tr_word_context_next(struct tr_word_context *context, trellis_reader *reader,
                                    tr_word_context_source read, trellis_sequence *ret_sequence,
                                    trellis_error *error);

#endif
