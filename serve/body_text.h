/* body_text.h - a body in one of the formats of `trellis tag`: CoNLL columns, CoNLL-U, ... */
#ifndef TRELLIS_SERVE_BODY_TEXT_H
#define TRELLIS_SERVE_BODY_TEXT_H

#include "service.h"

struct body_text {
    const struct request *request;
    const struct snapshot *snapshot;
    trellis_options *options; // of reading, writing and tagging
    trellis_reader *reader;
    trellis_tagger *tagger; // bound to the reader
    size_t max_tokens, tokens;
    bool checked; // the first sequence was compared with the model's training data
};

/* Opens the body for a model. The parameters of the request are options of the command; those that
 * are not given are as in the training data. `gold`: the labels of the input are needed. Call
 * body_text_close() in any case. */
trellis_status body_text_open(struct body_text *text, const struct service *service,
                              const struct request *request, const struct snapshot *snapshot,
                              bool gold, trellis_error *error);
/* The next sequence; TRELLIS_END after the last. Checks limits, time and, once, the columns. */
trellis_status body_text_next(struct body_text *text, const trellis_sequence **ret_sequence,
                              trellis_error *error);
void body_text_close(struct body_text *text);

#endif
