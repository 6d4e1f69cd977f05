/* stream.c - tags a whole file: reader -> tagger -> writer, one sequence at a time.
 *
 * Only one sequence is in memory, however large the file is. The predicted label is appended as the
 * last column; the first lines of the result are shown.
 */
#include <stdio.h>

#include <trellis.h>

/* Receives the output of the writer. Any status other than TRELLIS_OK stops it. */
struct output {
    FILE *file;
    size_t lines_left; // to be shown
};

static trellis_status show(void *user, const char *data, size_t size)
{
    struct output *output = user;
    for (size_t i = 0; i < size && output->lines_left > 0; i++) {
        if (putc(data[i], output->file) == EOF) {
            return TRELLIS_IO;
        }
        output->lines_left -= data[i] == '\n';
    }
    return TRELLIS_OK;
}

/* Tags all sequences of the reader, which ends with TRELLIS_END. */
static trellis_status tag_all(trellis_reader *reader, trellis_tagger *tagger,
                              trellis_writer *writer, size_t *ret_tokens, trellis_error *error)
{
    const trellis_sequence *sequence; // belongs to the reader, until the next call
    const trellis_text *labels;       // belongs to the tagger, until the next call
    trellis_status status = trellis_tagger_bind(tagger, reader, error);
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        status = trellis_tagger_tag(tagger, sequence, &labels, error);
        if (!status) {
            status = trellis_writer_put(writer, sequence, labels, error);
        }
        *ret_tokens += sequence->length;
    }
    return status == TRELLIS_END ? trellis_writer_finish(writer, error) : status;
}

int main(void)
{
    const char *train_file = "data/english/train.conll", *file = "data/english/test.conll";
    trellis_error error = {0};
    trellis_options *options = NULL;
    trellis_model *model = NULL;
    trellis_reader *reader = NULL;
    trellis_tagger *tagger = NULL;
    trellis_writer *writer = NULL;
    struct output output = {stdout, 8};
    size_t tokens = 0;

    trellis_status status = trellis_options_create(&options, &error);
    if (!status) {
        status = trellis_options_set(options, "label", "2", &error); // the part of speech
    }
    if (!status) {
        status = trellis_options_set(options, "epochs", "3", &error);
    }
    if (!status) {
        status = trellis_train_files(options, &train_file, 1, NULL, NULL, &model, &error);
    }
    if (!status) {
        status = trellis_reader_open(file, options, &reader, &error);
    }
    if (!status) {
        status = trellis_tagger_create(model, options, &tagger, &error);
    }
    if (!status) {
        status = trellis_writer_create(options, show, &output, &writer, &error);
    }
    if (!status) {
        status = tag_all(reader, tagger, writer, &tokens, &error);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("... %zu tokens in total\n", tokens);
    }
    trellis_writer_destroy(writer);
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    trellis_model_close(model);
    trellis_options_destroy(options);
    return status ? 1 : 0;
}
