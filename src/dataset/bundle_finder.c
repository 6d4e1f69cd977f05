/* bundle_finder.c - finds the bundles of a corpus (bundles.h).
 *
 * Attribute a implies b if b occurs at all tokens that have a: the candidates are what the first
 * token has that a occurs at, and every other token with a strikes out those that it lacks.
 *
 * A token is divided greedily. Its attributes are taken in the order of how many others they imply,
 * the most first; each takes what it implies and no other has taken before. That gives few different
 * sets, because it depends on few attributes what is left for one. Sets that are seen often enough
 * become bundles, the others fall apart again.
 */
#include "dataset/bundles.h"

#include "base/hash.h"

/* Bundles, and attributes that imply others, occur at least this often. */
enum { LEAST_COUNT = 16 };
/* A token's attributes beyond these imply nothing, and are implied by none that it has first. */
enum { CANDIDATES = 64, HEADS = 64 };

#define BUNDLE ((uint32_t)1 << 31) // of a symbol: a set of attributes, not a single one

/* What the members of a set would cost one by one, in vectors or pairs that are added. */
static uint32_t cost_of(const struct tr_rows *rows, uint32_t attribute)
{
    return attribute < rows->dense
               ? rows->width / TR_LANES
               : (uint32_t)(rows->begin[attribute + 1] - rows->begin[attribute]);
}

struct set {
    uint32_t begin, size; // in `members`
    uint32_t count;       // tokens that have it
    uint32_t bundle;      // its number, TR_NONE where it is none
    uint64_t hash;
};

struct finder {
    const struct tr_occurrences *occurrences;
    const struct tr_rows *rows;
    size_t tokens;
    uint32_t *count; // [attributes] tokens that have it
    uint32_t *first; // [attributes] the first of them
    uint64_t *mask;  // [attributes] which of that token's attributes it implies
    uint8_t *many;   // [attributes] how many these are
    uint32_t *stamp; // [attributes] token + 1 while a token's attribute is not taken
    TR_ARRAY(struct set) sets;
    TR_ARRAY(uint32_t) members;
    TR_ARRAY(uint32_t) slots; // set + 1, or 0; a power of two
    /* The tokens in symbols: an attribute, or BUNDLE + a set. */
    TR_ARRAY(uint32_t) symbol;
    uint32_t *symbol_begin; // [tokens + 1]
    uint32_t kept, kept_members;
};

static void finder_end(struct finder *x)
{
    free(x->count);
    free(x->first);
    free(x->mask);
    free(x->many);
    free(x->stamp);
    free(x->sets.at);
    free(x->members.at);
    free(x->slots.at);
    free(x->symbol.at);
    free(x->symbol_begin);
}

static bool finder_begin(struct finder *x)
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

/* ---- what implies what ----------------------------------------------------------------------- */

static void strike_out(struct finder *x, uint32_t attribute, uint32_t stamp)
{
    const uint32_t *candidate = x->occurrences->attribute.at +
                                x->occurrences->begin.at[x->first[attribute]];
    for (uint64_t left = x->mask[attribute]; left; left &= left - 1) {
        if (x->stamp[candidate[__builtin_ctzll(left)]] != stamp) {
            x->mask[attribute] &= ~(left & -left);
        }
    }
}

/* All that a token has, other than the attribute itself. */
static uint64_t candidates(const uint32_t *attribute, uint32_t size, uint32_t self)
{
    uint64_t mask = 0;
    for (uint32_t i = 0; i < size && i < CANDIDATES; i++) {
        mask |= (uint64_t)(attribute[i] != self) << i;
    }
    return mask;
}

static void find_implied(struct finder *x)
{
    const struct tr_occurrences *o = x->occurrences;
    for (size_t k = 0; k < o->attribute.size; k++) {
        x->count[o->attribute.at[k]]++;
    }
    for (uint32_t t = 0; t < x->tokens; t++) {
        uint32_t begin = o->begin.at[t], end = o->begin.at[t + 1];
        for (uint32_t k = begin; k < end; k++) {
            x->stamp[o->attribute.at[k]] = t + 1;
        }
        for (uint32_t k = begin; k < end; k++) {
            uint32_t a = o->attribute.at[k];
            if (x->count[a] < LEAST_COUNT) {
                continue;
            }
            if (!(x->count[a] & BUNDLE)) { // not seen before
                x->count[a] |= BUNDLE;
                x->first[a] = t;
                x->mask[a] = candidates(o->attribute.at + begin, end - begin, a);
            } else if (x->mask[a]) {
                strike_out(x, a, t + 1);
            }
        }
    }
    for (uint32_t a = 0; a < x->rows->attributes; a++) {
        x->many[a] = (uint8_t)__builtin_popcountll(x->mask[a]);
    }
}

/* ---- sets ------------------------------------------------------------------------------------ */

static bool is_set(const struct finder *x, const struct set *set, const uint32_t *members,
                   uint32_t size)
{
    return set->size == size &&
           memcmp(x->members.at + set->begin, members, size * sizeof *members) == 0;
}

static bool enlarge_slots(struct finder *x)
{
    size_t size = x->slots.size * 2;
    if (!tr_reserve(&x->slots, size)) {
        return false;
    }
    memset(x->slots.at, 0, size * sizeof *x->slots.at);
    x->slots.size = size;
    for (uint32_t s = 0; s < x->sets.size; s++) {
        size_t at = x->sets.at[s].hash & (size - 1);
        while (x->slots.at[at]) {
            at = (at + 1) & (size - 1);
        }
        x->slots.at[at] = s + 1;
    }
    return true;
}

/* Counts the set whose members are the last of `members`, from `begin` on: where it is known they
 * are removed again. False on allocation failure. */
static bool count_set(struct finder *x, uint32_t begin, uint32_t *ret_set)
{
    uint32_t *members = x->members.at + begin, size = (uint32_t)x->members.size - begin;
    uint64_t hash = tr_hash64(members, size * sizeof *members);
    size_t at = hash & (x->slots.size - 1);
    for (; x->slots.at[at]; at = (at + 1) & (x->slots.size - 1)) {
        struct set *set = &x->sets.at[x->slots.at[at] - 1];
        if (set->hash == hash && is_set(x, set, members, size)) {
            set->count++;
            x->members.size = begin;
            *ret_set = x->slots.at[at] - 1;
            return true;
        }
    }
    *ret_set = (uint32_t)x->sets.size;
    x->slots.at[at] = *ret_set + 1;
    struct set set = {begin, size, 1, TR_NONE, hash};
    return tr_push(&x->sets, set) && (x->sets.size * 2 < x->slots.size || enlarge_slots(x));
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* The attributes of a token that imply others, those that imply the most first. */
static size_t list_heads(const struct finder *x, const uint32_t *attribute, uint32_t size,
                         uint32_t *heads)
{
    size_t count = 0;
    int implied[HEADS];
    for (uint32_t k = 0; k < size && count < HEADS; k++) {
        int many = x->many[attribute[k]];
        if (many == 0) {
            continue;
        }
        size_t i = count++;
        for (; i > 0 && implied[i - 1] < many; i--) {
            implied[i] = implied[i - 1];
            heads[i] = heads[i - 1];
        }
        implied[i] = many;
        heads[i] = attribute[k];
    }
    return count;
}

/* What a head takes: itself and what it implies, as far as nobody has taken it. */
static bool take_set(struct finder *x, uint32_t head, uint32_t stamp)
{
    uint32_t begin = (uint32_t)x->members.size, set;
    const uint32_t *implied = x->occurrences->attribute.at +
                              x->occurrences->begin.at[x->first[head]];
    x->stamp[head] = 0;
    if (!tr_push(&x->members, head)) {
        return false;
    }
    for (uint64_t left = x->mask[head]; left; left &= left - 1) {
        uint32_t b = implied[__builtin_ctzll(left)];
        if (x->stamp[b] == stamp) {
            x->stamp[b] = 0;
            if (!tr_push(&x->members, b)) {
                return false;
            }
        }
    }
    if (x->members.size == begin + 1) {
        x->members.size = begin;
        return tr_push(&x->symbol, head);
    }
    return count_set(x, begin, &set) && tr_push(&x->symbol, BUNDLE | set);
}

static bool divide_token(struct finder *x, uint32_t token)
{
    const struct tr_occurrences *o = x->occurrences;
    const uint32_t *attribute = o->attribute.at + o->begin.at[token];
    uint32_t size = o->begin.at[token + 1] - o->begin.at[token], stamp = token + 1, heads[HEADS];
    bool ok = true;
    for (uint32_t k = 0; ok && k < size; k++) {
        bool again = x->stamp[attribute[k]] == stamp; // twice at one token
        x->stamp[attribute[k]] = stamp;
        ok = !again || tr_push(&x->symbol, attribute[k]);
    }
    size_t count = list_heads(x, attribute, size, heads);
    for (size_t i = 0; ok && i < count; i++) {
        ok = x->stamp[heads[i]] != stamp || take_set(x, heads[i], stamp);
    }
    for (uint32_t k = 0; ok && k < size; k++) {
        bool taken = x->stamp[attribute[k]] != stamp;
        x->stamp[attribute[k]] = 0;
        ok = taken || tr_push(&x->symbol, attribute[k]);
    }
    x->symbol_begin[token + 1] = (uint32_t)x->symbol.size;
    return ok;
}

static bool divide_tokens(struct finder *x)
{
    memset(x->stamp, 0, x->rows->attributes * sizeof *x->stamp);
    bool ok = true;
    for (uint32_t t = 0; ok && t < x->tokens; t++) {
        ok = divide_token(x, t) && x->members.size < BUNDLE;
    }
    return ok;
}

/* ---- bundles --------------------------------------------------------------------------------- */

static bool is_worth(const struct finder *x, const struct set *set)
{
    uint32_t cost = 0;
    for (uint32_t i = 0; i < set->size; i++) {
        cost += cost_of(x->rows, x->members.at[set->begin + i]);
    }
    return set->count >= LEAST_COUNT && cost > x->rows->width / TR_LANES;
}

static int by_count(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x < *y) - (*x > *y);
}

/* Numbers the sets that become bundles, frequent ones first. */
static bool number_bundles(struct finder *x)
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
static bool list_members(const struct finder *x, struct tr_bundles *bundles)
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
        const struct set *set = &x->sets.at[s];
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
static bool list_heirs(struct finder *x, struct tr_bundles *bundles)
{
    uint32_t *count = x->count, total = bundles->member_begin[bundles->count];
    memset(count, 0, x->rows->attributes * sizeof *count);
    for (uint32_t k = 0; k < total; k++) {
        bundles->inherits += count[bundles->member[k]]++ == 0;
    }
    bundles->heir = tr_alloc(bundles->inherits, sizeof *bundles->heir);
    bundles->bundle_begin = tr_alloc((size_t)bundles->inherits + 1, sizeof *bundles->bundle_begin);
    bundles->bundle = tr_alloc(total, sizeof *bundles->bundle);
    if (!bundles->heir || !bundles->bundle_begin || !bundles->bundle) {
        return false;
    }
    uint32_t heirs = 0, at = 0;
    for (uint32_t a = 0; a < x->rows->attributes; a++) {
        if (count[a] > 0) {
            bundles->heir[heirs++] = a;
            bundles->bundle_begin[heirs] = at + count[a];
            count[a] = at; // where its next bundle goes
            at = bundles->bundle_begin[heirs];
        }
    }
    for (uint32_t b = 0; b < bundles->count; b++) {
        for (uint32_t k = bundles->member_begin[b]; k < bundles->member_begin[b + 1]; k++) {
            bundles->bundle[count[bundles->member[k]]++] = b;
        }
    }
    return true;
}

/* ---- tokens in terms of bundles -------------------------------------------------------------- */

/* Where the rows and pairs of the next token go; without arrays they are only counted. */
struct token_lists {
    uint32_t *row, *pair;
    uint16_t *outcome;
    uint64_t rows, pairs;
};

static void write_single(const struct finder *x, uint32_t attribute, struct token_lists *to)
{
    const struct tr_rows *rows = x->rows;
    if (attribute < rows->dense) {
        if (to->row) {
            to->row[to->rows] = x->kept + attribute;
        }
        to->rows++;
        return;
    }
    uint64_t begin = rows->begin[attribute], size = rows->begin[attribute + 1] - begin;
    size_t at = tr_rows_at(rows, attribute);
    for (uint64_t j = 0; to->pair && j < size; j++) {
        to->pair[to->pairs + j] = (uint32_t)(at + j);
        to->outcome[to->pairs + j] = (uint16_t)rows->outcome[begin + j];
    }
    to->pairs += size;
}

static void write_token(const struct finder *x, size_t token, struct token_lists *to)
{
    for (uint32_t k = x->symbol_begin[token]; k < x->symbol_begin[token + 1]; k++) {
        uint32_t symbol = x->symbol.at[k];
        const struct set *set = symbol & BUNDLE ? &x->sets.at[symbol & ~BUNDLE] : NULL;
        if (set && set->bundle != TR_NONE) {
            if (to->row) {
                to->row[to->rows] = set->bundle;
            }
            to->rows++;
        }
        for (uint32_t i = 0; set && set->bundle == TR_NONE && i < set->size; i++) {
            write_single(x, x->members.at[set->begin + i], to);
        }
        if (!set) {
            write_single(x, symbol, to);
        }
    }
}

static bool write_tokens(const struct finder *x, struct tr_bundles *bundles,
                         struct token_lists counted)
{
    bundles->row_begin = tr_alloc(x->tokens + 1, sizeof *bundles->row_begin);
    bundles->pair_begin = tr_alloc(x->tokens + 1, sizeof *bundles->pair_begin);
    bundles->row = tr_alloc(counted.rows + TR_ROWS_AHEAD, sizeof *bundles->row);
    bundles->pair = tr_alloc(counted.pairs + TR_ROWS_AHEAD, sizeof *bundles->pair);
    bundles->outcome = tr_alloc(counted.pairs, sizeof *bundles->outcome);
    if (!bundles->row_begin || !bundles->pair_begin || !bundles->row || !bundles->pair ||
        !bundles->outcome) {
        return false;
    }
    struct token_lists to = {
        .row = bundles->row, .pair = bundles->pair, .outcome = bundles->outcome};
    for (size_t t = 0; t < x->tokens; t++) {
        write_token(x, t, &to);
        bundles->row_begin[t + 1] = (uint32_t)to.rows;
        bundles->pair_begin[t + 1] = (uint32_t)to.pairs;
    }
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Whether the corpus can be bundled at all, by what the numbers here can hold. */
static bool is_possible(const struct tr_occurrences *occurrences, size_t tokens,
                        const struct tr_rows *rows)
{
    return occurrences->value.size == 0 && occurrences->attribute.size > 0 && rows->outcome &&
           rows->attributes < BUNDLE && rows->size < BUNDLE && tokens < BUNDLE &&
           rows->width <= TR_WIDEST_BUNDLE;
}

static trellis_status build(struct finder *x, struct tr_bundles **ret_bundles, trellis_error *error)
{
    struct token_lists counted = {0};
    if (!finder_begin(x)) {
        return tr_fail_memory(error);
    }
    find_implied(x);
    if (!divide_tokens(x) || !number_bundles(x)) {
        return tr_fail_memory(error);
    }
    for (size_t t = 0; t < x->tokens; t++) {
        write_token(x, t, &counted);
    }
    /* Pairs are listed for each token, which takes too much memory where a row has many. */
    size_t before = x->occurrences->attribute.size;
    if (counted.rows + counted.pairs > before + before / 4) {
        return TRELLIS_OK;
    }
    struct tr_bundles *bundles = tr_alloc(1, sizeof *bundles);
    if (bundles) {
        bundles->rows = x->rows;
    }
    if (!bundles || !list_members(x, bundles) || !list_heirs(x, bundles) ||
        !write_tokens(x, bundles, counted)) {
        tr_bundles_destroy(bundles);
        return tr_fail_memory(error);
    }
    sort_members(bundles);
    *ret_bundles = bundles;
    return TRELLIS_OK;
}

trellis_status tr_bundles_create(const struct tr_occurrences *occurrences, size_t tokens,
                                 const struct tr_rows *rows, struct tr_bundles **ret_bundles,
                                 trellis_error *error)
{
    *ret_bundles = NULL;
    if (!is_possible(occurrences, tokens, rows)) {
        return TRELLIS_OK;
    }
    struct finder x = {.occurrences = occurrences, .rows = rows, .tokens = tokens};
    trellis_status status = build(&x, ret_bundles, error);
    if (*ret_bundles) {
        (*ret_bundles)->tokens = tokens;
    }
    finder_end(&x);
    return status;
}

/* Those of segments behind those of tokens; false on allocation failure. */
static bool join(const struct tr_dataset *dataset, size_t segments, struct tr_occurrences *joined)
{
    const struct tr_occurrences *node = &dataset->node, *segment = &dataset->segment;
    size_t before = node->attribute.size, more = segment->attribute.size;
    if (!tr_reserve(&joined->begin, dataset->tokens + segments + 1) ||
        !tr_reserve(&joined->attribute, before + more)) {
        return false;
    }
    memcpy(joined->attribute.at, node->attribute.at, before * sizeof(uint32_t));
    memcpy(joined->attribute.at + before, segment->attribute.at, more * sizeof(uint32_t));
    joined->attribute.size = before + more;
    memcpy(joined->begin.at, node->begin.at, dataset->tokens * sizeof(uint32_t));
    for (size_t c = 0; c <= segments; c++) {
        joined->begin.at[dataset->tokens + c] = (uint32_t)before + segment->begin.at[c];
    }
    joined->begin.size = dataset->tokens + segments + 1;
    return true;
}

trellis_status tr_bundles_of_dataset(const struct tr_dataset *dataset, const struct tr_rows *rows,
                                     struct tr_bundles **ret_bundles, trellis_error *error)
{
    const struct tr_occurrences *node = &dataset->node, *segment = &dataset->segment;
    size_t segments = dataset->tokens * dataset->max_segment;
    if (segment->attribute.size == 0 || node->attribute.size == 0 || segment->value.size ||
        node->attribute.size + segment->attribute.size > UINT32_MAX / 2 ||
        segments > UINT32_MAX / 2) {
        return tr_bundles_create(node, dataset->tokens, rows, ret_bundles, error);
    }
    struct tr_occurrences joined = {0};
    *ret_bundles = NULL;
    trellis_status status = join(dataset, segments, &joined)
                                ? tr_bundles_create(&joined, dataset->tokens + segments, rows,
                                                    ret_bundles, error)
                                : tr_fail_memory(error);
    free(joined.begin.at);
    free(joined.attribute.at);
    return status;
}
