/* write_lines.c - writes the formats with a sequence per line: wordtag, and inline for people.
 *
 *     wordtag    the/DT chicken/NN crossed/VBD
 *     inline     [NP the chicken] [VP crossed] the road      if the labels mark spans,
 *                the/DT chicken/NN crossed/VBD               else
 */
#include "corpus/writer.h"

#define LINE_ENDS "\r\n"

static trellis_status put_word(trellis_writer *writer, const trellis_sequence *sequence,
                               trellis_text word, trellis_error *error)
{
    return word.size ? tr_put_escaped(writer, sequence, word, LINE_ENDS, "/\\ \t", error)
                     : tr_cannot_hold(writer, sequence, word, error);
}

/* word/TAG, or only the words if there are no labels */
static trellis_status put_tagged(trellis_writer *writer, const trellis_sequence *sequence,
                                 const trellis_text *labels, trellis_error *error)
{
    size_t column;
    trellis_status status = tr_word_column(writer, sequence, &column, error);
    for (size_t i = 0; !status && i < sequence->length; i++) {
        if (i) {
            tr_buffer_char(&writer->buffer, ' ');
        }
        status = put_word(writer, sequence, tr_cell(sequence, i, column), error);
        if (!status && labels) {
            tr_buffer_char(&writer->buffer, '/');
            status = put_word(writer, sequence, labels[i], error);
        }
    }
    tr_buffer_char(&writer->buffer, '\n');
    return status;
}

trellis_status tr_put_wordtag(trellis_writer *writer, const trellis_sequence *sequence,
                              const trellis_text *labels, trellis_error *error)
{
    if (!labels && tr_has_rows(writer, sequence)) {
        tr_put_rows(writer, sequence);
        return TRELLIS_OK;
    }
    return put_tagged(writer, sequence, labels ? labels : sequence->labels, error);
}

static bool mark_spans(const trellis_text *labels, size_t length)
{
    bool all = labels != NULL;
    for (size_t i = 0; all && i < length; i++) {
        char letter;
        trellis_text type;
        all = tr_label_split(labels[i], &letter, &type);
    }
    return all;
}

/* Words, with brackets where spans begin and end. */
static trellis_status put_spans(trellis_writer *writer, const trellis_sequence *sequence,
                                const trellis_text *labels, trellis_error *error)
{
    size_t column;
    trellis_status status = tr_word_column(writer, sequence, &column, error);
    char before = 'O', letter = 'O';
    trellis_text type_before = {"", 0}, type = {"", 0};
    for (size_t i = 0; !status && i < sequence->length; i++) {
        tr_label_split(labels[i], &letter, &type);
        if (tr_span_ends(before, type_before, letter, type)) {
            tr_buffer_char(&writer->buffer, ']');
        }
        if (i) {
            tr_buffer_char(&writer->buffer, ' ');
        }
        if (tr_span_begins(before, type_before, letter, type)) {
            tr_buffer_char(&writer->buffer, '[');
            status = tr_put_text(writer, sequence, type, LINE_ENDS, error);
            tr_buffer_char(&writer->buffer, ' ');
        }
        if (!status) {
            status = tr_put_text(writer, sequence, tr_cell(sequence, i, column), LINE_ENDS, error);
        }
        before = letter;
        type_before = type;
    }
    tr_buffer_string(&writer->buffer, before == 'O' ? "\n" : "]\n");
    return status;
}

trellis_status tr_put_inline(trellis_writer *writer, const trellis_sequence *sequence,
                             const trellis_text *labels, trellis_error *error)
{
    labels = labels ? labels : sequence->labels;
    return mark_spans(labels, sequence->length) ? put_spans(writer, sequence, labels, error)
                                                : put_tagged(writer, sequence, labels, error);
}
