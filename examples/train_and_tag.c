/* train_and_tag.c - the shortest program: train a model on a file, tag a sentence.
 *
 *     cc train_and_tag.c -ltrellis && ./a.out
 */
#include <stdio.h>
#include <string.h>

#include <trellis.h>

enum { WORDS = 7 };
static const char *const words[WORDS] = {"The",    "old",      "harbour", "sleeps",
                                         "beside", "Carrowby", "."};

/* A sequence from memory: a table of cells with one row per token; here one column, the word. */
static trellis_status tag(trellis_tagger *tagger, trellis_error *error)
{
    trellis_text cells[WORDS];
    for (size_t i = 0; i < WORDS; i++) {
        cells[i] = (trellis_text){words[i], strlen(words[i])};
    }
    trellis_sequence sentence = {.struct_size = sizeof(trellis_sequence),
                                 .length = WORDS,
                                 .columns = 1,
                                 .cells = cells,
                                 .weight = 1};
    const trellis_text *labels; // belongs to the tagger, until the next call
    trellis_status status = trellis_tagger_tag(tagger, &sentence, &labels, error);
    for (size_t i = 0; !status && i < WORDS; i++) {
        printf("%-10s %.*s\n", words[i], (int)labels[i].size, labels[i].data);
    }
    return status;
}

/* The file has four columns: word, part of speech, chunk and named entity. */
static trellis_status train(trellis_options *options, trellis_model **ret_model,
                            trellis_error *error)
{
    static const char *const files[] = {"data/english/train.conll"};
    static const char *const settings[][2] = {
        {"label", "2"}, {"type", "perceptron"}, {"epochs", "5"}, {"features", "extended"}};
    *ret_model = NULL;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        trellis_status status = trellis_options_set(options, settings[i][0], settings[i][1], error);
        if (status) {
            return status;
        }
    }
    return trellis_train_files(options, files, 1, NULL, NULL, ret_model, error);
}

int main(void)
{
    trellis_error error = {0};
    trellis_options *options = NULL;
    trellis_model *model = NULL;
    trellis_tagger *tagger = NULL;

    trellis_status status = trellis_options_create(&options, &error);
    if (!status) {
        status = train(options, &model, &error);
    }
    if (!status) {
        status = trellis_tagger_create(model, options, &tagger, &error);
    }
    if (!status) {
        status = tag(tagger, &error);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    trellis_tagger_destroy(tagger); // these accept NULL
    trellis_model_close(model);
    trellis_options_destroy(options);
    return status ? 1 : 0;
}
