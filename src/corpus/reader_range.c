/* reader_range.c - the sequences of a part of a file.
 *
 * A blank line ends a sequence, and later sequences depend on the first one only, for the number of
 * columns and the place of the label (reader_batch.c). So a reader that has read the first sequence can
 * go on wherever a sequence begins: behind a blank line that ends one.
 */
#include "corpus/reader.h"

uint64_t tr_reader_size(const trellis_reader *reader)
{
    bool by_parts = reader->input && reader->format->by_blank_lines && !reader->context &&
                    reader->parts.list.size == 0 && reader->source.groups == TRELLIS_ALL_GROUPS;
    return by_parts ? tr_input_size(reader->input) : 0;
}

uint64_t tr_reader_offset(const trellis_reader *reader, uint64_t *ret_lines)
{
    *ret_lines = tr_input_place(reader->input).line;
    return tr_input_offset(reader->input);
}

trellis_status tr_reader_find_start(trellis_reader *reader, uint64_t from, uint64_t *ret_begin,
                                    trellis_error *error)
{
    char comment = reader->format->comment;
    bool complete = false; // a line of a sequence was seen, which a blank line ends
    trellis_text line;
    *ret_begin = 0;
    if (from == 0) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_input_seek(reader->input, from, UINT64_MAX, 0, error);
    if (!status) {
        status = tr_input_line(reader->input, &line, error); // may be the rest of one
    }
    while (!status && !(status = tr_input_line(reader->input, &line, error))) {
        bool blank = tr_is_blank_line(line);
        if (blank && complete) {
            break;
        }
        complete |= !blank && (!comment || line.data[0] != comment);
    }
    *ret_begin = tr_input_offset(reader->input);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

trellis_status tr_reader_take_range(trellis_reader *reader, uint64_t begin, uint64_t end,
                                    uint64_t line, trellis_error *error)
{
    tr_input_release(reader->input);
    reader->started = begin > 0; // a byte-order mark may be ahead
    return tr_input_seek(reader->input, begin, end, line, error);
}
