/* shared_pairs.c - the features of a corpus of which each rank has a share.
 *
 * All ranks number the attributes alike. How often one occurs is a sum over the ranks; the outcomes
 * that it was seen with are a union of sorted lists. The ranks give their lists one after the other,
 * so that there are never more than two ranks' in memory, and the union.
 */
#include "dataset/arranger.h"

#include "base/ranks.h"

bool tr_sum_counts(const struct tr_arranger *x, uint64_t *offset)
{
    return !x->ranks || !tr_ranks_sum_integers(x->ranks, offset, (size_t)x->count + 1, NULL);
}

bool tr_unite_marks(const struct tr_arranger *x, bool *marks)
{
    if (!x->ranks) {
        return true;
    }
    uint64_t *sum = tr_alloc(x->count, sizeof *sum);
    for (uint32_t a = 0; sum && a < x->count; a++) {
        sum[a] = marks[a];
    }
    bool ok = sum && !tr_ranks_sum_integers(x->ranks, sum, x->count, NULL);
    for (uint32_t a = 0; ok && a < x->count; a++) {
        marks[a] = sum[a] > 0;
    }
    free(sum);
    return ok;
}

/* The outcomes of each attribute, as they travel. */
struct lists {
    uint32_t *count; // [attributes] how many
    size_t attributes;
    uint32_t *outcome; // sorted within an attribute
    size_t size;
};

static void lists_free(struct lists *lists)
{
    free(lists->count);
    free(lists->outcome);
}

/* Writes the union of two sorted lists; returns its size. */
static size_t unite(const uint32_t *a, size_t a_size, const uint32_t *b, size_t b_size,
                    uint32_t *to)
{
    size_t i = 0, j = 0, size = 0;
    while (i < a_size || j < b_size) {
        bool from_a = j == b_size || (i < a_size && a[i] <= b[j]);
        uint32_t next = from_a ? a[i] : b[j];
        i += i < a_size && a[i] == next;
        j += j < b_size && b[j] == next;
        to[size++] = next;
    }
    return size;
}

/* Adds the lists of a rank to the pairs; false on allocation failure. */
static bool add_lists(struct tr_arranger *x, const struct lists *theirs)
{
    uint32_t *outcome = tr_alloc(x->outcome.size + theirs->size, sizeof *outcome);
    const uint32_t *next = theirs->outcome;
    uint64_t begin = 0, size = 0; // of the attribute's old list, and of the new ones
    for (uint32_t a = 0; outcome && a < x->count; a++) {
        uint64_t end = x->begin[a + 1];
        size += unite(x->outcome.at + begin, end - begin, next, theirs->count[a], outcome + size);
        next += theirs->count[a];
        begin = end;
        x->begin[a + 1] = size;
    }
    if (outcome) {
        free(x->outcome.at);
        x->outcome.at = outcome;
        x->outcome.size = x->outcome.capacity = size;
    }
    return outcome;
}

/* Takes the pairs of this rank away; false on allocation failure. */
static bool take_lists(struct tr_arranger *x, struct lists *own)
{
    own->count = tr_alloc(x->count, sizeof *own->count);
    own->attributes = x->count;
    own->outcome = x->outcome.at ? x->outcome.at : tr_alloc(0, sizeof *own->outcome);
    own->size = x->outcome.size;
    x->outcome.size = x->outcome.capacity = 0;
    x->outcome.at = tr_alloc(0, sizeof *x->outcome.at);
    for (uint32_t a = 0; own->count && a < x->count; a++) {
        own->count[a] = (uint32_t)(x->begin[a + 1] - x->begin[a]);
    }
    memset(x->begin, 0, ((size_t)x->count + 1) * sizeof *x->begin);
    return own->count && own->outcome && x->outcome.at;
}

/* The lists of one rank, for all. */
static bool give_lists(struct tr_ranks *ranks, unsigned from, struct lists *lists)
{
    return !tr_ranks_give(ranks, from, &lists->count, &lists->attributes, NULL) &&
           !tr_ranks_give(ranks, from, &lists->outcome, &lists->size, NULL);
}

bool tr_unite_pairs(struct tr_arranger *x)
{
    struct lists own = {0};
    if (!x->ranks) {
        return true;
    }
    bool ok = take_lists(x, &own);
    for (unsigned r = 0; ok && r < x->ranks->count; r++) {
        struct lists theirs = {0};
        bool mine = r == x->ranks->rank;
        ok = give_lists(x->ranks, r, mine ? &own : &theirs) && add_lists(x, mine ? &own : &theirs);
        lists_free(&theirs);
    }
    lists_free(&own);
    return ok;
}
