/* foreign.c - a model of another program against what that program printed, for bench/foreign.sh.
 *
 *   foreign crfsuite|crf++|scores|probabilities|posteriors|labels PATHS MODEL DATA OUTPUT
 *
 * prints the numbers of tokens, labels that differ, paths, paths that differ although their scores
 * do, paths that differ with equal scores, the same of the best paths, and the largest differences
 * of marginals, of the probabilities of sequences and of scores, null where they are not printed.
 */
#include "../tests/model/foreign_outputs.h"

static const char *const kinds[] = {
    [CRFSUITE_MARGINALS] = "crfsuite",  [CRFPP_MARGINALS] = "crf++",
    [WAPITI_SCORES] = "scores",         [WAPITI_PROBABILITIES] = "probabilities",
    [WAPITI_POSTERIORS] = "posteriors", [LABELS_ONLY] = "labels",
};

static int fail(const char *what)
{
    fprintf(stderr, "foreign: %s\n", what);
    return EXIT_FAILURE;
}

/* A difference, null where nothing of the kind is printed. */
static void print_difference(bool known, double value)
{
    if (known) {
        printf(" %.1e", value);
    } else {
        printf(" null");
    }
}

int main(int argc, char **argv)
{
    struct comparison c = {0};
    trellis_error error = {0};
    trellis_model *model;
    size_t kind = 0, count = sizeof kinds / sizeof *kinds;
    while (argc == 6 && kind < count && strcmp(kinds[kind], argv[1]) != 0) {
        kind++;
    }
    if (argc != 6 || kind == count) {
        return fail("usage: foreign KIND PATHS MODEL DATA OUTPUT");
    }
    c.kind = (enum output_kind)kind;
    c.paths = strtoul(argv[2], NULL, 10);
    if (trellis_model_open(argv[3], &model, &error)) {
        return fail(error.message);
    }
    trellis_status status = compare_outputs(model, argv[4], argv[5], &c, &error);
    trellis_model_close(model);
    if (status || c.broken) {
        return fail(status ? error.message : "the output does not fit the data");
    }
    bool probabilities = c.kind == CRFPP_MARGINALS || c.kind == WAPITI_PROBABILITIES;
    printf("%zu %zu %zu %zu %zu %zu", c.tokens, c.labels_differ, c.paths_compared, c.paths_differ,
           c.ties, c.first_ties);
    print_difference(c.kind != WAPITI_SCORES && c.kind != WAPITI_PROBABILITIES, c.marginal);
    print_difference(probabilities || c.kind == CRFSUITE_MARGINALS,
                     probabilities ? c.score : c.probability);
    print_difference(c.kind == WAPITI_SCORES || c.kind == CRFSUITE_MARGINALS, c.score);
    printf("\n");
    return EXIT_SUCCESS;
}
