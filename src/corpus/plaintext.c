/* plaintext.c - running text, a sequence per sentence; tokenize.c finds words and sentence ends.
 *
 * Lines are taken up to the first one that ends a sentence, or to a blank line. Such a passage is
 * then split, one sentence at a time; what is left of it is reader->lines.at[0], line ends
 * included:
 *
 *     input --lines--> passage --tr_prose_next()--> a sentence's words
 */
#include "corpus/reader.h"
#include "corpus/tokenize.h"

static const char *const names[] = {"word"};

/* Takes lines until they end a sentence. */
static trellis_status take_lines(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = tr_take_line(reader, error);
    while (status == TRELLIS_OK) {
        struct tr_slice slice = reader->lines.at[reader->lines.size - 1];
        trellis_text line = {tr_input_base(reader->input) + slice.begin, slice.size};
        if (tr_is_blank_line(line) || tr_prose_ends_line(reader->tokenizer, line)) {
            return TRELLIS_OK;
        }
        status = tr_input_hold(reader->input, &slice.begin, &slice.size, error);
        if (status == TRELLIS_OK && !tr_push(&reader->lines, slice)) {
            status = tr_fail_memory(error);
        }
    }
    return status == TRELLIS_END && reader->lines.size > 0 ? TRELLIS_OK : status;
}

static trellis_status take_passage(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = take_lines(reader, error);
    if (!status) {
        status = tr_fix_lines(reader, error);
    }
    if (status) {
        reader->lines.size = 0;
        return status;
    }
    struct tr_slice *first = reader->lines.at, last = first[reader->lines.size - 1];
    first->size = last.begin + last.size - first->begin;
    reader->lines.size = 1;
    if (reader->tokenizer == TR_TOKENIZE_UNICODE) {
        reader->breaks.size = first->size;
        if (!tr_reserve(&reader->breaks, first->size + 1)) {
            reader->lines.size = 0;
            return tr_fail_memory(error);
        }
        tr_unicode_breaks(tr_line(reader, 0), reader->breaks.at);
    }
    return TRELLIS_OK;
}

/* Removes the first bytes of the passage and counts their lines. */
static void consume(trellis_reader *reader, size_t size)
{
    struct tr_slice *left = reader->lines.at;
    const char *at = reader->base + left->begin, *end = at + size;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        at++;
        reader->first_line++;
    }
    left->begin += size;
    left->size -= size;
}

/* The sentence as it is in the text is a row that is not a token. */
static bool keep_sentence(trellis_reader *reader, trellis_text sentence)
{
    if (!tr_reserve(&reader->rows, 1) || !tr_reserve(&reader->row_token, 1)) {
        return false;
    }
    reader->rows.at[0] = sentence;
    reader->row_token.at[0] = SIZE_MAX;
    reader->sequence.rows = reader->rows.at;
    reader->sequence.row_token = reader->row_token.at;
    reader->sequence.row_count = 1;
    return true;
}

static trellis_status read_text(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = reader->lines.size ? TRELLIS_OK : take_passage(reader, error);
    if (status) {
        return status;
    }
    trellis_sequence *sequence = &reader->sequence;
    struct tr_prose prose = {.tokenizer = reader->tokenizer, .text = tr_line(reader, 0)};
    if (reader->tokenizer == TR_TOKENIZE_UNICODE) { // what is left is the end of the passage
        prose.breaks = reader->breaks.at + (reader->breaks.size - prose.text.size);
    }
    struct tr_token token = {0};
    reader->cells.size = 0;
    while (!token.last && tr_prose_next(&prose, &token)) {
        if (!tr_push(&reader->cells, token.text)) {
            return tr_fail_memory(error);
        }
    }
    size_t begin = reader->cells.size ? (size_t)(reader->cells.at[0].data - prose.text.data) : 0;
    consume(reader, begin);
    sequence->line = reader->first_line;
    consume(reader, prose.at - begin);
    if (reader->cells.size == 0 || prose.at == prose.text.size) {
        reader->lines.size = 0;
    }
    sequence->length = reader->cells.size;
    sequence->columns = reader->columns = TR_COUNT(names);
    sequence->cells = reader->cells.at;
    trellis_text sentence = {prose.text.data + begin, prose.at - begin};
    return keep_sentence(reader, sentence) ? TRELLIS_OK : tr_fail_memory(error);
}

const struct tr_format tr_format_text = {
    .name = "text", .read = read_text, .names = names, .name_count = TR_COUNT(names)};
