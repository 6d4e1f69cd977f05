/* context.c - what the rest of its document says of each word (--context).
 *
 * Copies of up to `window` sequences before and after the current one are held. The tokens of all of
 * them are in a hash table by their word in lower case; since they enter and leave it in the order of
 * the input, each bucket is a queue:
 *
 *     input -> | ahead ... | current | ... behind |      bucket: oldest -> ... -> newest
 *
 * A document begins at a token -DOCSTART- and, in CoNLL-U, at a comment "# newdoc"; nothing is seen
 * across its beginning. Memory is bounded by the window and by a number of tokens on either side.
 */
#include "corpus/context.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/utf8.h"
#include "corpus/reader.h"

/* The last two bound the time that hostile input takes. */
enum { BUCKETS = 4096, MAX_VALUES = 16, MAX_PLACES = 1024 };

enum letter_case { NO_CASE, LOWER_CASE, CAPITALISED, UPPER_CASE };

struct held;

struct occurrence {
    struct occurrence *next; // in its bucket
    const struct held *in;
    uint32_t token;
    enum letter_case letters;
    uint64_t word, lower; // hashes: as it is written, and in lower case
};

struct held {
    trellis_sequence sequence; // with all it points to
    char *memory;
    struct occurrence *occurrences; // [length]
    uint64_t document;
};

struct queue {
    struct occurrence *first, *last;
};

struct tr_word_context {
    size_t window, max_tokens;
    TR_ARRAY(struct held *) held; // in the order of the input
    size_t current;               // its place in `held`
    size_t behind, ahead;         // tokens
    uint64_t document;            // of the last one held
    bool started;                 // there is a current sequence
    bool ended;                   // with this:
    trellis_status status;
    trellis_error error;
    struct queue buckets[BUCKETS];
    struct tr_buffer lower;
    TR_ARRAY(trellis_writing) writing;
    TR_ARRAY(trellis_text) elsewhere;
    TR_ARRAY(const struct occurrence *) same; // other places of a word
};

trellis_status tr_word_context_create(size_t window, size_t max_tokens,
                                      struct tr_word_context **ret_context, trellis_error *error)
{
    *ret_context = tr_alloc(1, sizeof **ret_context);
    if (!*ret_context) {
        return tr_fail_memory(error);
    }
    (*ret_context)->window = window;
    (*ret_context)->max_tokens = max_tokens;
    return TRELLIS_OK;
}

static void free_held(struct held *held)
{
    if (held) {
        free(held->memory);
        free(held->occurrences);
        free(held);
    }
}

void tr_word_context_destroy(struct tr_word_context *context)
{
    if (!context) {
        return;
    }
    for (size_t i = 0; i < context->held.size; i++) {
        free_held(context->held.at[i]);
    }
    free(context->held.at);
    free(context->writing.at);
    free(context->elsewhere.at);
    free(context->same.at);
    tr_buffer_free(&context->lower);
    free(context);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Memory that is handed out from its beginning; while `base` is NULL it is only counted. */
struct arena {
    char *base;
    size_t used;
};

static void *take(struct arena *arena, const void *from, size_t count, size_t size)
{
    if (!from) {
        return NULL;
    }
    const size_t align = _Alignof(max_align_t);
    size_t bytes = count * size;
    char *to = arena->base ? arena->base + arena->used : NULL;
    if (to && bytes) {
        memcpy(to, from, bytes);
    }
    arena->used += (bytes + align - 1) / align * align;
    return to;
}

static void take_text(struct arena *arena, const trellis_text *from, trellis_text *to)
{
    const char *data = take(arena, from->data, from->size, 1);
    if (to) {
        to->data = data;
    }
}

static trellis_text *take_texts(struct arena *arena, const trellis_text *from, size_t count)
{
    trellis_text *to = take(arena, from, count, sizeof *from);
    for (size_t i = 0; from && i < count; i++) {
        take_text(arena, &from[i], to ? &to[i] : NULL);
    }
    return to;
}

static trellis_attribute *take_attributes(struct arena *arena, const trellis_attribute *from,
                                          size_t count)
{
    trellis_attribute *to = take(arena, from, count, sizeof *from);
    for (size_t i = 0; from && i < count; i++) {
        take_text(arena, &from[i].name, to ? &to[i].name : NULL);
    }
    return to;
}

static trellis_sequence copy_sequence(struct arena *arena, const trellis_sequence *from)
{
    trellis_sequence to = *from;
    size_t attributes = from->attribute_begin ? from->attribute_begin[from->length] : 0;
    to.cells = take_texts(arena, from->cells, from->length * from->columns);
    to.labels = take_texts(arena, from->labels, from->length);
    to.attributes = take_attributes(arena, from->attributes, attributes);
    to.attribute_begin = take(arena, from->attribute_begin, from->length + 1, sizeof(size_t));
    to.rows = take_texts(arena, from->rows, from->row_count);
    to.row_token = take(arena, from->row_token, from->row_count, sizeof(size_t));
    return to;
}

/* ---- holding --------------------------------------------------------------------------------- */

/* By the first letter; upper case where there are at least two letters and all are. */
static enum letter_case case_of(trellis_text word)
{
    size_t upper = 0, lower = 0;
    bool capital = false;
    for (size_t at = 0; at < word.size;) {
        enum tr_class class = tr_utf8_class(tr_utf8_next(word, &at));
        capital |= class == TR_UPPER && upper + lower == 0;
        upper += class == TR_UPPER;
        lower += class == TR_LOWER || class == TR_OTHER_LETTER;
    }
    return upper > 1 && lower == 0 ? UPPER_CASE
           : capital               ? CAPITALISED
           : upper + lower > 0     ? LOWER_CASE
                                   : NO_CASE;
}

static struct queue *bucket_of(struct tr_word_context *context, uint64_t lower)
{
    return &context->buckets[lower % BUCKETS];
}

static void enter(struct tr_word_context *context, struct occurrence *occurrence)
{
    struct queue *queue = bucket_of(context, occurrence->lower);
    if (queue->last) {
        queue->last->next = occurrence;
    } else {
        queue->first = occurrence;
    }
    queue->last = occurrence;
}

/* The oldest of its bucket. */
static void leave(struct tr_word_context *context, const struct occurrence *occurrence)
{
    struct queue *queue = bucket_of(context, occurrence->lower);
    queue->first = occurrence->next;
    queue->last = queue->first ? queue->last : NULL;
}

static bool begins_document(const trellis_sequence *sequence, size_t word_column)
{
    if (word_column < sequence->columns && sequence->length > 0 &&
        tr_text_is(sequence->cells[word_column], "-DOCSTART-")) {
        return true;
    }
    const trellis_text newdoc = TR_TEXT("# newdoc");
    for (size_t i = 0; sequence->row_token && i < sequence->row_count; i++) {
        if (sequence->row_token[i] == SIZE_MAX && sequence->rows[i].size >= newdoc.size &&
            memcmp(sequence->rows[i].data, newdoc.data, newdoc.size) == 0) {
            return true;
        }
    }
    return false;
}

static bool list_occurrences(struct tr_word_context *context, struct held *held, size_t column)
{
    const trellis_sequence *sequence = &held->sequence;
    held->occurrences = tr_alloc(sequence->length, sizeof *held->occurrences);
    for (size_t i = 0; held->occurrences && i < sequence->length; i++) {
        struct occurrence *occurrence = &held->occurrences[i];
        trellis_text word = column < sequence->columns
                                ? sequence->cells[i * sequence->columns + column]
                                : (trellis_text){0};
        *occurrence = (struct occurrence){
            .in = held, .token = (uint32_t)i, .letters = case_of(word), .word = tr_hash(word).low};
        context->lower.size = 0;
        tr_lower_text(word, &context->lower);
        occurrence->lower = tr_hash((trellis_text){context->lower.data, context->lower.size}).low;
    }
    return held->occurrences && !context->lower.failed;
}

/* When tagging, the label may be missing, and its column be that of the words. */
static size_t word_column(const trellis_reader *reader)
{
    return reader->sequence.columns == 1 ? 0 : tr_reader_word_column(reader, reader->label_column);
}

static bool hold(struct tr_word_context *context, const trellis_reader *reader)
{
    size_t column = word_column(reader);
    struct arena arena = {0};
    struct held *held = tr_alloc(1, sizeof *held);
    (void)copy_sequence(&arena, &reader->sequence);
    char *memory = held ? malloc(arena.used ? arena.used : 1) : NULL;
    if (memory) {
        held->memory = memory;
        arena = (struct arena){.base = memory};
        held->sequence = copy_sequence(&arena, &reader->sequence);
    }
    if (!memory || !list_occurrences(context, held, column) || !tr_push(&context->held, held)) {
        free_held(held);
        return false;
    }
    context->document += begins_document(&held->sequence, column);
    held->document = context->document;
    for (size_t i = 0; i < held->sequence.length; i++) {
        enter(context, &held->occurrences[i]);
    }
    return true;
}

/* Drops the oldest sequence that is held. */
static void drop(struct tr_word_context *context)
{
    struct held *oldest = context->held.at[0];
    for (size_t i = 0; i < oldest->sequence.length; i++) {
        leave(context, &oldest->occurrences[i]);
    }
    context->behind -= oldest->sequence.length;
    context->current--;
    context->held.size--;
    memmove(context->held.at, context->held.at + 1, context->held.size * sizeof *context->held.at);
    free_held(oldest);
}

/* Moves on by one sequence, and reads until the window ahead of it is full. */
static trellis_status move_on(struct tr_word_context *context, trellis_reader *reader,
                              tr_word_context_source read, trellis_error *error)
{
    if (context->started) {
        context->behind += context->held.at[context->current++]->sequence.length;
        if (context->current < context->held.size) {
            context->ahead -= context->held.at[context->current]->sequence.length;
        }
    }
    context->started = true;
    while (context->current > 0 &&
           (context->current > context->window || context->behind > context->max_tokens)) {
        drop(context);
    }
    while (!context->ended && context->held.size <= context->current + context->window &&
           (context->held.size <= context->current || context->ahead < context->max_tokens)) {
        context->status = read(reader, &context->error);
        context->ended = context->status != TRELLIS_OK;
        if (!context->ended && !hold(context, reader)) {
            return tr_fail_memory(error);
        }
        if (!context->ended && context->held.size > context->current + 1) {
            context->ahead += context->held.at[context->held.size - 1]->sequence.length;
        }
    }
    return TRELLIS_OK;
}

/* ---- context --------------------------------------------------------------------------------- */

static bool is_capital(const struct held *held, size_t token)
{
    return token < held->sequence.length && held->occurrences[token].letters >= CAPITALISED;
}

/* How the word is written at another place. */
static void count_place(const struct occurrence *place, trellis_writing *writing)
{
    bool before = place->token > 0 && is_capital(place->in, place->token - 1);
    bool after = is_capital(place->in, place->token + 1);
    if (place->letters == LOWER_CASE) {
        writing->lower++;
    } else if (place->letters == CAPITALISED && place->token == 0) {
        writing->first++;
    } else {
        writing->upper += place->letters == UPPER_CASE;
        writing->capitalised += place->letters == CAPITALISED;
        writing->both += before && after;
        writing->before += before && !after;
        writing->after += after && !before;
        writing->alone += !before && !after;
    }
}

/* The value that a column has most often at the other places of a word, of several the first. */
static trellis_text vote(const struct tr_word_context *context, size_t column)
{
    struct {
        trellis_text value;
        uint32_t votes;
    } values[MAX_VALUES];
    size_t count = 0, best = 0;
    for (size_t i = 0; i < context->same.size; i++) {
        const struct occurrence *place = context->same.at[i];
        const trellis_sequence *sequence = &place->in->sequence;
        if (column >= sequence->columns) {
            continue;
        }
        trellis_text value = sequence->cells[place->token * sequence->columns + column];
        size_t k = 0;
        while (k < count && !tr_text_equal(values[k].value, value)) {
            k++;
        }
        if (k == MAX_VALUES) {
            continue;
        }
        if (k == count) {
            values[count].value = value;
            values[count++].votes = 0;
        }
        values[k].votes++;
    }
    for (size_t k = 1; k < count; k++) {
        best = values[k].votes > values[best].votes ? k : best;
    }
    return count ? values[best].value : (trellis_text){0};
}

/* All that other places tell of a token's word. */
static bool see_token(struct tr_word_context *context, const struct occurrence *token,
                      trellis_writing *writing, trellis_text *elsewhere)
{
    size_t columns = token->in->sequence.columns;
    context->same.size = 0;
    *writing = (trellis_writing){0};
    const struct occurrence *place = token->letters == NO_CASE
                                         ? NULL
                                         : bucket_of(context, token->lower)->first;
    for (size_t steps = 0; place && steps < MAX_PLACES; place = place->next, steps++) {
        if (place == token || place->lower != token->lower ||
            place->in->document != token->in->document) {
            continue;
        }
        count_place(place, writing);
        if (place->word == token->word && !tr_push(&context->same, place)) {
            return false;
        }
    }
    for (size_t c = 0; c < columns; c++) {
        elsewhere[c] = vote(context, c);
    }
    return true;
}

trellis_status tr_word_context_next(struct tr_word_context *context, trellis_reader *reader,
                                    tr_word_context_source read, trellis_sequence *ret_sequence,
                                    trellis_error *error)
{
    trellis_status status = move_on(context, reader, read, error);
    if (status) {
        return status;
    }
    if (context->current >= context->held.size) {
        if (error && context->status != TRELLIS_END) {
            *error = context->error;
        }
        context->started = false; // asked again, the answer is the same
        return context->status;
    }
    const struct held *held = context->held.at[context->current];
    size_t length = held->sequence.length, columns = held->sequence.columns;
    if (!tr_reserve(&context->writing, length) ||
        !tr_reserve(&context->elsewhere, length * columns)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < length; i++) {
        if (!see_token(context, &held->occurrences[i], &context->writing.at[i],
                       context->elsewhere.at + i * columns)) {
            return tr_fail_memory(error);
        }
    }
    *ret_sequence = held->sequence;
    ret_sequence->writing = context->writing.at;
    ret_sequence->elsewhere = columns ? context->elsewhere.at : NULL;
    return TRELLIS_OK;
}
