/* reader_batch.c - whole sequences of one reader, for other threads to read.
 *
 *     reader --whole lines of some sequences--> batch --lines, cells--> sequences
 *
 * Taking lines costs little more than copying them; splitting them is left to the batch. That needs
 * a format in which a blank line ends a sequence, and in which later sequences depend on the first
 * one only, for the number of columns and the place of the label.
 */
#include "corpus/reader.h"

trellis_status trellis_reader_open_batch(const trellis_reader *reader, trellis_reader **ret_batch,
                                         trellis_error *error)
{
    if (!TR_CLEAR(ret_batch) || !reader) {
        return tr_fail_null(error, __func__);
    }
    if (!reader->input || !reader->format->by_blank_lines || reader->context ||
        reader->parts.list.size || reader->source.groups != TRELLIS_ALL_GROUPS) {
        return tr_fail(error, TRELLIS_OPTION,
                       "only the formats columns, conllu and crfsuite can be read in batches, and "
                       "without --context and --part");
    }
    trellis_reader *batch = tr_alloc(1, sizeof *batch);
    if (!batch) {
        return tr_fail_memory(error);
    }
    batch->format = reader->format;
    batch->by_tab = reader->by_tab;
    batch->keep_invalid = reader->keep_invalid;
    batch->limits = reader->limits;
    batch->started = true;
    batch->label = tr_copy_text(reader->label, strlen(reader->label));
    trellis_status status = batch->label ? tr_input_open_empty(tr_input_path(reader->input),
                                                               &batch->input, error)
                                         : tr_fail_memory(error);
    if (status) {
        trellis_reader_close(batch);
        return status;
    }
    *ret_batch = batch;
    return TRELLIS_OK;
}

trellis_status trellis_reader_take_batch(trellis_reader *reader, size_t bytes,
                                         trellis_reader *batch, trellis_error *error)
{
    if (!reader || !batch) {
        return tr_fail_null(error, __func__);
    }
    if (!reader->started || !batch->input || batch->format != reader->format) {
        return tr_fail(error, TRELLIS_OPTION,
                       "a batch is filled by the reader that it was opened for, which has read a "
                       "sequence");
    }
    batch->columns = reader->columns;
    batch->columns_line = reader->columns_line;
    batch->label_column = reader->label_column;
    return tr_input_take(reader->input, bytes ? bytes : 1, reader->format->comment, batch->input,
                         error);
}
