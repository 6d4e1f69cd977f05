/* null_arguments.c - calls every public function with each of its pointers NULL, one at a time.
 *
 * The calls come from the header (scripts/null_arguments.py). Each runs in a process of its own: it
 * must not crash, and must give TRELLIS_OPTION unless the argument may be NULL.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trellis.h"

/* An object of each type, for the arguments that are not NULL. */
struct fixture {
    trellis_error error;
    trellis_options *options;
    trellis_corpus *corpus;
    trellis_reader *reader;
    trellis_writer *writer;
    trellis_words *words;
    trellis_lint *lint;
    trellis_features *features;
    trellis_model *model;
    trellis_cancellation *cancellation;
    trellis_online *online;
    trellis_clusters *clusters;
    trellis_tagger *tagger;
    trellis_explainer *explainer;
    trellis_chain *chain;
    trellis_evaluation *evaluation;
    trellis_comparison *comparison;
    trellis_weight_iterator *weight_iterator;
    trellis_inspection *inspection;
    trellis_search *search;
    trellis_report *report;
    trellis_scheme_storage *scheme_storage;
    const char *path;
    const char *paths[2], *names[2], *tries[1];
    const char *bytes;
    trellis_text text, labels[4], cells[4];
    int32_t numbers[4];
    trellis_sequence *sequence, own_sequence;
    trellis_source source;
    trellis_training training;
    trellis_resource resources[1];
    trellis_suggestion suggestion;
    trellis_labelled labelled;
    trellis_annotation *annotation, own_annotation;
    trellis_chain_sequence chain_sequence;
    trellis_chain_scores chain_scores;
    trellis_chain_gradient gradient;
    float nodes[8];
};

static trellis_status drop(void *user, const char *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return TRELLIS_OK;
}

static bool go_on(void *user, const trellis_progress *progress)
{
    (void)user, (void)progress;
    return true;
}

static void need(trellis_status status, const trellis_error *error)
{
    if (status) {
        printf("the fixture: %s\n", error->message);
        exit(1);
    }
}

static void fill_structs(struct fixture *f)
{
    f->paths[0] = f->paths[1] = f->path;
    f->names[0] = f->names[1] = "word";
    f->tries[0] = "l2=0.1,1";
    f->bytes = "x A\n\n";
    f->text = (trellis_text){"A", 1};
    for (int i = 0; i < 4; i++) {
        f->labels[i] = (trellis_text){i % 2 ? "B" : "A", 1};
        f->cells[i] = (trellis_text){i % 2 ? "y" : "x", 1};
    }
    f->sequence = &f->own_sequence;
    f->own_sequence = (trellis_sequence){.struct_size = sizeof f->own_sequence,
                                         .length = 2,
                                         .columns = 2,
                                         .cells = f->cells,
                                         .labels = f->labels,
                                         .weight = 1};
    f->source = (trellis_source){.struct_size = sizeof f->source, .path = f->path};
    f->training = (trellis_training){
        .struct_size = sizeof f->training, .train = &f->source, .train_count = 1};
    f->resources[0] = (trellis_resource){"list", "x\n", 2};
    f->suggestion = (trellis_suggestion){.struct_size = sizeof f->suggestion, .asked = "sead"};
    f->labelled = (trellis_labelled){
        .struct_size = sizeof f->labelled, .length = 2, .gold = f->labels, .predicted = f->labels};
    f->annotation = &f->own_annotation;
    f->own_annotation = (trellis_annotation){.struct_size = sizeof f->own_annotation,
                                             .labels = f->labels};
    f->chain_sequence = (trellis_chain_sequence){.struct_size = sizeof f->chain_sequence,
                                                 .length = 2,
                                                 .nodes = {f->nodes, {0}},
                                                 .best = f->numbers};
    f->chain_scores = (trellis_chain_scores){.struct_size = sizeof f->chain_scores};
    f->gradient = (trellis_chain_gradient){.struct_size = sizeof f->gradient};
}

static void make_objects(struct fixture *f)
{
    trellis_error *e = &f->error;
    const trellis_text *labels;
    const trellis_explanation *explanations;
    trellis_trial trial = {.struct_size = sizeof trial};
    need(trellis_options_create(&f->options, e), e);
    need(trellis_options_set(f->options, "type", "crf", e), e);
    need(trellis_options_set(f->options, "algorithm", "sgd", e), e);
    need(trellis_options_set(f->options, "epochs", "2", e), e);
    need(trellis_corpus_create(&f->corpus, e), e);
    need(trellis_corpus_add(f->corpus, f->sequence, e), e);
    need(trellis_reader_open(f->path, f->options, &f->reader, e), e);
    need(trellis_writer_create(f->options, drop, NULL, &f->writer, e), e);
    need(trellis_words_read(f->path, f->options, &f->words, e), e);
    need(trellis_lint_create(&f->lint, e), e);
    need(trellis_lint_read(f->lint, &f->source, NULL, 0, e), e);
    need(trellis_lint_finish(f->lint, e), e);
    need(trellis_features_open("id", &f->features, e), e);
    need(trellis_train_files(f->options, f->paths, 1, NULL, NULL, &f->model, e), e);
    need(trellis_cancellation_create(&f->cancellation, e), e);
    need(trellis_online_create(NULL, NULL, NULL, &f->online, e), e);
    need(trellis_online_learn(f->online, f->sequence, 1, e), e);
    need(trellis_cluster(NULL, 2, f->paths, 1, NULL, NULL, &f->clusters, e), e);
    need(trellis_tagger_create(f->model, NULL, &f->tagger, e), e);
    need(trellis_tagger_tag(f->tagger, f->sequence, &labels, e), e);
    need(trellis_explainer_create(f->model, NULL, &f->explainer, e), e);
    need(trellis_explainer_run(f->explainer, f->sequence, &explanations, e), e);
    need(trellis_chain_create(2, NULL, &f->chain, e), e);
    need(trellis_evaluation_create(NULL, &f->evaluation, e), e);
    need(trellis_evaluation_add(f->evaluation, f->labels, f->labels, 2, e), e);
    need(trellis_evaluation_compare(f->evaluation, f->evaluation, &f->comparison, e), e);
    need(trellis_weight_iterator_create(f->model, &f->weight_iterator, e), e);
    need(trellis_inspection_create(f->model, 3, &f->inspection, e), e);
    need(trellis_search_create(NULL, f->tries, 1, &f->search, e), e);
    need(trellis_search_next(f->search, &trial), e);
    need(trellis_report_create(f->model, NULL, "title", &f->report, e), e);
}

#define CASE(function, argument, ...)                                                              \
    static bool function##_without_##argument(struct fixture *f)                                   \
    {                                                                                              \
        (void)f;                                                                                   \
        __VA_ARGS__;                                                                               \
    }
#include "cases.h"
#undef CASE

static const struct {
    const char *function, *argument;
    bool (*run)(struct fixture *f);
} cases[] = {
#define CASE(function, argument, ...) {#function, #argument, function##_without_##argument},
#include "cases.h"
#undef CASE
};

/* Whether a case ends well, in a process of its own. */
static bool passes(size_t i, struct fixture *f)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        _exit(cases[i].run(f) ? 0 : 1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return false;
    }
    bool crashed = !WIFEXITED(status) || WEXITSTATUS(status) > 1;
    if (status) {
        printf("%s with NULL for %s: %s\n", cases[i].function, cases[i].argument,
               crashed ? "crashed" : "no TRELLIS_OPTION");
    }
    return status == 0;
}

int main(int count, char **arguments)
{
    static struct fixture f;
    size_t failed = 0, total = sizeof cases / sizeof *cases;
    if (count < 2) {
        return 2;
    }
    f.path = arguments[1];
    fill_structs(&f);
    make_objects(&f);
    for (size_t i = 0; i < total; i++) {
        failed += !passes(i, &f);
    }
    printf("%zu calls with a NULL argument\n", total);
    _exit(failed > 0 || fflush(stdout));
}
