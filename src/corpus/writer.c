/* writer.c - writes sequences to a sink in the chosen format.
 *
 *     sequence --format--> buffer --after a sequence, once it has 64 KiB--> sink
 *
 * The sink gets whole sequences only: one that cannot be written leaves nothing behind. If a
 * sequence has the rows it was read from, in the format that is written, they are copied with the
 * new label; else the rows are made from its cells. The formats are in write_rows.c, write_lines.c
 * and write_json.c.
 */
#include "corpus/writer.h"

#include "base/options.h"
#include "base/structs.h"
#include "corpus/conllu.h"

enum { FLUSH_SIZE = 1 << 16 };

static const struct {
    const char *name;
    tr_put_function put;
} outputs[] = {
    {"columns", tr_put_columns}, {"conllu", tr_put_conllu}, {"crfsuite", tr_put_crfsuite},
    {"wordtag", tr_put_wordtag}, {"jsonl", tr_put_jsonl},   {"labels", tr_put_labels},
    {"inline", tr_put_inline},
};

/* Finds the format; 'same' is that of the input. Running text has no labels, so it becomes
 * columns. */
static void choose_output(trellis_writer *writer, const char *wanted)
{
    if (strcmp(wanted, "same") == 0) {
        wanted = writer->input->name;
    }
    size_t found = 0;
    for (size_t i = 0; i < TR_COUNT(outputs); i++) {
        found = strcmp(outputs[i].name, wanted) == 0 ? i : found;
    }
    writer->format = outputs[found].name;
    writer->put = outputs[found].put;
    writer->same = strcmp(writer->format, writer->input->name) == 0;
}

/* The column of CoNLL-U that --label names; UPOS if it names none. */
static size_t conllu_label(const char *label)
{
    static const struct tr_names nothing = {0};
    int64_t number;
    size_t column = tr_names_find(&nothing, &tr_format_conllu, tr_text(label));
    if (column == TR_NO_COLUMN && tr_text_integer(tr_text(label), &number) && number > 0 &&
        number <= TR_CONLLU_COLUMNS) {
        column = (size_t)number - 1;
    }
    return column == TR_NO_COLUMN ? TR_CONLLU_UPOS : column;
}

trellis_status trellis_writer_create(const trellis_options *options, trellis_sink sink, void *user,
                                     trellis_writer **ret_writer, trellis_error *error)
{
    if (!TR_CLEAR(ret_writer) || !sink) {
        return tr_fail_null(error, __func__);
    }
    trellis_writer *writer = tr_alloc(1, sizeof *writer);
    if (!writer || !tr_names_parse(&writer->names, tr_option_text(options, "columns"))) {
        trellis_writer_destroy(writer);
        return tr_fail_memory(error);
    }
    writer->sink = sink;
    writer->user = user;
    writer->input = tr_format_find(tr_option_text(options, "format"), NULL);
    writer->by_tab = tr_option_is(options, "separator", "tab");
    writer->label_column = conllu_label(tr_option_text(options, "label"));
    choose_output(writer, tr_option_text(options, "output-format"));
    *ret_writer = writer;
    return TRELLIS_OK;
}

void trellis_writer_destroy(trellis_writer *writer)
{
    if (!writer) {
        return;
    }
    tr_names_free(&writer->names);
    tr_buffer_free(&writer->buffer);
    tr_buffer_free(&writer->text);
    free(writer->offsets.at);
    free(writer);
}

static trellis_status put(trellis_writer *writer, const trellis_sequence *given,
                          const trellis_text *labels, trellis_error *error)
{
    size_t before = writer->buffer.size;
    trellis_sequence sequence;
    trellis_status status = tr_sequence_take(given, &sequence, error);
    if (!status) {
        status = writer->put(writer, &sequence, labels, error);
    }
    if (!status && writer->buffer.failed) {
        status = tr_fail_memory(error);
    }
    if (status) {
        writer->buffer.size = before;
        writer->buffer.failed = false;
        return status;
    }
    return writer->buffer.size >= FLUSH_SIZE ? trellis_writer_finish(writer, error) : TRELLIS_OK;
}

trellis_status trellis_writer_put(trellis_writer *writer, const trellis_sequence *sequence,
                                  const trellis_text *labels, trellis_error *error)
{
    if (!writer || !sequence) {
        return tr_fail_null(error, __func__);
    }
    writer->annotated = false;
    return put(writer, sequence, labels, error);
}

trellis_status trellis_writer_put_tagged(trellis_writer *writer, const trellis_sequence *sequence,
                                         const trellis_annotation *annotation, trellis_error *error)
{
    if (!writer || !sequence || !annotation) {
        return tr_fail_null(error, __func__);
    }
    writer->annotated = true;
    if (!tr_struct_take(&writer->annotation, sizeof writer->annotation, annotation)) {
        return tr_fail(error, TRELLIS_OPTION, "struct_size is not set");
    }
    return put(writer, sequence, writer->annotation.labels, error);
}

trellis_status trellis_writer_finish(trellis_writer *writer, trellis_error *error)
{
    if (!writer) {
        return tr_fail_null(error, __func__);
    }
    return tr_buffer_flush(&writer->buffer, writer->sink, writer->user, error);
}

/* ---- what the formats share ------------------------------------------------------------------ */

trellis_status tr_cannot_hold(const trellis_writer *writer, const trellis_sequence *sequence,
                              trellis_text text, trellis_error *error)
{
    return tr_fail(error, TRELLIS_DATA,
                   "the format '%s' cannot represent the text '%.*s' of the sequence at line %llu",
                   writer->format, TR_SHOW(text), (unsigned long long)sequence->line);
}

trellis_status tr_put_escaped(trellis_writer *writer, const trellis_sequence *sequence,
                              trellis_text text, const char *forbidden, const char *escaped,
                              trellis_error *error)
{
    struct tr_characters set = tr_characters(escaped);
    if (!tr_has_any(text, set)) {
        return tr_put_text(writer, sequence, text, forbidden, error);
    }
    if (tr_has_any(text, tr_characters(forbidden))) {
        return tr_cannot_hold(writer, sequence, text, error);
    }
    for (size_t i = 0; i < text.size; i++) {
        if (tr_is_one_of(text.data[i], set)) {
            tr_buffer_char(&writer->buffer, '\\');
        }
        tr_buffer_char(&writer->buffer, text.data[i]);
    }
    return TRELLIS_OK;
}

void tr_put_rows(trellis_writer *writer, const trellis_sequence *sequence)
{
    for (size_t i = 0; i < sequence->row_count; i++) {
        tr_buffer_text(&writer->buffer, sequence->rows[i]);
        tr_buffer_char(&writer->buffer, '\n');
    }
}

bool tr_has_rows(const trellis_writer *writer, const trellis_sequence *sequence)
{
    return writer->same && sequence->rows && sequence->row_token && sequence->row_count;
}

trellis_status tr_word_column(const trellis_writer *writer, const trellis_sequence *sequence,
                              size_t *ret_column, trellis_error *error)
{
    *ret_column = 0;
    if (sequence->columns == 0) {
        return tr_fail(error, TRELLIS_DATA,
                       "the sequence at line %llu has attributes but no words, which the format "
                       "'%s' needs",
                       (unsigned long long)sequence->line, writer->format);
    }
    size_t column = tr_names_word(&writer->names, writer->input, TR_NO_COLUMN);
    if (column < sequence->columns) {
        *ret_column = column;
    }
    return TRELLIS_OK;
}

size_t tr_gold_column(const trellis_sequence *sequence)
{
    /* A reader returns the same slice as cell and as label. */
    for (size_t c = 0; sequence->labels && sequence->length && c < sequence->columns; c++) {
        if (sequence->cells[c].data == sequence->labels[0].data) {
            return c;
        }
    }
    return TR_NO_COLUMN;
}
