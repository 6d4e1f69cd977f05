/* segment_parts.c - attributes of segments that belong to where they begin or end, listed once. */
#include "dataset/segment_parts.h"

/* Attributes in ascending order; one may be there twice. */
struct list {
    const uint32_t *at;
    uint32_t size;
};

struct finder {
    const struct tr_dataset *dataset;
    struct tr_occurrences start, end; // [tokens]
    uint32_t *common, *left;          // [the longest list] scratch
    uint64_t saved;                   // occurrences of segments that need not be listed
};

static struct list list_of(const struct tr_occurrences *occurrences, size_t token)
{
    uint32_t begin = occurrences->begin.at[token];
    return (struct list){occurrences->attribute.at + begin,
                         occurrences->begin.at[token + 1] - begin};
}

/* What is in both; `to` may be a's own. */
static struct list intersect(struct list a, struct list b, uint32_t *to)
{
    uint32_t size = 0;
    for (uint32_t i = 0, k = 0; i < a.size && k < b.size;) {
        if (a.at[i] == b.at[k]) {
            to[size++] = a.at[i++];
            k++;
        } else if (a.at[i] < b.at[k]) {
            i++;
        } else {
            k++;
        }
    }
    return (struct list){to, size};
}

/* a without b, which is a part of it. */
static struct list subtract(struct list a, struct list b, uint32_t *to)
{
    uint32_t size = 0;
    for (uint32_t i = 0, k = 0; i < a.size; i++) {
        if (k < b.size && a.at[i] == b.at[k]) {
            k++;
        } else {
            to[size++] = a.at[i];
        }
    }
    return (struct list){to, size};
}

/* Adds a list as that of the next token; false on allocation failure. */
static bool append(struct tr_occurrences *to, struct list list)
{
    bool ok = tr_reserve(&to->attribute, to->attribute.size + list.size);
    for (uint32_t i = 0; ok && i < list.size; i++) {
        to->attribute.at[to->attribute.size++] = list.at[i];
    }
    return ok && tr_push(&to->begin, (uint32_t)to->attribute.size);
}

/* What all segments have that begin at token s of a sequence that ends before `end`. */
static bool find_start(struct finder *x, size_t s, size_t end)
{
    const struct tr_occurrences *segment = &x->dataset->segment;
    size_t rows = x->dataset->max_segment, d = 2;
    struct list common = list_of(segment, s * rows);
    for (; d <= rows && s + d <= end; d++) {
        common = intersect(common, list_of(segment, (s + d - 1) * rows + d - 1), x->common);
    }
    x->saved += common.size * (uint64_t)(d - 1);
    return append(&x->start, common);
}

/* The attributes of the segment of d tokens that ends at e, without those of its start. */
static struct list without_start(struct finder *x, size_t e, size_t d, uint32_t *to)
{
    size_t rows = x->dataset->max_segment;
    return subtract(list_of(&x->dataset->segment, e * rows + d - 1), list_of(&x->start, e + 1 - d),
                    to);
}

/* What all segments have that end at token e of a sequence that begins at `begin`, beside what they
 * have by their starts. */
static bool find_end(struct finder *x, size_t e, size_t begin)
{
    size_t rows = x->dataset->max_segment, d = 2;
    struct list common = without_start(x, e, 1, x->common);
    for (; d <= rows && begin + d <= e + 1; d++) {
        common = intersect(common, without_start(x, e, d, x->left), x->common);
    }
    x->saved += common.size * (uint64_t)(d - 1);
    return append(&x->end, common);
}

static bool find(struct finder *x)
{
    const struct tr_dataset *dataset = x->dataset;
    bool ok = tr_push(&x->start.begin, 0) && tr_push(&x->end.begin, 0);
    for (size_t q = 0; ok && q < dataset->sequences; q++) {
        size_t begin = dataset->sequence.at[q], end = dataset->sequence.at[q + 1];
        for (size_t s = begin; ok && s < end; s++) {
            ok = find_start(x, s, end);
        }
        for (size_t e = begin; ok && e < end; e++) {
            ok = find_end(x, e, begin);
        }
    }
    return ok;
}

static bool append_all(struct tr_occurrences *to, const struct tr_occurrences *from, size_t tokens)
{
    bool ok = true;
    for (size_t t = 0; ok && t < tokens; t++) {
        ok = append(to, list_of(from, t));
    }
    return ok;
}

static bool append_rest(struct finder *x, struct tr_occurrences *to)
{
    const struct tr_dataset *dataset = x->dataset;
    bool ok = true;
    for (size_t q = 0; ok && q < dataset->sequences; q++) {
        size_t begin = dataset->sequence.at[q], end = dataset->sequence.at[q + 1];
        for (size_t e = begin; ok && e < end; e++) {
            for (size_t d = 1; ok && d <= dataset->max_segment; d++) {
                struct list rest = {0};
                if (begin + d <= e + 1) {
                    rest = without_start(x, e, d, x->left);
                    rest = subtract(rest, list_of(&x->end, e), x->left);
                }
                ok = append(to, rest);
            }
        }
    }
    return ok;
}

static uint32_t longest_list(const struct tr_dataset *dataset)
{
    uint32_t longest = 0;
    for (size_t k = 0; k < dataset->tokens * dataset->max_segment; k++) {
        uint32_t size = list_of(&dataset->segment, k).size;
        longest = size > longest ? size : longest;
    }
    return longest;
}

bool tr_segment_parts(const struct tr_dataset *dataset, struct tr_occurrences *ret_parts)
{
    size_t tokens = dataset->tokens;
    struct finder x = {.dataset = dataset};
    *ret_parts = (struct tr_occurrences){0};
    uint32_t longest = longest_list(dataset);
    x.common = tr_alloc(longest, sizeof *x.common);
    x.left = tr_alloc(longest, sizeof *x.left);
    bool ok = x.common && x.left && find(&x);
    size_t size = dataset->node.attribute.size + dataset->segment.attribute.size +
                  x.start.attribute.size + x.end.attribute.size - x.saved;
    ok = ok && tr_reserve(&ret_parts->attribute, size) &&
         tr_reserve(&ret_parts->begin, tokens * (3 + dataset->max_segment) + 1) &&
         tr_push(&ret_parts->begin, 0) && append_all(ret_parts, &dataset->node, tokens) &&
         append_all(ret_parts, &x.start, tokens) && append_all(ret_parts, &x.end, tokens) &&
         append_rest(&x, ret_parts);
    free(x.common);
    free(x.left);
    free(x.start.begin.at);
    free(x.start.attribute.at);
    free(x.end.begin.at);
    free(x.end.attribute.at);
    return ok;
}
