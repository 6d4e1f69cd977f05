/* plaintext.c - running text, a sequence per line, for tagging: words are what stands between blanks.
 *
 * A tokenizer that knows punctuation would take the place of next_word().
 */
#include "corpus/reader.h"

static const char *const names[] = {"word"};

/* The next word at or after *at; false where there is none. */
static bool next_word(trellis_text line, size_t *at, trellis_text *word)
{
    while (*at < line.size && tr_is_blank(line.data[*at])) {
        ++*at;
    }
    size_t begin = *at;
    while (*at < line.size && !tr_is_blank(line.data[*at])) {
        ++*at;
    }
    *word = (trellis_text){line.data + begin, *at - begin};
    return word->size > 0;
}

static trellis_status read_text(trellis_reader *reader, trellis_error *error)
{
    trellis_status status = tr_take_line(reader, error);
    if (!status) {
        status = tr_settle(reader, error);
    }
    if (status) {
        return status;
    }
    reader->cells.size = 0;
    trellis_text word, line = tr_line(reader, 0);
    for (size_t at = 0; next_word(line, &at, &word);) {
        if (!tr_push(&reader->cells, word)) {
            return tr_fail_memory(error);
        }
    }
    trellis_sequence *sequence = &reader->sequence;
    sequence->length = reader->cells.size;
    sequence->columns = reader->columns = TR_COUNT(names);
    sequence->cells = reader->cells.at;
    sequence->line = reader->first_line;
    return TRELLIS_OK;
}

const struct tr_format tr_format_text = {
    .name = "text", .read = read_text, .names = names, .name_count = TR_COUNT(names)};
