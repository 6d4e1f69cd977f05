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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    trellis_options *options = options_of(data[0]);
    struct memory_file file = memory_file(data + 1, size - 1);
    struct tr_buffer out = {0};
    trellis_reader *reader = NULL;
    trellis_writer *writer = NULL;
    const trellis_sequence *sequence;
    size_t sum = 0;
    if (!trellis_reader_open(file.path, options, &reader, NULL) &&
        !trellis_writer_create(options, to_buffer, &out, &writer, NULL)) {
        while (!trellis_reader_next(reader, &sequence, NULL)) {
            for (size_t i = 0; i < sequence->length * sequence->columns; i++) {
                sum += sequence->cells[i].size;
            }
            trellis_writer_put(writer, sequence, sequence->labels, NULL);
        }
        trellis_writer_finish(writer, NULL);
    }
    trellis_writer_destroy(writer);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    tr_buffer_free(&out);
    close(file.number);
    return sum == SIZE_MAX; // so that the cells are read
}
