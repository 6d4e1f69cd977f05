/* batch.h - some sequences for one thread to tag, and what was predicted. They are copied when they
 * are read, or read by that thread. */
#ifndef TRELLIS_CLI_BATCH_H
#define TRELLIS_CLI_BATCH_H

#include "tag_result.h"

struct batch_item {
    trellis_sequence sequence;
    struct tag_result result; // once it is tagged
};

/* Memory is kept from one use to the next. Start with {0}. */
struct batch {
    struct batch_item *items; // [count]
    size_t count, capacity;
    size_t tokens; // in all items
    struct chunk *first_chunk, *chunk;

    bool unread;            // the worker's reader has sequences that are not split yet
    trellis_status reading; // where reading stopped behind them, if it did,
    trellis_error reading_error;

    /* For the worker that tags it. */
    size_t tagged; // items that have a result
    char *text;    // [text_size] the results, where a formatter makes them
    size_t text_size, text_capacity;
    trellis_status status;
    trellis_error error;
    bool done;
};

/* Deep copy; false on allocation failure. */
bool batch_add(struct batch *batch, const trellis_sequence *sequence);
/* `size` bytes until the next reset, aligned for any type; NULL on allocation failure. */
void *batch_alloc(struct batch *batch, size_t size);
/* Points the text to a copy of its bytes; false on allocation failure. */
bool batch_copy(struct batch *batch, trellis_text *text);

/* Adds to the text; false on allocation failure. */
bool batch_write(struct batch *batch, const char *data, size_t size);

/* Gives back what was allocated for items. */
void batch_forget(struct batch *batch);
void batch_reset(struct batch *batch);
void batch_free(struct batch *batch);

#endif
