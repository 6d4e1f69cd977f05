/* test_allocator_training.c - training, for every learner and with many options,
 * with a failing allocator. */
#include "faults/allocator.h"
#include "train/ways.h"

/* `about`: options of a training on the columns file, or with format=crfsuite on the crfsuite file.
 * @name stands for the path of a file, as listed. */
static trellis_status train(const char *about, struct outcome *outcome)
{
    static const struct {
        const char *name;
        int path;
    } named[] = {{"@templates", TEMPLATES}, {"@dictionary", DICTIONARY}, {"@costs", COSTS},
                 {"@model", CRF_MODEL},     {"@checkpoint", CHECKPOINT}, {"@dev", COLUMNS}};
    char settings[2000] = "threads=1 ";
    size_t at = strlen(settings);
    for (const char *from = about; *from;) {
        bool replaced = false;
        for (size_t i = 0; !replaced && i < TR_COUNT(named); i++) {
            size_t n = strlen(named[i].name);
            if ((replaced = strncmp(from, named[i].name, n) == 0)) {
                at += (size_t)snprintf(settings + at, sizeof settings - at, "%s",
                                       paths[named[i].path]);
                from += n;
            }
        }
        if (!replaced) {
            settings[at++] = *from++;
            settings[at] = '\0';
        }
    }
    trellis_options *options = NULL;
    trellis_model *model = NULL;
    const char *path = paths[strstr(about, "crfsuite") ? CRFSUITE : COLUMNS];
    unlink(paths[CHECKPOINT]);
    trellis_status status = options_of(settings, &options, outcome);
    for (int run = 0; !status && run < (strstr(about, "@checkpoint") ? 2 : 1); run++) {
        trellis_model_close(model);
        status = trellis_train_files(options, &path, 1, NULL, NULL, &model, &outcome->error);
    }
    if (!status) {
        status = trellis_model_export(model, false, see, &outcome->seen, &outcome->error);
    }
    trellis_model_close(model);
    trellis_options_destroy(options);
    return status;
}

/* The training data as a corpus, dev and unlabelled data as bytes, and an earlier model. */
static trellis_status train_in_memory(const char *about, struct outcome *outcome)
{
    trellis_options *options = NULL;
    trellis_model *model = NULL, *from = NULL;
    trellis_corpus *corpus = NULL;
    trellis_cancellation *cancellation = NULL;
    trellis_error *error = &outcome->error;
    trellis_source bytes = {
        .struct_size = sizeof bytes, .data = columns_text, .data_size = strlen(columns_text)};
    trellis_status status = options_of(about, &options, outcome);
    if (!status) {
        status = trellis_corpus_create(&corpus, error);
    }
    if (!status) {
        status = trellis_corpus_read(corpus, &bytes, options, error);
    }
    if (!status) {
        status = trellis_cancellation_create(&cancellation, error);
    }
    if (!status) {
        status = trellis_model_open(paths[CRF_MODEL], &from, error);
    }
    trellis_source memory = {.struct_size = sizeof memory, .corpus = corpus};
    trellis_training training = {.struct_size = sizeof training,
                                 .train = &memory,
                                 .train_count = 1,
                                 .dev = &bytes,
                                 .dev_count = 1,
                                 .from = from,
                                 .templates = "columns word\nnode word\nstep\n",
                                 .cancellation = cancellation};
    if (!status) {
        status = trellis_train(options, &training, &model, error);
    }
    if (!status) {
        status = trellis_model_export(model, false, see, &outcome->seen, error);
    }
    trellis_model_close(model);
    trellis_model_close(from);
    trellis_cancellation_destroy(cancellation);
    trellis_corpus_destroy(corpus);
    trellis_options_destroy(options);
    return status;
}

static void test_training(void **state)
{
    (void)state;
    char way[100], settings[200];
    for (size_t i = 0; way_at(i, way); i++) {
        snprintf(settings, sizeof settings, "features=id epochs=2 %s", way);
        try_all(train, settings);
    }
}

static void test_training_options(void **state)
{
    (void)state;
    static const char *const variants[] = {
        "features=@templates epochs=1",
        "features=@templates epochs=1 type=crf algorithm=sgd rate=0.1",
        "features=id epochs=2 type=crf l1=0.1 warm-up=0",
        "features=id epochs=2 type=crf select-l1=0.1 order=2",
        "features=id epochs=1 dev=@dev dictionary=learn dictionary-count=1 train-scheme=iobes",
        "features=id epochs=1 dictionary=@dictionary constrain=iob",
        "features=id epochs=1 algorithm=pa cost=@costs",
        "features=id epochs=1 type=mira from=@model order=2 observed-states=yes",
        "features=id epochs=2 type=ssvm checkpoint=@checkpoint resume=yes",
        "features=id epochs=2 type=crf checkpoint=@checkpoint resume=yes select-l1=0.1",
        "format=crfsuite epochs=1",
        "format=crfsuite epochs=1 type=crf algorithm=sgd batch=2",
        "features=id epochs=1 type=crf algorithm=sgd rate=0.1 order=2 prune=0.05",
        "features=id epochs=1 partial=yes counted=2 threads=2",
    };
    for (size_t i = 0; i < TR_COUNT(variants); i++) {
        try_all(train, variants[i]);
    }
    try_all(train_in_memory, "epochs=2 type=crf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_training_options),
    };
    return RUN_WITH_FILES(tests);
}
