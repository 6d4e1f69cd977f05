/* ranks.c - several processes that train one model: what they agree on, sum and gather. */
#include "base/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/structs.h"

/* Numbers that come from all ranks at once, to bound the memory. */
enum { ROOM = 1 << 21, LEAST = 1 << 12 };

static size_t piece_size(const struct tr_ranks *ranks)
{
    return ROOM / ranks->count > LEAST ? ROOM / ranks->count : LEAST;
}

static bool make_parcels(struct tr_parcels *parcels, unsigned count)
{
    parcels->send = tr_alloc(count, sizeof *parcels->send);
    parcels->send_size = tr_alloc(count, sizeof *parcels->send_size);
    parcels->receive = tr_alloc(count, sizeof *parcels->receive);
    parcels->receive_size = tr_alloc(count, sizeof *parcels->receive_size);
    return parcels->send && parcels->send_size && parcels->receive && parcels->receive_size;
}

void tr_ranks_close(struct tr_ranks *ranks)
{
    free(ranks->parcels.send);
    free(ranks->parcels.send_size);
    free(ranks->parcels.receive);
    free(ranks->parcels.receive_size);
    free(ranks->few);
    ranks->parcels = (struct tr_parcels){0};
    ranks->few = NULL;
}

trellis_status tr_ranks_open(struct tr_ranks *ranks, const trellis_ranks *given,
                             trellis_error *error)
{
    *ranks = (struct tr_ranks){.count = 1};
    if (!given) {
        return TRELLIS_OK;
    }
    if (!tr_struct_take(&ranks->given, sizeof ranks->given, given)) {
        return tr_fail(error, TRELLIS_OPTION, "ranks: struct_size is not set");
    }
    if (!ranks->given.agree || !ranks->given.exchange || ranks->given.rank >= ranks->given.count) {
        return tr_fail(error, TRELLIS_OPTION, "ranks: a function is missing, or rank >= count");
    }
    ranks->rank = ranks->given.rank;
    ranks->count = ranks->given.count;
    ranks->few = tr_alloc(ranks->count, TR_FEW * sizeof *ranks->few);
    if (!make_parcels(&ranks->parcels, ranks->count) || !ranks->few) { // the others wait for it
        trellis_status status = tr_ranks_agree(ranks, tr_fail_memory(error), error);
        tr_ranks_close(ranks);
        return status;
    }
    return TRELLIS_OK;
}

trellis_status tr_ranks_agree(struct tr_ranks *ranks, trellis_status status, trellis_error *error)
{
    if (tr_ranks_alone(ranks)) {
        return status;
    }
    if (!ranks->failure.status) {
        trellis_error first = {.status = status};
        if (status && error) {
            first = *error;
        } else if (status) {
            tr_fail_memory(&first);
        }
        status = ranks->given.agree(ranks->given.user, status, &first);
        if (!status) {
            return TRELLIS_OK;
        }
        ranks->failure = first;
        ranks->failure.status = status;
    }
    if (error) {
        *error = ranks->failure;
    }
    return ranks->failure.status;
}

static trellis_status exchange(struct tr_ranks *ranks, trellis_error *error)
{
    const struct tr_parcels *parcels = &ranks->parcels;
    return ranks->given.exchange(ranks->given.user, parcels->send, parcels->send_size,
                                 parcels->receive, parcels->receive_size, error);
}

trellis_status tr_ranks_gather_at_once(struct tr_ranks *ranks, void *bytes, const size_t *begin,
                                       trellis_error *error)
{
    const struct tr_parcels *parcels = &ranks->parcels;
    if (tr_ranks_alone(ranks)) {
        return TRELLIS_OK;
    }
    for (unsigned r = 0; r < ranks->count; r++) {
        bool other = r != ranks->rank;
        parcels->send[r] = (char *)bytes + begin[ranks->rank];
        parcels->send_size[r] = other ? begin[ranks->rank + 1] - begin[ranks->rank] : 0;
        parcels->receive[r] = (char *)bytes + begin[r];
        parcels->receive_size[r] = other ? begin[r + 1] - begin[r] : 0;
    }
    return exchange(ranks, error);
}

trellis_status tr_ranks_gather(struct tr_ranks *ranks, void *bytes, const size_t *begin,
                               trellis_error *error)
{
    trellis_status status = tr_ranks_agree(ranks, TRELLIS_OK, error);
    return status ? status : tr_ranks_gather_at_once(ranks, bytes, begin, error);
}

/* Tells each rank how many bytes come to it, and hears that of the others: sizes [count]. */
static trellis_status exchange_sizes(struct tr_ranks *ranks, const size_t *begin, uint64_t *sizes,
                                     trellis_error *error)
{
    const struct tr_parcels *parcels = &ranks->parcels;
    uint64_t *own = tr_alloc(ranks->count, sizeof *own);
    trellis_status status = tr_ranks_agree(ranks, own ? TRELLIS_OK : tr_fail_memory(error), error);
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        own[r] = begin[r + 1] - begin[r];
        parcels->send[r] = &own[r];
        parcels->receive[r] = &sizes[r];
        parcels->send_size[r] = parcels->receive_size[r] = r == ranks->rank ? 0 : sizeof *own;
    }
    if (!status) {
        sizes[ranks->rank] = own[ranks->rank];
        status = exchange(ranks, error);
    }
    free(own);
    return status;
}

trellis_status tr_ranks_scatter(struct tr_ranks *ranks, const void *bytes, const size_t *begin,
                                void **ret_bytes, size_t *ret_begin, trellis_error *error)
{
    const struct tr_parcels *parcels = &ranks->parcels;
    uint64_t *sizes = tr_alloc(ranks->count, sizeof *sizes);
    *ret_bytes = NULL;
    trellis_status status = tr_ranks_agree(ranks, sizes ? TRELLIS_OK : tr_fail_memory(error),
                                           error);
    status = status ? status : exchange_sizes(ranks, begin, sizes, error);
    ret_begin[0] = 0;
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        ret_begin[r + 1] = ret_begin[r] + sizes[r];
    }
    free(sizes);
    if (!status) {
        *ret_bytes = tr_alloc(ret_begin[ranks->count], 1);
        status = tr_ranks_agree(ranks, *ret_bytes ? TRELLIS_OK : tr_fail_memory(error), error);
    }
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        bool other = r != ranks->rank;
        parcels->send[r] = (const char *)bytes + begin[r];
        parcels->send_size[r] = other ? begin[r + 1] - begin[r] : 0;
        parcels->receive[r] = (char *)*ret_bytes + ret_begin[r];
        parcels->receive_size[r] = other ? ret_begin[r + 1] - ret_begin[r] : 0;
        if (!other && begin[r + 1] > begin[r]) {
            memcpy((char *)*ret_bytes + ret_begin[r], (const char *)bytes + begin[r],
                   begin[r + 1] - begin[r]);
        }
    }
    return status ? status : exchange(ranks, error);
}

trellis_status tr_ranks_broadcast(struct tr_ranks *ranks, unsigned from, void *bytes, size_t size,
                                  trellis_error *error)
{
    if (tr_ranks_alone(ranks)) {
        return TRELLIS_OK;
    }
    size_t *begin = tr_alloc((size_t)ranks->count + 1, sizeof *begin);
    if (!begin) {
        return tr_ranks_agree(ranks, tr_fail_memory(error), error);
    }
    for (unsigned r = from + 1; r <= ranks->count; r++) {
        begin[r] = size;
    }
    trellis_status status = tr_ranks_gather(ranks, bytes, begin, error);
    free(begin);
    return status;
}

/* The piece `at` .. of what belongs to a rank. */
static size_t piece_of(const struct tr_ranks *ranks, const size_t *begin, unsigned rank, size_t at,
                       size_t *ret_first)
{
    size_t first = begin[rank] + at, end = begin[rank + 1], most = piece_size(ranks);
    *ret_first = first < end ? first : end;
    return first >= end ? 0 : end - first < most ? end - first : most;
}

/* Sends one piece of every part to its owner, and adds what comes for the part of this rank. */
static trellis_status sum_piece(struct tr_ranks *ranks, double *numbers, const size_t *begin,
                                size_t at, double *room, trellis_error *error)
{
    const struct tr_parcels *parcels = &ranks->parcels;
    size_t most = piece_size(ranks), mine, first;
    size_t size = piece_of(ranks, begin, ranks->rank, at, &mine);
    for (unsigned r = 0; r < ranks->count; r++) {
        size_t theirs = r == ranks->rank ? 0 : piece_of(ranks, begin, r, at, &first);
        parcels->send[r] = theirs ? numbers + first : numbers;
        parcels->send_size[r] = theirs * sizeof *numbers;
        parcels->receive[r] = room + r * most;
        parcels->receive_size[r] = r == ranks->rank ? 0 : size * sizeof *numbers;
    }
    trellis_status status = exchange(ranks, error);
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        for (size_t j = 0; r != ranks->rank && j < size; j++) {
            numbers[mine + j] += room[r * most + j];
        }
    }
    return status;
}

/* After it, the sums of part r, begin[r] .. begin[r + 1] - 1, are on rank r. */
static trellis_status sum_parts(struct tr_ranks *ranks, double *numbers, const size_t *begin,
                                trellis_error *error)
{
    size_t longest = 0;
    for (unsigned r = 0; r < ranks->count; r++) {
        longest = begin[r + 1] - begin[r] > longest ? begin[r + 1] - begin[r] : longest;
    }
    double *room = tr_alloc(ranks->count * piece_size(ranks), sizeof *room);
    trellis_status status = tr_ranks_agree(ranks, room ? TRELLIS_OK : tr_fail_memory(error), error);
    for (size_t at = 0; !status && at < longest; at += piece_size(ranks)) {
        status = sum_piece(ranks, numbers, begin, at, room, error);
    }
    free(room);
    return status;
}

trellis_status tr_ranks_sum(struct tr_ranks *ranks, double *numbers, size_t count,
                            trellis_error *error)
{
    if (tr_ranks_alone(ranks)) {
        return TRELLIS_OK;
    }
    size_t *begin = tr_alloc(2 * ((size_t)ranks->count + 1), sizeof *begin);
    if (!begin) {
        return tr_ranks_agree(ranks, tr_fail_memory(error), error);
    }
    size_t *bytes = begin + ranks->count + 1;
    for (unsigned r = 0; r <= ranks->count; r++) {
        begin[r] = tr_ranks_share(ranks, count, r);
        bytes[r] = begin[r] * sizeof *numbers;
    }
    trellis_status status = sum_parts(ranks, numbers, begin, error);
    if (!status) {
        status = tr_ranks_gather(ranks, numbers, bytes, error);
    }
    free(begin);
    return status;
}

/* Gives all ranks the numbers of each: ranks->few. */
static trellis_status gather_few(struct tr_ranks *ranks, const double *numbers, size_t count,
                                 trellis_error *error)
{
    const struct tr_parcels *parcels = &ranks->parcels;
    for (unsigned r = 0; r < ranks->count; r++) {
        parcels->send[r] = numbers;
        parcels->receive[r] = ranks->few + r * TR_FEW;
        parcels->send_size[r] = r == ranks->rank ? 0 : count * sizeof *numbers;
        parcels->receive_size[r] = parcels->send_size[r];
    }
    memcpy(ranks->few + ranks->rank * TR_FEW, numbers, count * sizeof *numbers);
    return exchange(ranks, error);
}

trellis_status tr_ranks_sum_few(struct tr_ranks *ranks, double *numbers, size_t count,
                                trellis_error *error)
{
    if (tr_ranks_alone(ranks)) {
        return TRELLIS_OK;
    }
    trellis_status status = gather_few(ranks, numbers, count, error);
    for (size_t j = 0; !status && j < count; j++) {
        numbers[j] = 0;
        for (unsigned r = 0; r < ranks->count; r++) { // in the same order everywhere
            numbers[j] += ranks->few[r * TR_FEW + j];
        }
    }
    return status;
}

trellis_status tr_ranks_largest(struct tr_ranks *ranks, double *number, trellis_error *error)
{
    if (tr_ranks_alone(ranks)) {
        return TRELLIS_OK;
    }
    trellis_status status = tr_ranks_agree(ranks, TRELLIS_OK, error);
    status = status ? status : gather_few(ranks, number, 1, error);
    for (unsigned r = 0; !status && r < ranks->count; r++) {
        *number = ranks->few[r * TR_FEW] > *number ? ranks->few[r * TR_FEW] : *number;
    }
    return status;
}

/* A number is sent as two halves, which are exact as doubles, and so are their sums. */
trellis_status tr_ranks_sum_integers(struct tr_ranks *ranks, uint64_t *numbers, size_t count,
                                     trellis_error *error)
{
    if (tr_ranks_alone(ranks)) {
        return TRELLIS_OK;
    }
    double *halves = tr_alloc(2 * (count < ROOM ? count : ROOM), sizeof *halves);
    trellis_status status = tr_ranks_agree(ranks, halves ? TRELLIS_OK : tr_fail_memory(error),
                                           error);
    for (size_t at = 0; !status && at < count; at += ROOM) {
        size_t size = count - at < ROOM ? count - at : ROOM;
        for (size_t i = 0; i < size; i++) {
            halves[2 * i] = (double)(uint32_t)numbers[at + i];
            halves[2 * i + 1] = (double)(numbers[at + i] >> 32);
        }
        status = tr_ranks_sum(ranks, halves, 2 * size, error);
        for (size_t i = 0; !status && i < size; i++) {
            numbers[at + i] = (uint64_t)halves[2 * i] + ((uint64_t)halves[2 * i + 1] << 32);
        }
    }
    free(halves);
    return status;
}

trellis_status tr_ranks_give(struct tr_ranks *ranks, unsigned from, uint32_t **numbers,
                             size_t *count, trellis_error *error)
{
    uint64_t size = *count;
    trellis_status status = tr_ranks_broadcast(ranks, from, &size, sizeof size, error);
    if (!status && ranks->rank != from) {
        free(*numbers);
        *numbers = tr_alloc(size, sizeof **numbers);
        *count = *numbers ? size : 0;
    }
    if (!status) {
        status = tr_ranks_agree(ranks, *numbers ? TRELLIS_OK : tr_fail_memory(error), error);
    }
    return status ? status
                  : tr_ranks_broadcast(ranks, from, *numbers, size * sizeof **numbers, error);
}

trellis_status tr_ranks_compare(struct tr_ranks *ranks, uint64_t number, unsigned *ret_other,
                                trellis_error *error)
{
    *ret_other = ranks->count;
    if (tr_ranks_alone(ranks)) {
        return TRELLIS_OK;
    }
    size_t *begin = tr_alloc((size_t)ranks->count + 1, sizeof *begin);
    uint64_t *all = tr_alloc(ranks->count, sizeof *all);
    trellis_status status;
    if (begin && all) {
        for (unsigned r = 0; r <= ranks->count; r++) {
            begin[r] = r * sizeof *all;
        }
        all[ranks->rank] = number;
        status = tr_ranks_gather(ranks, all, begin, error);
    } else {
        status = tr_ranks_agree(ranks, tr_fail_memory(error), error);
    }
    for (unsigned r = ranks->count; !status && r-- > 0;) {
        *ret_other = all[r] != all[0] ? r : *ret_other;
    }
    free(begin);
    free(all);
    return status;
}
