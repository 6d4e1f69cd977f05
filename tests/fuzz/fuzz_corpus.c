/* fuzz_corpus.c - any bytes as a corpus. The first byte selects the format, and whether it is
 * written in another one. */
#include "base/text.h"
#include "fuzz/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static trellis_status to_buffer(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

static const char *const formats[] = {"columns", "conllu", "crfsuite", "wordtag", "jsonl", "text"};

static trellis_options *options_of(uint8_t choice)
{
    trellis_options *options;
    if (trellis_options_create(&options, NULL) ||
        trellis_options_set(options, "format", formats[choice % TR_COUNT(formats)], NULL) ||
        trellis_options_set(options, "output-format", choice & 64 ? "jsonl" : "same", NULL) ||
        trellis_options_set(options, "invalid-utf8", choice & 128 ? "keep" : "error", NULL)) {
        abort();
    }
    return options;
}

struct copied {
    struct tr_buffer text; // what was written
    size_t sum;            // of the sizes of cells, so that they are read
    uint64_t line;         // of the error that ended it
};

/* Writes the sequences that are left; with `once`, the next one. */
static trellis_status copy(trellis_reader *reader, trellis_writer *writer, bool once,
                           struct copied *copied)
{
    const trellis_sequence *sequence;
    trellis_error error = {0};
    trellis_status status;
    while (!(status = trellis_reader_next(reader, &sequence, &error))) {
        for (size_t i = 0; i < sequence->length * sequence->columns; i++) {
            copied->sum += sequence->cells[i].size;
        }
        trellis_writer_put(writer, sequence, sequence->labels, NULL);
        if (once) {
            break;
        }
    }
    copied->line = error.line;
    return status;
}

/* Reads what is behind the first sequence in batches of `bytes`, if that is not 0 and the format
 * allows it. */
static trellis_status copy_file(const char *path, const trellis_options *options, size_t bytes,
                                struct copied *copied)
{
    trellis_reader *reader = NULL, *batch = NULL;
    trellis_writer *writer = NULL;
    trellis_error error = {0};
    trellis_status status = trellis_reader_open(path, options, &reader, NULL);
    if (!status) {
        status = trellis_writer_create(options, to_buffer, &copied->text, &writer, NULL);
    }
    if (!status) {
        status = copy(reader, writer, bytes, copied);
    }
    bool batches = !status && bytes && !trellis_reader_open_batch(reader, &batch, NULL);
    while (!status && batches) {
        status = trellis_reader_take_batch(reader, bytes, batch, &error);
        copied->line = error.line;
        if (!status) {
            status = copy(batch, writer, false, copied);
            status = status == TRELLIS_END ? TRELLIS_OK : status;
        }
    }
    if (!status) {
        status = copy(reader, writer, false, copied);
    }
    if (writer) {
        trellis_writer_finish(writer, NULL);
    }
    trellis_writer_destroy(writer);
    trellis_reader_close(batch);
    trellis_reader_close(reader);
    return status;
}

/* In batches the same is read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    trellis_options *options = options_of(data[0]);
    struct memory_file file = memory_file(data + 1, size - 1);
    struct copied all = {0}, parts = {0};
    trellis_status status = copy_file(file.path, options, 0, &all);
    size_t bytes = 1 + size / 7;
    if (copy_file(file.path, options, bytes, &parts) != status || parts.line != all.line ||
        parts.text.size != all.text.size ||
        (all.text.size && memcmp(parts.text.data, all.text.data, all.text.size) != 0)) {
        abort();
    }
    trellis_options_destroy(options);
    tr_buffer_free(&all.text);
    tr_buffer_free(&parts.text);
    close(file.number);
    return all.sum == SIZE_MAX;
}
