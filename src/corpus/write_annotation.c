/* write_annotation.c - what is known of a tagged sequence, as members of its JSON object.
 *
 *     "text":     what the character offsets are counted in: the running text, the comment "# text ="
 *                 of CoNLL-U or the member "text" if all tokens are found in it one after the
 *                 other, else the tokens with a blank between them
 *     "offsets":  [begin, end) of each token in it, in characters (code points)
 *     "spans", "marginals", "all_marginals", "nbest"
 */
#include <math.h>

#include "base/utf8.h"
#include "corpus/json.h"
#include "corpus/writer.h"

/* ---- where the tokens are in the text -------------------------------------------------------- */

/* Finds a token at or after *at with nothing but blanks before it. */
static bool find_token(trellis_text text, trellis_text token, size_t *at, size_t *ret_begin)
{
    while (*at < text.size) {
        size_t next = *at;
        if (tr_utf8_class(tr_utf8_next(text, &next)) != TR_SPACE && text.data[*at] != '\n' &&
            text.data[*at] != '\t' && text.data[*at] != '\r') {
            break;
        }
        *at = next;
    }
    if (token.size > text.size - *at || memcmp(text.data + *at, token.data, token.size) != 0) {
        return false;
    }
    *ret_begin = *at;
    *at += token.size;
    return true;
}

/* Fills in the offsets of all tokens, in characters; false if they are not all there. */
static bool align(trellis_text text, const trellis_sequence *sequence, size_t word,
                  struct tr_text_offset *offsets)
{
    size_t at = 0, counted = 0, characters = 0;
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text token = tr_cell(sequence, i, word);
        size_t begin;
        if (!find_token(text, token, &at, &begin)) {
            return false;
        }
        characters += tr_utf8_length((trellis_text){text.data + counted, begin - counted});
        offsets[i].begin = characters;
        characters += tr_utf8_length(token);
        offsets[i].end = characters;
        counted = at;
    }
    return true;
}

/* The text of a comment "# text = ..." among the rows; else of the only row, if that is no token
 * (running text, or a JSON object, which is no text). */
static trellis_text given_text(const trellis_sequence *sequence)
{
    static const char key[] = "# text = ";
    for (size_t i = 0; sequence->rows && sequence->row_token && i < sequence->row_count; i++) {
        trellis_text row = sequence->rows[i];
        if (sequence->row_token[i] == SIZE_MAX && tr_text_begins(row, key)) {
            return (trellis_text){row.data + strlen(key), row.size - strlen(key)};
        }
    }
    bool single = sequence->rows && sequence->row_token && sequence->row_count == 1 &&
                  sequence->row_token[0] == SIZE_MAX;
    return single ? sequence->rows[0] : (trellis_text){0};
}

/* Tokens joined by blanks. */
static void join(struct tr_buffer *text, const trellis_sequence *sequence, size_t word,
                 struct tr_text_offset *offsets)
{
    size_t characters = 0;
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text token = tr_cell(sequence, i, word);
        if (i) {
            tr_buffer_char(text, ' ');
            characters++;
        }
        offsets[i].begin = characters;
        characters += tr_utf8_length(token);
        offsets[i].end = characters;
        tr_buffer_text(text, token);
    }
}

bool tr_find_text(trellis_writer *writer, const trellis_sequence *sequence, size_t word,
                  trellis_text own)
{
    if (!tr_reserve(&writer->offsets, sequence->length)) {
        return false;
    }
    writer->text.size = 0;
    trellis_text text = own.data ? own : given_text(sequence);
    writer->aligned = text.data && align(text, sequence, word, writer->offsets.at);
    if (writer->aligned) {
        tr_buffer_text(&writer->text, text);
    } else if (!own.data) {
        join(&writer->text, sequence, word, writer->offsets.at);
        writer->aligned = true;
    }
    return !writer->text.failed;
}

/* ---- members --------------------------------------------------------------------------------- */

static void put_member(trellis_writer *writer, const char *key)
{
    tr_buffer_char(&writer->buffer, ',');
    tr_buffer_json(&writer->buffer, tr_text(key));
    tr_buffer_char(&writer->buffer, ':');
}

/* Probabilities have six digits behind the point at most; a score may be infinite. */
static void put_number(struct tr_buffer *buffer, double value)
{
    if (isfinite(value)) {
        tr_buffer_format(buffer, "%.6g", value);
    } else {
        tr_buffer_string(buffer, "null");
    }
}

static void put_offsets(trellis_writer *writer, size_t length)
{
    struct tr_buffer *buffer = &writer->buffer;
    put_member(writer, "offsets");
    for (size_t i = 0; i < length; i++) {
        struct tr_text_offset offset = writer->offsets.at[i];
        tr_buffer_format(buffer, "%s[%zu,%zu]", i ? "," : "[", offset.begin, offset.end);
    }
    tr_buffer_string(buffer, length ? "]" : "[]");
}

/* The part of the text from one character to another. */
static trellis_text text_between(const trellis_writer *writer, size_t begin, size_t end)
{
    trellis_text all = {writer->text.data, writer->text.size}, before, whole;
    if (!tr_utf8_prefix(all, begin, &before) || !tr_utf8_prefix(all, end, &whole)) {
        return (trellis_text){"", 0};
    }
    return (trellis_text){whole.data + before.size, whole.size - before.size};
}

static void put_span(trellis_writer *writer, const trellis_annotation *annotation, size_t index)
{
    struct tr_buffer *buffer = &writer->buffer;
    trellis_span span = annotation->spans[index];
    tr_buffer_string(buffer, index ? ",{\"type\":" : "{\"type\":");
    tr_buffer_json(buffer, span.type);
    tr_buffer_format(buffer, ",\"start\":%zu,\"end\":%zu", span.begin, span.end);
    if (writer->aligned) {
        size_t begin = writer->offsets.at[span.begin].begin;
        size_t end = writer->offsets.at[span.end - 1].end;
        tr_buffer_format(buffer, ",\"start_char\":%zu,\"end_char\":%zu,\"text\":", begin, end);
        tr_buffer_json(buffer, text_between(writer, begin, end));
    }
    if (annotation->span_probabilities) {
        tr_buffer_string(buffer, ",\"probability\":");
        put_number(buffer, annotation->span_probabilities[index]);
    }
    tr_buffer_char(buffer, '}');
}

static void put_spans(trellis_writer *writer, const trellis_annotation *annotation)
{
    put_member(writer, "spans");
    tr_buffer_char(&writer->buffer, '[');
    for (size_t i = 0; i < annotation->span_count; i++) {
        put_span(writer, annotation, i);
    }
    tr_buffer_char(&writer->buffer, ']');
}

static void put_marginals(trellis_writer *writer, const float *marginals, size_t length)
{
    put_member(writer, "marginals");
    tr_buffer_char(&writer->buffer, '[');
    for (size_t i = 0; i < length; i++) {
        tr_buffer_string(&writer->buffer, i ? "," : "");
        put_number(&writer->buffer, (double)marginals[i]);
    }
    tr_buffer_char(&writer->buffer, ']');
}

static void put_all_marginals(trellis_writer *writer, const trellis_annotation *annotation,
                              size_t length)
{
    struct tr_buffer *buffer = &writer->buffer;
    const float *marginal = annotation->all_marginals;
    put_member(writer, "all_marginals");
    tr_buffer_char(buffer, '[');
    for (size_t i = 0; i < length; i++) {
        tr_buffer_string(buffer, i ? ",{" : "{");
        for (size_t k = 0; k < annotation->label_count; k++) {
            tr_buffer_string(buffer, k ? "," : "");
            tr_buffer_json(buffer, annotation->label_names[k]);
            tr_buffer_char(buffer, ':');
            put_number(buffer, (double)*marginal++);
        }
        tr_buffer_char(buffer, '}');
    }
    tr_buffer_char(buffer, ']');
}

static void put_nbest(trellis_writer *writer, const trellis_annotation *annotation, size_t length)
{
    struct tr_buffer *buffer = &writer->buffer;
    put_member(writer, "nbest");
    tr_buffer_char(buffer, '[');
    for (size_t k = 0; k < annotation->nbest_count; k++) {
        tr_buffer_string(buffer, k ? ",{\"labels\":" : "{\"labels\":");
        tr_put_json_array(buffer, annotation->nbest_labels + k * length, 1, length);
        tr_buffer_string(buffer, ",\"score\":");
        put_number(buffer, annotation->nbest_scores[k]);
        if (annotation->nbest_probabilities) {
            tr_buffer_string(buffer, ",\"probability\":");
            put_number(buffer, annotation->nbest_probabilities[k]);
        }
        tr_buffer_char(buffer, '}');
    }
    tr_buffer_char(buffer, ']');
}

void tr_put_annotation(trellis_writer *writer, const trellis_sequence *sequence, bool has_text)
{
    const trellis_annotation *annotation = &writer->annotation;
    if (writer->aligned && !has_text) {
        put_member(writer, "text");
        tr_buffer_json(&writer->buffer, (trellis_text){writer->text.data, writer->text.size});
    }
    if (writer->aligned) {
        put_offsets(writer, sequence->length);
    }
    if (annotation->spans) {
        put_spans(writer, annotation);
    }
    if (annotation->marginals) {
        put_marginals(writer, annotation->marginals, sequence->length);
    }
    if (annotation->all_marginals) {
        put_all_marginals(writer, annotation, sequence->length);
    }
    if (annotation->nbest_labels) {
        put_nbest(writer, annotation, sequence->length);
    }
}
