/* attributes.c - how fast ready-made attributes in memory are tagged through the library, on one thread.
 *
 *   attributes MODEL FILE [LABELS]    FILE in CRFsuite's format; labels are written to LABELS
 *
 * The sequences are held as a program would hold them before the clock starts; opening the model counts.
 */
#include <stdio.h>
#include <time.h>

#include <trellis.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static trellis_status tag_all(const trellis_model *model, const trellis_corpus *corpus, FILE *out,
                              trellis_error *error)
{
    trellis_source source = {.struct_size = sizeof source, .corpus = corpus};
    trellis_reader *reader = NULL;
    trellis_tagger *tagger = NULL;
    const trellis_sequence *sequence;
    const trellis_text *labels;
    trellis_status status = trellis_reader_open_source(&source, NULL, &reader, error);
    if (!status) {
        status = trellis_tagger_create(model, NULL, &tagger, error);
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        status = trellis_tagger_tag(tagger, sequence, &labels, error);
        for (size_t i = 0; out && !status && i < sequence->length; i++) {
            fprintf(out, "%.*s\n%s", (int)labels[i].size, labels[i].data,
                    i + 1 == sequence->length ? "\n" : "");
        }
    }
    trellis_tagger_destroy(tagger);
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

int main(int argc, char **argv)
{
    trellis_options *options = NULL;
    trellis_corpus *corpus = NULL;
    trellis_model *model = NULL;
    trellis_error error = {0};
    if (argc < 3) {
        return 2;
    }
    FILE *out = argc > 3 ? fopen(argv[3], "w") : NULL;
    trellis_source file = {.struct_size = sizeof file, .path = argv[2]};
    trellis_status status = trellis_options_create(&options, &error);
    if (!status) {
        status = trellis_options_set(options, "format", "crfsuite", &error);
    }
    if (!status) {
        status = trellis_corpus_create(&corpus, &error);
    }
    if (!status) {
        status = trellis_corpus_read(corpus, &file, options, &error);
    }
    double begin = seconds();
    if (!status) {
        status = trellis_model_open(argv[1], &model, &error);
    }
    if (!status) {
        status = tag_all(model, corpus, out, &error);
    }
    double taken = seconds() - begin;
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("%zu tokens in %.4f s: %.0f tokens/s\n", trellis_corpus_tokens(corpus), taken,
               (double)trellis_corpus_tokens(corpus) / taken);
    }
    trellis_model_close(model);
    trellis_corpus_destroy(corpus);
    trellis_options_destroy(options);
    if (out) {
        fclose(out);
    }
    return status ? 1 : 0;
}
