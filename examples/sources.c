/* sources.c - sequences from bytes, kept in a corpus, read back by name of column.
 *
 * The bytes stand for an upload: no file is opened. The corpus is then trained on, with a line for
 * each phase of the training.
 */
#include <stdio.h>
#include <string.h>

#include <trellis.h>

static const char upload[] = "the DT B\ncat NN I\nsleeps VBZ O\n\n"
                             "a DT B\ndog NN I\nbarks VBZ O\n\n";

/* Prints each phase once. */
static bool on_progress(void *user, const trellis_progress *progress)
{
    trellis_phase *last = user;
    if (progress->phase != *last && progress->phase != TRELLIS_PHASE_MESSAGE) {
        printf("%s\n", trellis_phase_name(progress->phase));
        *last = progress->phase;
    }
    return true;
}

/* Reads the corpus back. */
static trellis_status print_words(const trellis_source *source, trellis_error *error)
{
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    trellis_status status = trellis_reader_open_source(source, NULL, &reader, error);
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        printf("%s:", trellis_reader_column_name(reader, 0));
        for (size_t i = 0; i < sequence->length; i++) {
            trellis_text word = sequence->cells[i * sequence->columns];
            printf(" %.*s", (int)word.size, word.data);
        }
        printf("\n");
    }
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

int main(void)
{
    static const char *const names[] = {"word", "pos", "chunk"};
    trellis_error error = {0};
    trellis_corpus *corpus = NULL;
    trellis_model *model = NULL;
    trellis_phase last = TRELLIS_PHASE_MESSAGE;
    trellis_source bytes = {
        .struct_size = sizeof bytes, .data = upload, .data_size = strlen(upload), .name = "upload"};
    trellis_source memory = {.struct_size = sizeof memory};
    trellis_status status = trellis_corpus_create(&corpus, &error);
    if (!status) {
        status = trellis_corpus_name_columns(corpus, names, 3, &error);
    }
    if (!status) {
        status = trellis_corpus_read(corpus, &bytes, NULL, &error);
    }
    memory.corpus = corpus;
    if (!status) {
        status = print_words(&memory, &error);
    }
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &memory,
                                 .train_count = 1,
                                 .progress = on_progress,
                                 .user = &last};
    if (!status) {
        status = trellis_train(NULL, &training, &model, &error);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("trained on %zu sequences, with up to %u threads\n",
               trellis_corpus_sequences(corpus), (unsigned)trellis_processor_count());
    }
    trellis_model_close(model);
    trellis_corpus_destroy(corpus);
    return status ? 1 : 0;
}
