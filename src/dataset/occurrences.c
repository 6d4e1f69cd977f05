/* occurrences.c - the occurrences of attributes, sorted and rewritten with new numbers. Within a token
 * they are sorted, so that the dense rows are added in one run without a mispredicted branch. */
#include "dataset/arranger.h"

#include "base/pool.h"

/* Sorts the attributes of one token together with their values. Shell's sort: usually there are
 * twenty of them, and ten thousand at worst. */
static void sort_token(uint32_t *attribute, float *value, size_t count)
{
    size_t gap = 1;
    while (gap < count / 3) {
        gap = gap * 3 + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (size_t i = gap; i < count; i++) {
            uint32_t moved = attribute[i];
            float moved_value = value ? value[i] : 1;
            size_t j = i;
            for (; j >= gap && attribute[j - gap] > moved; j -= gap) {
                attribute[j] = attribute[j - gap];
                if (value) {
                    value[j] = value[j - gap];
                }
            }
            attribute[j] = moved;
            if (value) {
                value[j] = moved_value;
            }
        }
    }
}

void tr_occurrences_sort(struct tr_occurrences *occurrences, size_t first, size_t end)
{
    float *value = occurrences->value.size ? occurrences->value.at : NULL;
    for (size_t t = first; t < end; t++) {
        uint32_t from = occurrences->begin.at[t], to = occurrences->begin.at[t + 1];
        if (to > from) {
            sort_token(occurrences->attribute.at + from, value ? value + from : NULL, to - from);
        }
    }
}

/* Rewrites the occurrences with the new numbers, without the dropped ones, sorted within a
 * token. */
static void renumber_kept(struct tr_occurrences *occurrences, size_t tokens, const uint32_t *number)
{
    uint32_t *attribute = occurrences->attribute.at, from = 0, out = 0;
    float *value = occurrences->value.size ? occurrences->value.at : NULL;
    for (size_t t = 0; t < tokens; t++) {
        uint32_t end = occurrences->begin.at[t + 1], first = out;
        for (; from < end; from++) {
            uint32_t a = number[attribute[from]];
            if (a != TR_NONE) {
                if (value) {
                    value[out] = value[from];
                }
                attribute[out++] = a;
            }
        }
        if (out > first) {
            sort_token(attribute + first, value ? value + first : NULL, out - first);
        }
        occurrences->begin.at[t + 1] = out;
    }
    occurrences->attribute.size = out;
    if (value) {
        occurrences->value.size = out;
    }
}

struct renumbering {
    struct tr_occurrences *occurrences;
    const uint32_t *number;
};

static double renumber_piece(void *user, size_t first, size_t end)
{
    const struct renumbering *x = user;
    uint32_t *attribute = x->occurrences->attribute.at;
    for (uint32_t k = x->occurrences->begin.at[first]; k < x->occurrences->begin.at[end]; k++) {
        attribute[k] = x->number[attribute[k]];
    }
    tr_occurrences_sort(x->occurrences, first, end);
    return 0;
}

/* Where no attribute is dropped, tokens do not depend on each other and the threads share them. */
void tr_renumber_occurrences(const struct tr_arranger *x)
{
    struct tr_occurrences *occurrences = tr_occurrences_of(x->dataset, x->edge);
    if (x->kept + x->shared == x->count) {
        struct renumbering renumbering = {occurrences, x->number};
        tr_pool_sum(x->pool, x->dataset->tokens, renumber_piece, &renumbering);
    } else {
        renumber_kept(occurrences, x->dataset->tokens, x->number);
    }
    if (x->dev) {
        renumber_kept(tr_occurrences_of(x->dev, x->edge), x->dev->tokens, x->number);
    }
    if (!x->edge && x->dataset->max_segment) {
        renumber_kept(&x->dataset->segment, x->dataset->tokens * x->dataset->max_segment,
                      x->number);
    }
    if (!x->edge && x->dev && x->dev->max_segment) {
        renumber_kept(&x->dev->segment, x->dev->tokens * x->dev->max_segment, x->number);
    }
}
