/* suggest.c - the name that somebody may have meant: the nearest one by edit distance, or another
 * tool's. */
#include "base/structs.h"
#include "base/text.h"

/* What other tools call an option: CRFsuite, CRF++, Wapiti, scikit-learn, servers and their like. */
static const struct {
    const char *theirs, *ours;
} synonyms[] = {
    {"algo", "algorithm"},
    {"batch-size", "batch"},
    {"bind", "listen"},
    {"c1", "l1"},
    {"c2", "l2"},
    {"dev-file", "dev"},
    {"devel", "dev"},
    {"development", "dev"},
    {"eta", "rate"},
    {"eta0", "rate"},
    {"feature.minfreq", "min-count"},
    {"histsz", "history"},
    {"iter", "epochs"},
    {"iterations", "epochs"},
    {"learning-rate", "rate"},
    {"lr", "rate"},
    {"max-epochs", "epochs"},
    {"max-iter", "epochs"},
    {"max-iterations", "epochs"},
    {"maxiter", "epochs"},
    {"min-freq", "min-count"},
    {"minfreq", "min-count"},
    {"n-jobs", "threads"},
    {"nthread", "threads"},
    {"num-iterations", "epochs"},
    {"num-memories", "history"},
    {"pattern", "features"},
    {"port", "listen"},
    {"random-state", "seed"},
    {"rho1", "l1"},
    {"rho2", "lambda"},
    {"stopwin", "patience"},
    {"template", "features"},
    {"templates", "features"},
    {"valid", "dev"},
    {"validation", "dev"},
};

/* Whether two names are the same, where '_' and '-' are. */
static bool same_name(const char *a, const char *b)
{
    while (*a && (*a == *b || (*a == '_' && *b == '-'))) {
        a++;
        b++;
    }
    return *a == *b;
}

static bool is_synonym(const char *asked, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
        found = found ||
                (strcmp(synonyms[i].ours, name) == 0 && same_name(asked, synonyms[i].theirs));
    }
    return found;
}

void trellis_suggest(trellis_suggestion *suggestion, const char *name)
{
    if (!suggestion || !name) {
        return;
    }
    trellis_suggestion s;
    if (!tr_struct_take(&s, sizeof s, suggestion) || !s.asked) {
        return;
    }
    unsigned max = ((unsigned)strlen(name) + 1) / 3;
    unsigned distance = is_synonym(s.asked, name) ? 0 : tr_edit_distance(s.asked, name, max);
    if (distance <= max && (!s.nearest || distance < s.distance)) {
        s.nearest = name;
        s.distance = distance;
        tr_struct_give(&s, sizeof s, suggestion);
    }
}
