/* posterior.c - how sure a model is of a sequence: pairs of labels, samples, entropy.
 *
 *     cc posterior.c -ltrellis -lm && ./a.out
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <trellis.h>

enum { WORDS = 4, COLUMNS = 2, SAMPLES = 3 };
static const char *const table[WORDS][COLUMNS] = {
    {"DET", "The"}, {"ADJ", "old"}, {"NOUN", "harbour"}, {"VERB", "sleeps"}};

/* The file has four columns: word, part of speech, chunk and named entity. */
static trellis_status train(trellis_options *options, trellis_model **ret_model,
                            trellis_error *error)
{
    static const char *const files[] = {"data/english/train.conll"};
    static const char *const settings[][2] = {{"columns", "word,pos,chunk,entity"},
                                              {"label", "chunk"},
                                              {"type", "crf"},
                                              {"algorithm", "sgd"},
                                              {"epochs", "3"},
                                              {"features", "chunk"}};
    *ret_model = NULL;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        trellis_status status = trellis_options_set(options, settings[i][0], settings[i][1], error);
        if (status) {
            return status;
        }
    }
    return trellis_train_files(options, files, 1, NULL, NULL, ret_model, error);
}

static void print_labels(const trellis_model *model, const int32_t *numbers)
{
    for (size_t i = 0; i < WORDS; i++) {
        trellis_text label = trellis_model_label(model, (size_t)numbers[i]);
        printf(" %.*s", (int)label.size, label.data);
    }
}

/* The posterior of each pair of labels on the best path. */
static trellis_status print_pairs(const trellis_model *model, trellis_tagger *tagger,
                                  trellis_error *error)
{
    const float *pairs;
    size_t labels = trellis_model_label_count(model);
    trellis_status status = trellis_tagger_pair_marginals(tagger, &pairs, error);
    const int32_t *best = trellis_tagger_nth_numbers(tagger, 0);
    for (size_t i = 1; !status && best && i < WORDS; i++) {
        size_t from = (size_t)best[i - 1], to = (size_t)best[i];
        printf("P(%s, %s) = %.3f\n", table[i - 1][1], table[i][1],
               (double)pairs[(i * labels + from) * labels + to]);
    }
    return status;
}

static trellis_status print_samples(const trellis_model *model, trellis_tagger *tagger,
                                    trellis_error *error)
{
    const int32_t *drawn;
    trellis_status status = trellis_tagger_sample(tagger, 1, SAMPLES, &drawn, error);
    for (size_t k = 0; !status && k < SAMPLES; k++) {
        double log_probability;
        const int32_t *sample = drawn + k * WORDS;
        status = trellis_tagger_log_probability_numbers(tagger, sample, &log_probability, error);
        printf("sample:");
        print_labels(model, sample);
        printf("  P = %.3f, score %.2f\n", exp(log_probability),
               trellis_tagger_score_numbers(tagger, sample));
    }
    return status;
}

static trellis_status ask(const trellis_model *model, trellis_tagger *tagger, trellis_error *error)
{
    static const char *const names[COLUMNS] = {"pos", "word"}; // not the order of the training data
    trellis_text cells[WORDS][COLUMNS];
    for (size_t i = 0; i < WORDS; i++) {
        for (size_t j = 0; j < COLUMNS; j++) {
            cells[i][j] = (trellis_text){table[i][j], strlen(table[i][j])};
        }
    }
    trellis_sequence sentence = {.struct_size = sizeof sentence,
                                 .length = WORDS,
                                 .columns = COLUMNS,
                                 .cells = cells[0],
                                 .weight = 1};
    const trellis_text *labels;
    double entropy;
    trellis_status status = trellis_tagger_bind_columns(tagger, names, COLUMNS, error);
    if (!status) {
        status = trellis_tagger_tag(tagger, &sentence, &labels, error);
    }
    if (!status) {
        status = print_pairs(model, tagger, error);
    }
    if (!status) {
        status = print_samples(model, tagger, error);
    }
    if (!status) {
        status = trellis_tagger_entropy(tagger, &entropy, error);
    }
    if (!status) {
        printf("entropy: %.3f nats\n", entropy);
    }
    return status;
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
        status = ask(model, tagger, &error);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    trellis_tagger_destroy(tagger);
    trellis_model_close(model);
    trellis_options_destroy(options);
    return status ? 1 : 0;
}
