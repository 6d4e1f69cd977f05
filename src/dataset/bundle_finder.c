/* bundle_finder.c - finds the bundles of a corpus (bundles.h).
 *
 * Tokens are divided into sets of attributes (bundle_sets.c). Sets that are seen often enough become
 * bundles, the others fall apart again.
 */
#include "dataset/bundle_finder.h"

#include "dataset/segment_parts.h"

/* What the members of a set would cost one by one, in vectors or pairs that are added. */
static uint32_t cost_of(const struct tr_rows *rows, uint32_t attribute)
{
    return attribute < rows->dense
               ? rows->width / TR_LANES
               : (uint32_t)(rows->begin[attribute + 1] - rows->begin[attribute]);
}

void tr_bundle_finder_destroy(struct tr_bundle_finder *finder)
{
    if (!finder) {
        return;
    }
    free(finder->parts_of_segments.begin.at);
    free(finder->parts_of_segments.attribute.at);
    free(finder->count);
    free(finder->first);
    free(finder->mask);
    free(finder->many);
    free(finder->stamp);
    free(finder->sets.at);
    free(finder->members.at);
    free(finder->slots.at);
    free(finder->symbol.at);
    free(finder->symbol_begin);
    free(finder->candidates.at);
    free(finder);
}

static bool finder_begin(struct tr_bundle_finder *x)
{
    size_t attributes = x->rows->attributes;
    x->count = tr_alloc(attributes, sizeof *x->count);
    x->first = tr_alloc(attributes, sizeof *x->first);
    x->mask = tr_alloc(attributes, sizeof *x->mask);
    x->many = tr_alloc(attributes, sizeof *x->many);
    x->stamp = tr_alloc(attributes, sizeof *x->stamp);
    x->symbol_begin = tr_alloc(x->tokens + 1, sizeof *x->symbol_begin);
    x->slots.size = 1 << 12;
    return x->count && x->first && x->mask && x->many && x->stamp && x->symbol_begin &&
           tr_reserve(&x->slots, x->slots.size);
}

/* ---- bundles --------------------------------------------------------------------------------- */

static bool is_worth(const struct tr_bundle_finder *x, const struct tr_bundle_set *set)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < set->size; i++) {
        cost += cost_of(x->rows, x->members.at[set->begin + i]);
    }
    return set->count >= TR_BUNDLE_LEAST_COUNT && cost > x->rows->width / TR_LANES;
}

static int by_count(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Numbers the sets that become bundles, frequent ones first. */
static bool number_bundles(struct tr_bundle_finder *x)
{
    uint64_t *key = tr_alloc(x->sets.size, sizeof *key);
    for (uint32_t s = 0; key && s < x->sets.size; s++) {
        if (is_worth(x, &x->sets.at[s])) {
            key[x->kept++] = (uint64_t)x->sets.at[s].count << 32 | (UINT32_MAX - s);
            x->kept_members += x->sets.at[s].size;
        }
    }
    if (key && x->kept) {
        qsort(key, x->kept, sizeof *key, by_count);
    }
    for (uint32_t b = 0; key && b < x->kept; b++) {
        x->sets.at[UINT32_MAX - (uint32_t)key[b]].bundle = b;
    }
    free(key);
    return key;
}

/* The members of the bundles, in their order. */
static bool list_members(const struct tr_bundle_finder *x, struct tr_bundles *bundles)
{
    bundles->count = x->kept;
    bundles->member_begin = tr_alloc((size_t)x->kept + 1, sizeof *bundles->member_begin);
    bundles->member = tr_alloc(x->kept_members, sizeof *bundles->member);
    bundles->sum = tr_alloc_aligned((size_t)x->kept * x->rows->width, sizeof *bundles->sum);
    bundles->gradient = tr_alloc_aligned((size_t)x->kept * x->rows->width,
                                         sizeof *bundles->gradient);
    if (!bundles->member_begin || !bundles->member || !bundles->sum || !bundles->gradient) {
        return false;
    }
    for (uint32_t s = 0; s < x->sets.size; s++) {
        if (x->sets.at[s].bundle != TR_NONE) {
            bundles->member_begin[x->sets.at[s].bundle + 1] = x->sets.at[s].size;
        }
    }
    for (uint32_t b = 0; b < x->kept; b++) {
        bundles->member_begin[b + 1] += bundles->member_begin[b];
    }
    for (uint32_t s = 0; s < x->sets.size; s++) {
        const struct tr_bundle_set *set = &x->sets.at[s];
        if (set->bundle != TR_NONE) {
            uint32_t *to = bundles->member + bundles->member_begin[set->bundle];
            memcpy(to, x->members.at + set->begin, set->size * sizeof *to);
        }
    }
    return true;
}

/* Dense before sparse, as the row kernels need them. */
static void sort_members(struct tr_bundles *bundles)
{
    for (uint32_t b = 0; b < bundles->count; b++) {
        for (uint32_t i = bundles->member_begin[b] + 1; i < bundles->member_begin[b + 1]; i++) {
            uint32_t a = bundles->member[i], k = i;
            for (; k > bundles->member_begin[b] && bundles->member[k - 1] > a; k--) {
                bundles->member[k] = bundles->member[k - 1];
            }
            bundles->member[k] = a;
        }
    }
}

/* Lists the bundles of each member. `count` is used up. */
static bool list_heirs(struct tr_bundle_finder *x, struct tr_bundles *bundles)
{
    uint32_t *count = x->count, total = bundles->member_begin[bundles->count];
    memset(count, 0, x->rows->attributes * sizeof *count);
    for (uint32_t k = 0; k < total; k++) {
        bundles->inherits += count[bundles->member[k]]++ == 0;
    }
    bundles->heir = tr_alloc(bundles->inherits, sizeof *bundles->heir);
    bundles->bundle_begin = tr_alloc((size_t)bundles->inherits + 1, sizeof *bundles->bundle_begin);
    bundles->bundle = tr_alloc(total, sizeof *bundles->bundle);
    bundles->heir_begin = tr_alloc((size_t)bundles->inherits + 1, sizeof *bundles->heir_begin);
    if (!bundles->heir || !bundles->bundle_begin || !bundles->bundle || !bundles->heir_begin) {
        return false;
    }
    uint32_t heirs = 0, at = 0;
    for (uint32_t a = 0; a < x->rows->attributes; a++) {
        if (count[a] > 0) {
            bundles->heir[heirs++] = a;
            bundles->bundle_begin[heirs] = at + count[a];
            bundles->heir_begin[heirs] = bundles->heir_begin[heirs - 1] + x->rows->begin[a + 1] -
                                         x->rows->begin[a];
            count[a] = at; // where its next bundle goes
            at = bundles->bundle_begin[heirs];
        }
    }
    for (uint32_t b = 0; b < bundles->count; b++) {
        for (uint32_t k = bundles->member_begin[b]; k < bundles->member_begin[b + 1]; k++) {
            bundles->bundle[count[bundles->member[k]]++] = b;
        }
    }
    bundles->inherited = tr_alloc(bundles->heir_begin[heirs], sizeof *bundles->inherited);
    return bundles->inherited != NULL;
}

/* ---- tokens in terms of bundles -------------------------------------------------------------- */

/* Where the rows and pairs of the next token go; without arrays they are only counted. */
struct token_lists {
    uint32_t *row, *pair;
    uint16_t *outcome;
    uint64_t rows, pairs;
};

static void write_single(const struct tr_bundle_finder *x, size_t token, uint32_t attribute,
                         struct token_lists *to)
{
    const struct tr_rows *rows = x->rows;
    if (attribute < rows->dense) {
        if (to->row) {
            to->row[to->rows] = tr_listed_row(token, x->kept + attribute);
        }
        to->rows++;
        return;
    }
    uint64_t begin = rows->begin[attribute], size = rows->begin[attribute + 1] - begin;
    size_t at = tr_rows_at(rows, attribute);
    for (uint64_t j = 0; to->pair && j < size; j++) {
        to->pair[to->pairs + j] = (uint32_t)(at + j);
        to->outcome[to->pairs + j] = tr_listed_outcome(token, rows->outcome[begin + j]);
    }
    to->pairs += size;
}

static void write_token(const struct tr_bundle_finder *x, size_t token, struct token_lists *to)
{
    for (uint32_t k = x->symbol_begin[token]; k < x->symbol_begin[token + 1]; k++) {
        uint32_t symbol = x->symbol.at[k];
        const struct tr_bundle_set *set = symbol & TR_BUNDLE ? &x->sets.at[symbol & ~TR_BUNDLE]
                                                             : NULL;
        if (set && set->bundle != TR_NONE) {
            if (to->row) {
                to->row[to->rows] = tr_listed_row(token, set->bundle);
            }
            to->rows++;
        }
        for (uint32_t i = 0; set && set->bundle == TR_NONE && i < set->size; i++) {
            write_single(x, token, x->members.at[set->begin + i], to);
        }
        if (!set) {
            write_single(x, token, symbol, to);
        }
    }
}

struct token_listing {
    const struct tr_bundle_finder *finder;
    struct tr_bundles *bundles;
};

/* How many rows and pairs each token has. */
static double count_piece(void *user, size_t begin, size_t end)
{
    const struct token_listing *x = user;
    for (size_t t = begin; t < end; t++) {
        struct token_lists counted = {0};
        write_token(x->finder, t, &counted);
        x->bundles->row_begin[t + 1] = (uint32_t)counted.rows;
        x->bundles->pair_begin[t + 1] = counted.pairs < UINT32_MAX ? (uint32_t)counted.pairs
                                                                   : UINT32_MAX;
    }
    return 0;
}

static double write_piece(void *user, size_t begin, size_t end)
{
    const struct token_listing *x = user;
    struct tr_bundles *bundles = x->bundles;
    struct token_lists to = {.row = bundles->row,
                             .pair = bundles->pair,
                             .outcome = bundles->outcome,
                             .rows = bundles->row_begin[begin],
                             .pairs = bundles->pair_begin[begin]};
    for (size_t t = begin; t < end; t++) {
        write_token(x->finder, t, &to);
    }
    return 0;
}

/* Turns counts into where each begins; their sum. */
static uint64_t add_up(uint32_t *begin, size_t tokens)
{
    uint64_t sum = 0;
    for (size_t t = 1; t <= tokens; t++) {
        sum += begin[t];
        begin[t] = (uint32_t)sum;
    }
    return sum;
}

static bool write_tokens(struct token_listing *x, struct tr_pool *pool)
{
    struct tr_bundles *bundles = x->bundles;
    size_t rows = bundles->row_begin[bundles->tokens], pairs = bundles->pair_begin[bundles->tokens];
    bundles->row = tr_alloc(rows + TR_ROWS_AHEAD, sizeof *bundles->row);
    bundles->pair = tr_alloc(pairs + TR_PAIRS_AHEAD, sizeof *bundles->pair);
    bundles->outcome = tr_alloc(pairs, sizeof *bundles->outcome);
    if (!bundles->row || !bundles->pair || !bundles->outcome) {
        return false;
    }
    tr_pool_sum(pool, bundles->tokens, write_piece, x);
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Whether the corpus can be bundled at all, by what the numbers here can hold. */
static bool is_possible(const struct tr_occurrences *occurrences, size_t tokens,
                        const struct tr_rows *rows)
{
    return !tr_occurrences_have_values(occurrences) && rows->attributes > 0 && rows->outcome &&
           rows->attributes < TR_BUNDLE && rows->size < TR_BUNDLE && tokens < TR_BUNDLE &&
           rows->width <= TR_WIDEST_BUNDLE;
}

/* Whether lists pay, once their sizes are known: pairs are listed for each token, which takes too much
 * memory where a row has many. `most` is how many rows and pairs there may be for each attribute. */
static trellis_status weigh(struct token_listing *x, double most, struct tr_pool *pool,
                            bool *ret_pays, trellis_error *error)
{
    const struct tr_bundle_finder *finder = x->finder;
    struct tr_bundles *bundles = x->bundles;
    bundles->row_begin = tr_alloc(finder->tokens + 1, sizeof *bundles->row_begin);
    bundles->pair_begin = tr_alloc(finder->tokens + 1, sizeof *bundles->pair_begin);
    if (!bundles->row_begin || !bundles->pair_begin) {
        return tr_fail_memory(error);
    }
    tr_pool_sum(pool, finder->tokens, count_piece, x);
    uint64_t rows = add_up(bundles->row_begin, finder->tokens);
    uint64_t pairs = add_up(bundles->pair_begin, finder->tokens);
    uint64_t sizes[] = {finder->occurrences->attribute.size, rows + pairs, pairs > UINT32_MAX};
    trellis_status status = finder->ranks ? tr_ranks_sum_integers(finder->ranks, sizes, 3, error)
                                          : TRELLIS_OK;
    *ret_pays = sizes[0] > 0 && (double)sizes[1] <= most * (double)sizes[0] && sizes[2] == 0 &&
                (uint64_t)finder->kept + finder->rows->dense <= TR_LISTED_ROWS;
    return status;
}

/* The tokens by what was found; *ret_bundles stays NULL where that does not pay. Without sets there is
 * nothing to inherit, and no `count`. */
static trellis_status list_tokens(struct tr_bundle_finder *x, double most, struct tr_pool *pool,
                                  struct tr_bundles **ret_bundles, trellis_error *error)
{
    struct tr_bundles *bundles = tr_alloc(1, sizeof *bundles);
    if (!bundles) {
        return tr_fail_memory(error);
    }
    bundles->rows = x->rows;
    bundles->tokens = x->tokens;
    struct token_listing listing = {x, bundles};
    bool pays = false;
    trellis_status status = weigh(&listing, most, pool, &pays, error);
    if (!status && pays &&
        (!list_members(x, bundles) || (x->count && !list_heirs(x, bundles)) ||
         !write_tokens(&listing, pool))) {
        status = tr_fail_memory(error);
    }
    if (status || !pays) {
        tr_bundles_destroy(bundles);
        return status;
    }
    sort_members(bundles);
    *ret_bundles = bundles;
    return TRELLIS_OK;
}

/* Looks for the sets of tokens in several parts; *ret_finder is NULL where there can be none. */
static trellis_status search_parts(const struct tr_occurrences *occurrences, const size_t *part,
                                   size_t parts, const struct tr_rows *rows, struct tr_ranks *ranks,
                                   struct tr_bundle_finder **ret_finder, trellis_error *error)
{
    uint64_t all = part[parts];
    *ret_finder = NULL;
    trellis_status status = ranks ? tr_ranks_sum_integers(ranks, &all, 1, error) : TRELLIS_OK;
    if (status || !is_possible(occurrences, all, rows)) {
        return status;
    }
    struct tr_bundle_finder *x = tr_alloc(1, sizeof *x);
    if (!x) {
        return tr_fail_memory(error);
    }
    *x = (struct tr_bundle_finder){.occurrences = occurrences,
                                   .rows = rows,
                                   .tokens = part[parts],
                                   .part = part,
                                   .parts = parts,
                                   .ranks = ranks};
    if (!finder_begin(x) || !tr_bundle_imply_all(x) || !tr_bundle_divide_all(x) ||
        !number_bundles(x)) {
        tr_bundle_finder_destroy(x);
        return tr_fail_memory(error);
    }
    x->part = NULL; // the caller's
    *ret_finder = x;
    return TRELLIS_OK;
}

trellis_status tr_bundles_of_search(struct tr_bundle_finder *finder, struct tr_pool *pool,
                                    struct tr_bundles **ret_bundles, trellis_error *error)
{
    *ret_bundles = NULL;
    return finder ? list_tokens(finder, 1.25, pool, ret_bundles, error) : TRELLIS_OK;
}

trellis_status tr_bundles_create(const struct tr_occurrences *occurrences, size_t tokens,
                                 const struct tr_rows *rows, struct tr_bundles **ret_bundles,
                                 trellis_error *error)
{
    const size_t part[] = {0, tokens};
    struct tr_bundle_finder *finder;
    *ret_bundles = NULL;
    trellis_status status = search_parts(occurrences, part, 1, rows, NULL, &finder, error);
    if (!status) {
        status = tr_bundles_of_search(finder, NULL, ret_bundles, error);
    }
    tr_bundle_finder_destroy(finder);
    return status;
}

trellis_status tr_bundles_list(const struct tr_occurrences *occurrences, size_t tokens,
                               const struct tr_rows *rows, struct tr_pool *pool,
                               struct tr_bundles **ret_bundles, trellis_error *error)
{
    *ret_bundles = NULL;
    if (!is_possible(occurrences, tokens, rows)) {
        return TRELLIS_OK;
    }
    struct tr_bundle_finder x = {.occurrences = occurrences, .rows = rows, .tokens = tokens};
    x.symbol.at = occurrences->attribute.at; // no sets
    x.symbol_begin = occurrences->begin.at;
    return list_tokens(&x, 1.5, pool, ret_bundles, error);
}

/* Whether the segments of a corpus are bundled, by what they are on all ranks. */
static trellis_status takes_segments(const struct tr_dataset *dataset, struct tr_ranks *ranks,
                                     bool *ret_takes, trellis_error *error)
{
    uint64_t sizes[] = {dataset->node.attribute.size, dataset->segment.attribute.size,
                        tr_segment_rest(dataset, dataset->tokens)};
    trellis_status status = ranks ? tr_ranks_sum_integers(ranks, sizes, TR_COUNT(sizes), error)
                                  : TRELLIS_OK;
    *ret_takes = sizes[0] > 0 && sizes[1] > 0 && sizes[0] + sizes[1] <= UINT32_MAX / 2 &&
                 sizes[2] <= UINT32_MAX / 2 && !tr_occurrences_have_values(&dataset->node) &&
                 !tr_occurrences_have_values(&dataset->segment);
    return status;
}

trellis_status tr_bundles_search(const struct tr_dataset *dataset, const struct tr_rows *rows,
                                 struct tr_ranks *ranks, struct tr_bundle_finder **ret_finder,
                                 trellis_error *error)
{
    const size_t part[] = {0, tr_segment_starts(dataset, 0), tr_segment_ends(dataset, 0),
                           tr_segment_rest(dataset, 0), tr_segment_rest(dataset, dataset->tokens)};
    const size_t tokens[] = {0, dataset->tokens};
    bool segments = false;
    *ret_finder = NULL;
    trellis_status status = takes_segments(dataset, ranks, &segments, error);
    if (status || !segments) {
        return status ? status
                      : search_parts(&dataset->node, tokens, 1, rows, ranks, ret_finder, error);
    }
    struct tr_occurrences parts;
    status = tr_segment_parts(dataset, &parts)
                 ? search_parts(&parts, part, TR_COUNT(part) - 1, rows, ranks, ret_finder, error)
                 : tr_fail_memory(error);
    if (*ret_finder) {
        (*ret_finder)->parts_of_segments = parts;
        (*ret_finder)->occurrences = &(*ret_finder)->parts_of_segments;
        return TRELLIS_OK;
    }
    free(parts.begin.at);
    free(parts.attribute.at);
    return status;
}
