/* touched.c - sums of a vector of which every rank touches but a part (slices.h).
 *
 * What travels to one rank is the numbers whose bits are set, one after the other. Both sides have
 * the bits, so there is nothing else to say.
 */
#include "base/slices.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Numbers of each part that travel at once, to bound the memory: whole words of bits. */
enum { ROOM = 1 << 21, LEAST = 1 << 12 };

static size_t piece_words(const struct tr_touched *touched)
{
    size_t count = touched->ranks->count, numbers = count ? ROOM / count : ROOM;
    return (numbers > LEAST ? numbers : LEAST) / 64;
}

static size_t words_of(const struct tr_touched *touched, unsigned rank)
{
    return (touched->begin[rank + 1] - touched->begin[rank] + 63) / 64;
}

/* The bits of each part, from a word of their own on. */
static void take_marks(struct tr_touched *touched, const uint64_t *marks)
{
    for (unsigned r = 0; r < touched->ranks->count; r++) {
        uint64_t *bits = touched->mine + touched->word[r];
        size_t first = touched->begin[r], size = touched->begin[r + 1] - first;
        for (size_t j = 0; j < size; j++) {
            uint64_t bit = marks[(first + j) / 64] >> ((first + j) % 64) & 1;
            bits[j / 64] |= bit << (j % 64);
        }
    }
}

/* Each rank hears what the others touch of its part. */
static trellis_status tell(struct tr_touched *touched, trellis_error *error)
{
    unsigned count = touched->ranks->count;
    size_t *bytes = tr_alloc(2 * ((size_t)count + 1), sizeof *bytes);
    trellis_status status = tr_ranks_agree(touched->ranks,
                                           bytes ? TRELLIS_OK : tr_fail_memory(error), error);
    size_t *received = bytes ? bytes + count + 1 : NULL;
    void *theirs = NULL;
    for (unsigned r = 0; !status && r <= count; r++) {
        bytes[r] = touched->word[r] * sizeof *touched->mine;
    }
    if (!status) {
        status = tr_ranks_scatter(touched->ranks, touched->mine, bytes, &theirs, received, error);
        touched->theirs = theirs;
    }
    for (unsigned r = 0; !status && r <= count; r++) {
        touched->theirs_word[r] = received[r] / sizeof *touched->theirs;
    }
    free(bytes);
    return status;
}

trellis_status tr_touched_create(struct tr_touched *touched, struct tr_ranks *ranks,
                                 const size_t *begin, const uint64_t *marks, trellis_error *error)
{
    size_t places = (size_t)ranks->count + 1;
    *touched = (struct tr_touched){.ranks = ranks};
    touched->begin = tr_alloc(3 * places, sizeof *touched->begin);
    if (touched->begin) {
        memcpy(touched->begin, begin, places * sizeof *begin);
        touched->word = touched->begin + places;
        touched->theirs_word = touched->word + places;
        for (unsigned r = 0; r < ranks->count; r++) {
            touched->word[r + 1] = touched->word[r] + words_of(touched, r);
        }
        touched->mine = tr_alloc(touched->word[ranks->count], sizeof *touched->mine);
        touched->room = tr_alloc(2 * ranks->count * piece_words(touched), 64 * sizeof(double));
    }
    bool ok = touched->begin && touched->mine && touched->room;
    if (ok) {
        take_marks(touched, marks);
    }
    trellis_status status = tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
    return status ? status : tell(touched, error);
}

void tr_touched_free(struct tr_touched *touched)
{
    free(touched->begin);
    free(touched->mine);
    free(touched->theirs);
    free(touched->room);
    *touched = (struct tr_touched){0};
}

/* ---- one piece of each part ------------------------------------------------------------------ */

/* The bits of a piece, and the first of its numbers in the vector. */
struct piece {
    const uint64_t *bits;
    size_t words, first;
    uint64_t left; // of the word before `bits`, while they are walked
};

static struct piece piece_at(const struct tr_touched *touched, const uint64_t *bits, unsigned part,
                             size_t at)
{
    size_t words = words_of(touched, part), most = piece_words(touched);
    size_t left = at < words ? words - at : 0;
    return (struct piece){bits + at, left < most ? left : most, touched->begin[part] + at * 64, 0};
}

/* What this rank touches of a part, and what a rank touches of the part of this one. */
static struct piece mine_of(const struct tr_touched *touched, unsigned part, size_t at)
{
    return piece_at(touched, touched->mine + touched->word[part], part, at);
}

static struct piece theirs_of(const struct tr_touched *touched, unsigned rank, size_t at)
{
    return piece_at(touched, touched->theirs + touched->theirs_word[rank], touched->ranks->rank,
                    at);
}

static size_t count_bits(struct piece piece)
{
    size_t count = 0;
    for (size_t i = 0; i < piece.words; i++) {
        count += (size_t)__builtin_popcountll(piece.bits[i]);
    }
    return count;
}

/* The next number of a piece; SIZE_MAX behind the last. */
static inline size_t next_touched(struct piece *piece)
{
    while (piece->left == 0 && piece->words > 0) {
        piece->left = *piece->bits++;
        piece->words--;
        piece->first += 64;
    }
    if (piece->left == 0) {
        return SIZE_MAX;
    }
    size_t at = piece->first - 64 + (size_t)__builtin_ctzll(piece->left);
    piece->left &= piece->left - 1;
    return at;
}

static size_t pack_doubles(struct piece piece, const double *numbers, double *packed)
{
    size_t count = 0;
    for (size_t j; (j = next_touched(&piece)) != SIZE_MAX;) {
        packed[count++] = numbers[j];
    }
    return count * sizeof *packed;
}

static size_t pack_floats(struct piece piece, const float *numbers, float *packed)
{
    size_t count = 0;
    for (size_t j; (j = next_touched(&piece)) != SIZE_MAX;) {
        packed[count++] = numbers[j];
    }
    return count * sizeof *packed;
}

static void add_doubles(struct piece piece, const double *packed, double *numbers)
{
    for (size_t j; (j = next_touched(&piece)) != SIZE_MAX;) {
        numbers[j] += *packed++;
    }
}

static void unpack_floats(struct piece piece, const float *packed, float *numbers)
{
    for (size_t j; (j = next_touched(&piece)) != SIZE_MAX;) {
        numbers[j] = *packed++;
    }
}

/* Room for a piece that is sent to a rank, or comes from it. */
static void *room_of(const struct tr_touched *touched, bool received, unsigned rank)
{
    size_t size = piece_words(touched) * 64 * sizeof(double);
    return touched->room + ((received ? touched->ranks->count : 0) + rank) * size;
}

/* The longest part, in words. */
static size_t longest(const struct tr_touched *touched)
{
    size_t words = 0;
    for (unsigned r = 0; r < touched->ranks->count; r++) {
        words = words_of(touched, r) > words ? words_of(touched, r) : words;
    }
    return words;
}

static trellis_status exchange_packed(struct tr_touched *touched, trellis_error *error)
{
    struct tr_ranks *ranks = touched->ranks;
    const struct tr_parcels *parcels = &ranks->parcels;
    for (unsigned r = 0; r < ranks->count; r++) {
        parcels->send[r] = room_of(touched, false, r);
        parcels->receive[r] = room_of(touched, true, r);
    }
    return ranks->given.exchange(ranks->given.user, parcels->send, parcels->send_size,
                                 parcels->receive, parcels->receive_size, error);
}

trellis_status tr_touched_sum(struct tr_touched *touched, double *numbers, trellis_error *error)
{
    const struct tr_ranks *ranks = touched->ranks;
    const struct tr_parcels *parcels = &ranks->parcels;
    trellis_status status = TRELLIS_OK;
    for (size_t at = 0; !status && at < longest(touched); at += piece_words(touched)) {
        for (unsigned r = 0; r < ranks->count; r++) {
            bool other = r != ranks->rank;
            parcels->send_size[r] = other ? pack_doubles(mine_of(touched, r, at), numbers,
                                                         room_of(touched, false, r))
                                          : 0;
            parcels->receive_size[r] = other
                                           ? count_bits(theirs_of(touched, r, at)) * sizeof *numbers
                                           : 0;
        }
        status = exchange_packed(touched, error);
        for (unsigned r = 0; !status && r < ranks->count; r++) {
            if (r != ranks->rank) {
                add_doubles(theirs_of(touched, r, at), room_of(touched, true, r), numbers);
            }
        }
    }
    return status;
}

trellis_status tr_touched_pull(struct tr_touched *touched, float *numbers, trellis_error *error)
{
    const struct tr_ranks *ranks = touched->ranks;
    const struct tr_parcels *parcels = &ranks->parcels;
    trellis_status status = TRELLIS_OK;
    for (size_t at = 0; !status && at < longest(touched); at += piece_words(touched)) {
        for (unsigned r = 0; r < ranks->count; r++) {
            bool other = r != ranks->rank;
            parcels->send_size[r] = other ? pack_floats(theirs_of(touched, r, at), numbers,
                                                        room_of(touched, false, r))
                                          : 0;
            parcels->receive_size[r] = other ? count_bits(mine_of(touched, r, at)) * sizeof *numbers
                                             : 0;
        }
        status = exchange_packed(touched, error);
        for (unsigned r = 0; !status && r < ranks->count; r++) {
            if (r != ranks->rank) {
                unpack_floats(mine_of(touched, r, at), room_of(touched, true, r), numbers);
            }
        }
    }
    return status;
}
