/* reader.c - opens a source, finds its format, and holds the lines of one sequence at a time.
 *
 *     input --lines--> one sequence's lines --format--> cells, labels, attributes, rows
 *
 * Memory grows only with the longest sequence. The formats themselves are in columns.c, conllu.c,
 * crfsuite.c, wordtag.c, jsonl.c and plaintext.c; names.c finds columns by name.
 */
#include "corpus/reader.h"

#include <jansson.h>
#include <stdio.h>

#include "base/options.h"
#include "base/structs.h"
#include "base/utf8.h"

/* What a token of a long sequence takes while its attributes are found, roughly: where --memory is
 * given, it bounds the length of a sequence. */
enum { BYTES_PER_TOKEN = 1024 };
/* Tokens that a window of --context holds on either side. */
enum { MAX_CONTEXT = 65536 };

static const struct tr_format *const formats[] = {
    &tr_format_columns, &tr_format_conllu, &tr_format_crfsuite,
    &tr_format_wordtag, &tr_format_jsonl,  &tr_format_text,
};

static bool ends_with(trellis_text text, const char *end)
{
    size_t n = strlen(end);
    return text.size >= n && tr_same_name((trellis_text){text.data + text.size - n, n}, end);
}

static const struct tr_format *format_of_path(const char *path)
{
    trellis_text name = tr_text(path);
    if (ends_with(name, ".gz")) {
        name.size -= strlen(".gz");
    } else if (ends_with(name, ".zst")) {
        name.size -= strlen(".zst");
    }
    if (ends_with(name, ".conllu") || ends_with(name, ".conll-u")) {
        return &tr_format_conllu;
    }
    if (ends_with(name, ".jsonl") || ends_with(name, ".ndjson")) {
        return &tr_format_jsonl;
    }
    return &tr_format_columns;
}

const struct tr_format *tr_format_find(const char *name, const char *path)
{
    for (size_t i = 0; i < TR_COUNT(formats); i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return format_of_path(path);
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* The next line of the input, without the byte-order mark of the first one. */
static inline trellis_status hold(trellis_reader *reader, struct tr_slice *slice,
                                  trellis_error *error)
{
    trellis_status status = tr_input_hold(reader->input, &slice->begin, &slice->size, error);
    if (!reader->started && status == TRELLIS_OK) {
        reader->started = true;
        const char *bytes = tr_input_base(reader->input) + slice->begin;
        if (slice->size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
            slice->begin += 3;
            slice->size -= 3;
        }
    }
    return status;
}

static void forget_lines(trellis_reader *reader)
{
    tr_input_release(reader->input);
    reader->lines.size = 0;
}

static trellis_status too_long(const trellis_reader *reader, trellis_error *error)
{
    struct tr_place place = {0};
    if (reader->input) {
        place = tr_input_place(reader->input);
    }
    return tr_fail_at(error, TRELLIS_LIMIT, place, "a sequence of more than %llu tokens (%s)",
                      (unsigned long long)reader->limits.length,
                      reader->limits.memory ? "--max-length, --memory" : "--max-length");
}

static trellis_status keep_line(trellis_reader *reader, struct tr_slice slice, trellis_error *error)
{
    if (reader->lines.size == 0) {
        reader->first_line = tr_input_place(reader->input).line;
    }
    if (reader->lines.size >= reader->limits.length) {
        return too_long(reader, error);
    }
    return tr_push(&reader->lines, slice) ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status tr_take_line(trellis_reader *reader, trellis_error *error)
{
    forget_lines(reader);
    struct tr_slice slice;
    trellis_status status = hold(reader, &slice, error);
    return status ? status : keep_line(reader, slice, error);
}

trellis_status tr_take_block(trellis_reader *reader, char comment, trellis_error *error)
{
    forget_lines(reader);
    bool complete = false; // some line is more than a comment
    for (;;) {
        struct tr_slice slice;
        trellis_status status = hold(reader, &slice, error);
        if (status) {
            return status == TRELLIS_END && complete ? TRELLIS_OK : status;
        }
        trellis_text line = {tr_input_base(reader->input) + slice.begin, slice.size};
        bool blank = tr_is_blank_line(line);
        if (blank && complete) {
            return TRELLIS_OK;
        }
        if (blank && reader->lines.size == 0) {
            tr_input_release(reader->input); // a long run of blank lines takes no memory
            continue;
        }
        complete |= !blank && (!comment || line.data[0] != comment);
        status = keep_line(reader, slice, error);
        if (status) {
            return status;
        }
    }
}

struct tr_place tr_line_place(const trellis_reader *reader, size_t index)
{
    struct tr_place place = tr_input_place(reader->input);
    place.line = reader->first_line + index;
    return place;
}

struct tr_place tr_byte_place(const trellis_reader *reader, size_t index, const char *at)
{
    struct tr_place place = tr_line_place(reader, index);
    trellis_text line = tr_line(reader, index);
    size_t before = tr_utf8_length((trellis_text){line.data, (size_t)(at - line.data)});
    place.column = before < UINT32_MAX ? (uint32_t)before + 1 : 0;
    return place;
}

/* The line that holds a byte of the block. */
static size_t line_at(const trellis_reader *reader, size_t offset)
{
    size_t i = reader->lines.size;
    while (i > 1 && reader->lines.at[i - 1].begin > offset) {
        i--;
    }
    return i - 1;
}

trellis_status tr_fix_lines(trellis_reader *reader, trellis_error *error)
{
    reader->base = tr_input_base(reader->input);
    size_t begin = reader->lines.at[0].begin;
    /* The lines are contiguous, so one pass over all of them is enough: the end of a line is never
     * part of a longer code point. */
    trellis_text block = tr_block(reader);
    if (tr_utf8_is_plain(block)) {
        return TRELLIS_OK;
    }
    const char *zero = block.size ? memchr(block.data, '\0', block.size) : NULL;
    if (zero) {
        size_t index = line_at(reader, (size_t)(zero - reader->base));
        return tr_fail_at(error, TRELLIS_FORMAT, tr_byte_place(reader, index, zero),
                          "zero byte: this is not a text file");
    }
    size_t invalid = reader->keep_invalid ? block.size : tr_utf8_invalid(block);
    if (invalid < block.size) {
        size_t index = line_at(reader, begin + invalid);
        return tr_fail_at(error, TRELLIS_FORMAT, tr_byte_place(reader, index, block.data + invalid),
                          "invalid UTF-8: byte 0x%02X; convert the file, or keep such bytes with "
                          "--invalid-utf8 keep",
                          (unsigned char)block.data[invalid]);
    }
    return TRELLIS_OK;
}

bool tr_fill_rows(trellis_reader *reader)
{
    size_t count = reader->lines.size;
    if (!tr_reserve(&reader->rows, count) || !tr_reserve(&reader->row_token, count)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        reader->rows.at[i] = tr_line(reader, i);
    }
    reader->rows.size = reader->row_token.size = count;
    reader->sequence.rows = reader->rows.at;
    reader->sequence.row_token = reader->row_token.at;
    reader->sequence.row_count = count;
    return true;
}

bool tr_fill_labels(trellis_reader *reader, size_t length)
{
    size_t columns = reader->columns, column = reader->label_column;
    if (column == TR_NO_COLUMN) {
        return true;
    }
    if (!tr_reserve(&reader->labels, length)) {
        return false;
    }
    const trellis_text *cell = reader->cells.at + column;
    for (size_t i = 0; i < length; i++, cell += columns) {
        reader->labels.at[i] = *cell;
    }
    reader->sequence.labels = reader->labels.at;
    return true;
}

bool tr_unescape_room(trellis_reader *reader)
{
    struct tr_buffer *room = &reader->unescaped;
    room->size = 0;
    return tr_make_room(room->data, room->capacity, tr_block(reader).size);
}

trellis_text tr_unescape(trellis_reader *reader, trellis_text text, const char *escaped)
{
    if (text.size == 0 || !memchr(text.data, '\\', text.size)) {
        return text;
    }
    char *to = reader->unescaped.data + reader->unescaped.size;
    size_t size = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\\' && i + 1 < text.size && strchr(escaped, text.data[i + 1])) {
            i++;
        }
        to[size++] = text.data[i];
    }
    reader->unescaped.size += size;
    return (trellis_text){to, size};
}

/* ---- opening, reading, closing --------------------------------------------------------------- */

static trellis_status apply_options(trellis_reader *reader, const trellis_options *options,
                                    trellis_error *error)
{
    const char *label = tr_option_text(options, "label");
    const trellis_source *source = &reader->source;
    reader->format = source->corpus ? &tr_format_corpus
                     : source->next ? &tr_format_function
                                    : tr_format_find(tr_option_text(options, "format"),
                                                     source->path ? source->path : "");
    reader->label_column = TR_NO_COLUMN;
    reader->by_tab = tr_option_is(options, "separator", "tab");
    reader->tokenizer = tr_tokenizer_find(tr_option_text(options, "tokenizer"));
    reader->keep_invalid = tr_option_is(options, "invalid-utf8", "keep");
    reader->label = tr_copy_text(label, strlen(label));
    if (!reader->label || !tr_names_parse(&reader->names, tr_option_text(options, "columns"))) {
        return tr_fail_memory(error);
    }
    trellis_status status = tr_limits_resolve(options, &reader->limits, error);
    if (status) {
        return status;
    }
    uint64_t fitting = reader->limits.memory / BYTES_PER_TOKEN;
    if (fitting && fitting < reader->limits.length) {
        reader->limits.length = fitting;
    }
    size_t window = (size_t)tr_option_integer(options, "context");
    size_t tokens = reader->limits.length < MAX_CONTEXT ? reader->limits.length : MAX_CONTEXT;
    status = window ? tr_word_context_create(window, tokens, &reader->context, error) : TRELLIS_OK;
    return status ? status
                  : tr_corpus_parts_parse(&reader->parts, tr_option_text(options, "part"),
                                          (uint64_t)tr_option_integer(options, "seed"), error);
}

static trellis_status open_source(trellis_reader *reader, trellis_error *error)
{
    const trellis_source *source = &reader->source;
    if (source->corpus || source->next) {
        trellis_status status = source->next && source->rewind ? source->rewind(source->user, error)
                                                               : TRELLIS_OK;
        return status || tr_take_column_names(reader) ? status : tr_fail_memory(error);
    }
    trellis_status status = source->data
                                ? tr_input_open_bytes(source->data, source->data_size,
                                                      source->name ? source->name : "memory",
                                                      &reader->input, error)
                                : tr_input_open(source->path, &reader->input, error);
    if (!status) {
        tr_input_set_limits(reader->input, &reader->limits, true);
    }
    return status;
}

/* The largest text of a sequence: a cell, a label or an attribute. */
static size_t largest_text(const trellis_sequence *sequence)
{
    size_t largest = 0;
    for (size_t i = 0; i < sequence->length * sequence->columns; i++) {
        largest = sequence->cells[i].size > largest ? sequence->cells[i].size : largest;
    }
    for (size_t i = 0; sequence->labels && i < sequence->length; i++) {
        largest = sequence->labels[i].size > largest ? sequence->labels[i].size : largest;
    }
    size_t attributes = sequence->attribute_begin ? sequence->attribute_begin[sequence->length] : 0;
    for (size_t i = 0; i < attributes; i++) {
        trellis_text name = sequence->attributes[i].name;
        largest = name.size > largest ? name.size : largest;
    }
    return largest;
}

/* A sequence of the input within --max-length and --max-token. Only one with more bytes than a
 * token may have needs a look at its texts. */
static trellis_status check_sequence(const trellis_reader *reader, trellis_error *error)
{
    const trellis_sequence *sequence = &reader->sequence;
    const struct tr_limits *limits = &reader->limits;
    if (sequence->length > limits->length) {
        return too_long(reader, error);
    }
    if (!reader->input || tr_input_held(reader->input) <= limits->token_bytes ||
        largest_text(sequence) <= limits->token_bytes) {
        return TRELLIS_OK;
    }
    struct tr_place place = tr_input_place(reader->input);
    place.line = sequence->line;
    return tr_fail_at(error, TRELLIS_LIMIT, place, "a token of more than %llu bytes (--max-token)",
                      (unsigned long long)limits->token_bytes);
}

/* Reads the next sequence that has a token. */
static trellis_status read_nonempty(trellis_reader *reader, trellis_error *error)
{
    trellis_status status;
    do {
        reader->sequence = (trellis_sequence){.struct_size = sizeof(trellis_sequence), .weight = 1};
        status = reader->format->read(reader, error);
        if (status == TRELLIS_OK) {
            status = check_sequence(reader, error);
        }
    } while (status == TRELLIS_OK && reader->sequence.length == 0);
    return status;
}

trellis_status trellis_reader_open(const char *path, const trellis_options *options,
                                   trellis_reader **ret_reader, trellis_error *error)
{
    if (!TR_CLEAR(ret_reader) || !path) {
        return tr_fail_null(error, __func__);
    }
    const trellis_source source = {.struct_size = sizeof source, .path = path};
    return trellis_reader_open_source(&source, options, ret_reader, error);
}

trellis_status trellis_reader_open_source(const trellis_source *source,
                                          const trellis_options *options,
                                          trellis_reader **ret_reader, trellis_error *error)
{
    if (!TR_CLEAR(ret_reader) || !source) {
        return tr_fail_null(error, __func__);
    }
    trellis_reader *reader = tr_alloc(1, sizeof *reader);
    if (!reader) {
        return tr_fail_memory(error);
    }
    trellis_status status = TRELLIS_OK;
    const trellis_source *s = &reader->source;
    if (!tr_struct_take(&reader->source, sizeof reader->source, source)) {
        status = tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    } else if (!s->path + !s->data + !s->corpus + !s->next != 3) {
        status = tr_fail(error, TRELLIS_OPTION,
                         "a source is one of a path, bytes, a corpus and a function");
    }
    if (!status) {
        status = apply_options(reader, options, error);
    }
    if (!status) {
        status = open_source(reader, error);
    }
    if (status) {
        trellis_reader_close(reader);
        return status;
    }
    if (reader->format == &tr_format_jsonl) {
        /* The first object has the names of the columns, which the caller may need before reading
         * it. */
        reader->ahead_status = read_nonempty(reader, &reader->ahead_error);
        reader->ahead = true;
    }
    *ret_reader = reader;
    return TRELLIS_OK;
}

/* Whether the sequence read last is in a group that is wanted. */
static bool is_wanted(const trellis_reader *reader)
{
    bool same = reader->sequence.group == reader->source.group;
    return reader->source.groups == TRELLIS_ALL_GROUPS ||
           same == (reader->source.groups == TRELLIS_ONLY_GROUP);
}

/* The next sequence, which may have been read in advance. */
static trellis_status read_one(trellis_reader *reader, trellis_error *error)
{
    if (!reader->ahead) {
        return read_nonempty(reader, error);
    }
    reader->ahead = false;
    if (error && reader->ahead_status && reader->ahead_status != TRELLIS_END) {
        *error = reader->ahead_error;
    }
    return reader->ahead_status;
}

trellis_status trellis_reader_next(trellis_reader *reader, const trellis_sequence **ret_sequence,
                                   trellis_error *error)
{
    if (!TR_CLEAR(ret_sequence) || !reader) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status;
    do {
        status = reader->context ? tr_word_context_next(reader->context, reader, read_one,
                                                        &reader->sequence, error)
                                 : read_one(reader, error);
    } while (status == TRELLIS_OK && (!is_wanted(reader) || !tr_corpus_parts_take(&reader->parts)));
    if (status == TRELLIS_OK) {
        *ret_sequence = &reader->sequence;
    }
    return status;
}

uint64_t tr_token_line(const trellis_sequence *sequence, size_t token)
{
    if (!sequence->rows || !sequence->row_token) {
        return sequence->line + token;
    }
    for (size_t i = 0; i < sequence->row_count; i++) {
        if (sequence->row_token[i] == token) {
            return sequence->line + i;
        }
    }
    return sequence->line;
}

void trellis_reader_close(trellis_reader *reader)
{
    if (!reader) {
        return;
    }
    tr_input_close(reader->input);
    tr_word_context_destroy(reader->context);
    tr_names_free(&reader->names);
    tr_corpus_parts_free(&reader->parts);
    tr_buffer_free(&reader->unescaped);
    tr_corpus_view_free(&reader->view);
    json_decref(reader->json);
    free(reader->label);
    free(reader->lines.at);
    free(reader->cells.at);
    free(reader->labels.at);
    free(reader->breaks.at);
    free(reader->rows.at);
    free(reader->row_token.at);
    free(reader->attributes.at);
    free(reader->marks.words.at);
    free(reader->attribute_begin.at);
    free(reader);
}

const char *trellis_reader_column_name(const trellis_reader *reader, size_t column)
{
    if (!reader) {
        return NULL;
    }
    return tr_names_at(&reader->names, reader->format, column);
}

/* The names of --columns, or of sequences in memory; empty if one is missing or they are too
 * long. */
static void list_names(const trellis_reader *reader, size_t columns, char *text, size_t room)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < columns; i++) {
        const char *name = trellis_reader_column_name(reader, i);
        size_t size = name ? strlen(name) : 0;
        if (size == 0 || strchr(name, ',') || used + size + 2 > room) {
            text[0] = '\0';
            return;
        }
        if (i > 0) {
            text[used++] = ',';
        }
        memcpy(text + used, name, size + 1);
        used += size;
    }
}

void tr_reader_describe(const trellis_reader *reader, const trellis_sequence *sequence,
                        struct tr_input_shape *ret_shape)
{
    bool in_memory = reader->format == &tr_format_corpus || reader->format == &tr_format_function;
    *ret_shape = (struct tr_input_shape){
        .format = !in_memory          ? reader->format->name
                  : sequence->columns ? tr_format_columns.name
                                      : tr_format_crfsuite.name,
        .columns = sequence->columns,
        .label = reader->label_column < sequence->columns ? reader->label_column + 1 : 0,
        .by_tab = reader->by_tab,
    };
    if (strcmp(ret_shape->format, tr_format_columns.name) == 0) {
        list_names(reader, sequence->columns, ret_shape->names, sizeof ret_shape->names);
    } else if (ret_shape->label) {
        const char *name = trellis_reader_column_name(reader, reader->label_column);
        snprintf(ret_shape->label_name, sizeof ret_shape->label_name, "%s", name ? name : "");
    }
}

void tr_reader_take_all(trellis_reader *reader)
{
    tr_corpus_parts_free(&reader->parts);
}

size_t trellis_reader_label_column(const trellis_reader *reader)
{
    return reader ? reader->label_column : TR_NO_COLUMN;
}

const char *trellis_format_by_name(const char *path)
{
    if (!path) {
        return NULL;
    }
    return tr_format_find("auto", path)->name;
}
