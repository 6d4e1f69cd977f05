/* batch.h - copies of sequences that outlive the reader's next step, and the labels found for them. */
#ifndef TRELLIS_CLI_BATCH_H
#define TRELLIS_CLI_BATCH_H

#include "tag_result.h"

struct batch_item {
    trellis_sequence sequence;
    struct finding finding; // once it was found
};

/* Memory is kept from one use to the next. Start with {0}. */
struct batch {
    struct batch_item *items; // [count]
    size_t count, capacity;
    size_t tokens; // in all items
    struct chunk *first_chunk, *chunk;

    /* For whoever labels it. */
    size_t labelled; // items that have labels
    trellis_status status;
    trellis_error error;
    bool done;
};

/* Copies all that is pointed to; false on allocation failure. */
bool batch_add(struct batch *batch, const trellis_sequence *sequence);
/* Room for `size` bytes until the next reset, aligned for anything; NULL on allocation failure. */
void *batch_take(struct batch *batch, size_t size);
/* A copy of some bytes. */
bool batch_copy(struct batch *batch, trellis_text *text);

void batch_reset(struct batch *batch);
void batch_free(struct batch *batch);

#endif
