/* inspect.c - the features and transitions of each label with the highest and lowest weights.
 *
 * One walk over all weights keeps the `top` best of each list, sorted, the worst at the end; a
 * weight that is no better than the worst of a full list costs one comparison.
 */
#include "model/inspect.h"

#include <math.h>

/* A weight: of a record of a table and an outcome, or, without a table, of a label gram. */
struct ranked_weight {
    double weight;
    const struct tr_table *table;
    uint64_t record; // or the number of the gram
    uint32_t outcome;
};

typedef TR_ARRAY(struct ranked_weight) candidate_list;

struct ranking_search {
    const trellis_model *model;
    size_t top;
    bool logarithms;       // no weight is above 0, as in an HMM: the highest are ranked as positive
    candidate_list *lists; // [labels + 1][TR_RANKINGS]
    bool failed;           // an allocation failed

    /* The current record. */
    const struct tr_table *table;
    uint64_t record;
    trellis_template_usage *use;
};

/* Whether a ranks before b. Rankings of negative weights begin with the lowest. */
static bool ranks_before(double a, double b, bool lowest)
{
    return lowest ? a < b : a > b;
}

static void keep(struct ranking_search *search, uint32_t label, trellis_ranking ranking,
                 struct ranked_weight candidate)
{
    bool lowest = ranking == TRELLIS_FEATURES_LOWEST || ranking == TRELLIS_TRANSITIONS_LOWEST;
    candidate_list *list = &search->lists[(size_t)label * TR_RANKINGS + ranking];
    if (search->top == 0 ||
        (list->size == search->top &&
         !ranks_before(candidate.weight, list->at[list->size - 1].weight, lowest))) {
        return;
    }
    if (list->size < search->top && !tr_push(list, candidate)) {
        search->failed = true;
        return;
    }
    size_t at = list->size - 1;
    for (; at > 0 && ranks_before(candidate.weight, list->at[at - 1].weight, lowest); at--) {
        list->at[at] = list->at[at - 1];
    }
    list->at[at] = candidate;
}

static void rank(struct ranking_search *search, uint32_t label, bool transition,
                 struct ranked_weight candidate)
{
    if (candidate.weight > 0 || (search->logarithms && isfinite(candidate.weight))) {
        keep(search, label, transition ? TRELLIS_TRANSITIONS_HIGHEST : TRELLIS_FEATURES_HIGHEST,
             candidate);
    } else if (candidate.weight < 0 && isfinite(candidate.weight)) {
        keep(search, label, transition ? TRELLIS_TRANSITIONS_LOWEST : TRELLIS_FEATURES_LOWEST,
             candidate);
    }
}

static void visit_weight(void *user, uint32_t outcome, float weight)
{
    struct ranking_search *search = user;
    uint32_t label = outcome % search->model->graph->width;
    if (label >= search->model->label_count ||
        outcome / search->model->graph->width >= search->model->label_count) {
        return;
    }
    search->use->weights++;
    search->use->absolute += isfinite(weight) ? fabs((double)weight) : 0;
    rank(search, label, false,
         (struct ranked_weight){(double)weight, search->table, search->record, outcome});
}

static void check_sign(void *user, uint32_t outcome, float weight)
{
    struct ranking_search *search = user;
    (void)outcome;
    search->logarithms = search->logarithms && !(weight > 0);
}

/* Whether no weight is above 0, as in an HMM. */
static void find_sign(struct ranking_search *search)
{
    const struct tr_table *table = &search->model->node;
    search->logarithms = table->record_count > 0;
    for (uint64_t i = 0; search->logarithms && i < table->record_count; i++) {
        tr_table_each(table, &table->records[i], check_sign, search);
    }
}

static void visit_table(struct ranking_search *search, trellis_inspection *inspection, bool edge)
{
    const trellis_model *model = search->model;
    const struct tr_table *table = search->table = edge ? &model->edge : &model->node;
    size_t given = inspection->templates.size - 1;
    for (uint64_t i = 0; !search->failed && i < table->record_count; i++) {
        const struct tr_text_record *record = &table->records[i];
        size_t template = tr_features_template_of(model->features, edge,
                                                  tr_table_text(table, record));
        search->record = i;
        search->use = &inspection->templates.at[template == SIZE_MAX ? given : template];
        search->use->edge = edge;
        search->use->attributes++;
        tr_table_each(table, record, visit_weight, search);
    }
}

static int compare_pairs(const void *a, const void *b)
{
    const struct tr_pair_weight *x = a, *y = b;
    return x->from != y->from ? (x->from < y->from ? -1 : 1) : (x->to > y->to) - (x->to < y->to);
}

static bool note_pair(trellis_inspection *inspection, uint16_t from, uint16_t to, double weight)
{
    uint32_t labels = inspection->model->label_count; // in a gram the start is L, the end is L + 1
    struct tr_pair_weight pair = {from, (uint16_t)(to > labels ? labels : to), weight};
    return tr_push(&inspection->pairs, pair);
}

/* A forbidden transition may have a weight as well: it counts as forbidden. */
static void sort_pairs(trellis_inspection *inspection)
{
    struct tr_pair_weight *pairs = inspection->pairs.at;
    size_t kept = 0;
    if (inspection->pairs.size) {
        qsort(pairs, inspection->pairs.size, sizeof *pairs, compare_pairs);
    }
    for (size_t i = 0; i < inspection->pairs.size; i++) {
        if (kept && compare_pairs(&pairs[kept - 1], &pairs[i]) == 0) {
            pairs[kept - 1].weight = fmin(pairs[kept - 1].weight, pairs[i].weight);
        } else {
            pairs[kept++] = pairs[i];
        }
    }
    inspection->pairs.size = kept;
}

static void visit_transitions(struct ranking_search *search, trellis_inspection *inspection)
{
    const trellis_model *model = search->model;
    uint32_t labels = model->label_count;
    bool ok = true;
    for (size_t i = 0; ok && i < model->plan.gram_count; i++) {
        const struct tr_gram *gram = &model->grams[i];
        uint16_t last = gram->label[gram->length - 1];
        double weight = (double)model->step_weights[i];
        rank(search, last > labels ? labels : last, true,
             (struct ranked_weight){weight, NULL, i, 0});
        ok = gram->length != 2 || note_pair(inspection, gram->label[0], last, weight);
    }
    for (size_t i = 0; ok && i < model->plan.forbidden_count; i++) {
        ok = note_pair(inspection, model->forbidden[i][0], model->forbidden[i][1], -INFINITY);
    }
    search->failed = search->failed || !ok;
    sort_pairs(inspection);
}

static size_t names_of(const struct ranking_search *search, const struct ranked_weight *candidate)
{
    return candidate->table ? (candidate->table == &search->model->edge ? 2 : 1)
                            : search->model->grams[candidate->record].length;
}

/* Describes a weight to the caller; `names` has room for the labels. */
static trellis_weighted describe(const struct ranking_search *search,
                                 const struct ranked_weight *candidate, trellis_text *names)
{
    const trellis_model *model = search->model;
    uint32_t width = model->graph->width;
    trellis_weighted weighted = {{"", 0}, names, names_of(search, candidate), candidate->weight};
    if (!candidate->table) {
        for (size_t k = 0; k < weighted.label_count; k++) {
            names[k] = tr_model_gram_label(model, model->grams[candidate->record].label[k]);
        }
        return weighted;
    }
    weighted.attribute = tr_table_text(candidate->table,
                                       &candidate->table->records[candidate->record]);
    if (weighted.label_count == 2) {
        names[0] = model->labels[candidate->outcome / width];
    }
    names[weighted.label_count - 1] = model->labels[candidate->outcome % width];
    return weighted;
}

static bool store_rankings(const struct ranking_search *search, trellis_inspection *inspection)
{
    size_t total = 0, names = 0;
    for (size_t k = 0; k < inspection->lists; k++) {
        for (size_t i = 0; i < search->lists[k].size; i++) {
            names += names_of(search, &search->lists[k].at[i]);
        }
        total += search->lists[k].size;
    }
    inspection->weighted = tr_alloc(total, sizeof *inspection->weighted);
    inspection->names = tr_alloc(names, sizeof *inspection->names);
    inspection->begin = tr_alloc(inspection->lists + 1, sizeof *inspection->begin);
    if (!inspection->weighted || !inspection->names || !inspection->begin) {
        return false;
    }
    total = names = 0;
    for (size_t k = 0; k < inspection->lists; k++) {
        inspection->begin[k] = total;
        for (size_t i = 0; i < search->lists[k].size; i++, total++) {
            inspection->weighted[total] = describe(search, &search->lists[k].at[i],
                                                   inspection->names + names);
            names += inspection->weighted[total].label_count;
        }
    }
    inspection->begin[inspection->lists] = total;
    return true;
}

static bool rank_weights(struct ranking_search *search, trellis_inspection *inspection)
{
    const trellis_features *features = inspection->model->features;
    for (size_t i = 0; i <= tr_features_template_count(features); i++) {
        trellis_template_usage use = {{"", 0}, false, 0, 0, 0};
        if (i < tr_features_template_count(features)) {
            use.text = tr_features_template_text(features, i);
        }
        if (!tr_push(&inspection->templates, use)) {
            return false;
        }
    }
    find_sign(search);
    visit_table(search, inspection, false);
    visit_table(search, inspection, true);
    visit_transitions(search, inspection);
    size_t given = inspection->templates.size - 1;
    inspection->templates.size -= inspection->templates.at[given].attributes == 0;
    return !search->failed && store_rankings(search, inspection);
}

trellis_status trellis_inspection_create(const trellis_model *model, size_t top,
                                         trellis_inspection **ret_inspection, trellis_error *error)
{
    if (!TR_CLEAR(ret_inspection) || !model) {
        return tr_fail_null(error, __func__);
    }
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (status) {
        return status;
    }
    trellis_inspection *inspection = tr_alloc(1, sizeof *inspection);
    if (!inspection) {
        return tr_fail_memory(error);
    }
    inspection->model = model;
    inspection->lists = ((size_t)model->label_count + 1) * TR_RANKINGS;
    struct ranking_search search = {.model = model, .top = top};
    search.lists = tr_alloc(inspection->lists, sizeof *search.lists);
    bool ok = search.lists && rank_weights(&search, inspection);
    for (size_t k = 0; search.lists && k < inspection->lists; k++) {
        free(search.lists[k].at);
    }
    free(search.lists);
    if (!ok) {
        trellis_inspection_destroy(inspection);
        return tr_fail_memory(error);
    }
    *ret_inspection = inspection;
    return TRELLIS_OK;
}

void trellis_inspection_destroy(trellis_inspection *inspection)
{
    if (!inspection) {
        return;
    }
    free(inspection->begin);
    free(inspection->weighted);
    free(inspection->names);
    free(inspection->templates.at);
    free(inspection->pairs.at);
    free(inspection);
}

const trellis_weighted *trellis_inspection_top(const trellis_inspection *inspection, size_t label,
                                               trellis_ranking ranking, size_t *ret_count)
{
    if (!inspection || !ret_count) {
        return NULL;
    }
    *ret_count = 0;
    if (label > inspection->model->label_count || ranking >= TR_RANKINGS) {
        return NULL;
    }
    size_t list = label * TR_RANKINGS + ranking;
    *ret_count = inspection->begin[list + 1] - inspection->begin[list];
    return inspection->weighted + inspection->begin[list];
}

const trellis_template_usage *trellis_inspection_templates(const trellis_inspection *inspection,
                                                           size_t *ret_count)
{
    if (!inspection || !ret_count) {
        return NULL;
    }
    *ret_count = inspection->templates.size;
    return inspection->templates.at;
}

double trellis_inspection_transition(const trellis_inspection *inspection, size_t from, size_t to)
{
    if (!inspection) {
        return NAN;
    }
    size_t labels = inspection->model->label_count;
    if (from > labels || to > labels || inspection->pairs.size == 0) {
        return 0;
    }
    struct tr_pair_weight key = {(uint16_t)from, (uint16_t)to, 0};
    const struct tr_pair_weight *pair = bsearch(&key, inspection->pairs.at, inspection->pairs.size,
                                                sizeof key, compare_pairs);
    return pair ? pair->weight : 0;
}
