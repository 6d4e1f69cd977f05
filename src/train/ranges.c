/* ranges.c - which bytes of the training data each rank reads, where it need not read all.
 *
 * The shares of the ranks are cut by the lengths of all sequences (pass.h), so these come first. Every
 * rank reads the sequences of an equal part of each file for that, from where one begins to where the
 * next part's first one does:
 *
 *     parts of the files -> lengths and places of their sequences -> lengths of all -> shares
 *                                                                 -> places of the shares' first ones
 *
 * This needs files that can be read from anywhere, in a format where a blank line ends a sequence.
 * Where one of them is not like that, or cannot be read, every rank reads all of them (training_data.c),
 * and finds out what is wrong.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/hash.h"
#include "corpus/corpus.h"
#include "train/pass.h"

/* Bytes that are compared between the ranks: of so many samples of each file. */
enum { SAMPLES = 64, SAMPLE_SIZE = 4096 };

/* Where a sequence begins. */
struct spot {
    uint64_t offset, line;
};

/* What a rank has found in its part of a file. */
struct found_part {
    uint64_t sequences, lines;
};

struct scan {
    struct tr_training *training;
    size_t files;
    uint64_t *sizes;           // [files] in bytes
    struct found_part *parts;  // [ranks][files]
    TR_ARRAY(uint32_t) length; // of the sequences of this rank's parts, file by file
    TR_ARRAY(struct spot) spot;
    uint64_t print;    // of names, sizes and samples of the files
    size_t *begin;     // [ranks + 1] in bytes, of what is gathered
    size_t *sequences; // [files + 1] the number of the first one of each
    uint64_t *places;  // [files][ranks][2] where the share of each rank begins
};

static struct found_part *part_of(const struct scan *scan, unsigned rank, size_t file)
{
    return &scan->parts[rank * scan->files + file];
}

static void scan_free(struct scan *scan)
{
    free(scan->sizes);
    free(scan->parts);
    free(scan->length.at);
    free(scan->spot.at);
    free(scan->begin);
    free(scan->sequences);
    free(scan->places);
}

static bool scan_begin(struct scan *scan)
{
    size_t ranks = scan->training->ranks.count;
    scan->sizes = tr_alloc(scan->files, sizeof *scan->sizes);
    scan->parts = tr_alloc(ranks * scan->files, sizeof *scan->parts);
    scan->begin = tr_alloc(ranks + 1, sizeof *scan->begin);
    scan->sequences = tr_alloc(scan->files + 1, sizeof *scan->sequences);
    scan->places = tr_alloc(scan->files * ranks * 2, sizeof *scan->places);
    return scan->sizes && scan->parts && scan->begin && scan->sequences && scan->places;
}

/* ---- this rank's parts ----------------------------------------------------------------------- */

/* Takes samples of a file into the fingerprint; false where it cannot be read. */
static bool sample_file(struct scan *scan, const char *path, uint64_t size)
{
    unsigned char bytes[SAMPLE_SIZE];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = file >= 0;
    scan->print = tr_fold(scan->print ^ size, 0x9E3779B97F4A7C15u);
    for (uint64_t i = 0; ok && i < SAMPLES; i++) {
        ssize_t n = pread(file, bytes, sizeof bytes, (off_t)(size / SAMPLES * i));
        ok = n >= 0;
        uint64_t h = ok ? tr_hash64(bytes, (size_t)n) : 0;
        scan->print = tr_fold(scan->print ^ h, 0x9E3779B97F4A7C15u) + i;
    }
    if (file >= 0) {
        close(file);
    }
    return ok;
}

static bool push_sequence(struct scan *scan, const trellis_sequence *sequence, struct spot spot)
{
    bool plain = (float)sequence->weight == 1 && sequence->length < UINT32_MAX;
    return plain && tr_push(&scan->length, (uint32_t)sequence->length) &&
           tr_push(&scan->spot, spot);
}

/* The sequences of this rank's part of a file, of which the reader has read the first one. */
static bool scan_part(struct scan *scan, trellis_reader *reader, size_t file)
{
    const struct tr_ranks *ranks = &scan->training->ranks;
    struct found_part *part = part_of(scan, ranks->rank, file);
    uint64_t size = scan->sizes[file], begin, end;
    const trellis_sequence *sequence;
    struct spot spot = {0};
    bool ok = !tr_reader_find_start(reader, tr_ranks_share(ranks, size, ranks->rank), &begin,
                                    NULL) &&
              !tr_reader_find_start(reader, tr_ranks_share(ranks, size, ranks->rank + 1), &end,
                                    NULL) &&
              !tr_reader_take_range(reader, begin, end, 0, NULL);
    while (ok) {
        spot.offset = tr_reader_offset(reader, &spot.line);
        trellis_status status = trellis_reader_next(reader, &sequence, NULL);
        if (status) {
            ok = status == TRELLIS_END;
            break;
        }
        ok = push_sequence(scan, sequence, spot);
        part->sequences++;
    }
    if (ok) {
        tr_reader_offset(reader, &part->lines);
    }
    return ok;
}

static bool scan_file(struct scan *scan, size_t file)
{
    const struct tr_training *training = scan->training;
    const trellis_source *source = &training->sources.train[file];
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    bool ok = source->path &&
              !trellis_reader_open_source(source, training->settings.options, &reader, NULL);
    scan->sizes[file] = ok ? tr_reader_size(reader) : 0;
    ok = ok && scan->sizes[file] > 0 && sample_file(scan, source->path, scan->sizes[file]) &&
         !trellis_reader_next(reader, &sequence, NULL) && scan_part(scan, reader, file);
    trellis_reader_close(reader);
    return ok;
}

/* ---- of all ranks ---------------------------------------------------------------------------- */

static trellis_status gather_parts(struct scan *scan, trellis_error *error)
{
    struct tr_ranks *ranks = &scan->training->ranks;
    for (unsigned r = 0; r <= ranks->count; r++) {
        scan->begin[r] = r * scan->files * sizeof *scan->parts;
    }
    trellis_status status = tr_ranks_gather(ranks, scan->parts, scan->begin, error);
    for (size_t f = 0; !status && f < scan->files; f++) {
        scan->sequences[f + 1] = scan->sequences[f];
        for (unsigned r = 0; r < ranks->count; r++) {
            scan->sequences[f + 1] += part_of(scan, r, f)->sequences;
        }
    }
    return status;
}

/* Adds the lengths of the sequences of a file, of which this rank's begin at *own. */
static trellis_status gather_lengths(struct scan *scan, size_t file, const uint32_t **own,
                                     struct tr_dataset *lengths, trellis_error *error)
{
    struct tr_ranks *ranks = &scan->training->ranks;
    size_t count = scan->sequences[file + 1] - scan->sequences[file];
    uint32_t *length = tr_alloc(count, sizeof *length);
    bool ok = length && tr_reserve(&lengths->sequence, scan->sequences[file + 1] + 1);
    scan->begin[0] = 0;
    for (unsigned r = 0; r < ranks->count; r++) {
        scan->begin[r + 1] = scan->begin[r] + part_of(scan, r, file)->sequences * sizeof *length;
    }
    size_t mine = part_of(scan, ranks->rank, file)->sequences;
    if (ok && mine) {
        memcpy(length + scan->begin[ranks->rank] / sizeof *length, *own, mine * sizeof *length);
    }
    *own += mine;
    trellis_status status = tr_ranks_agree(ranks, ok ? TRELLIS_OK : tr_fail_memory(error), error);
    if (!status) {
        status = tr_ranks_gather(ranks, length, scan->begin, error);
    }
    for (size_t s = 0; !status && s < count; s++) {
        lengths->tokens += length[s];
        lengths->sequence.at[++lengths->sequences] = (uint32_t)lengths->tokens;
    }
    lengths->sequence.size = lengths->sequences + 1;
    free(length);
    return status;
}

/* As the rank that has found where a sequence of a file begins, tells so: `number` is counted in the
 * file. */
static void tell_place(const struct scan *scan, size_t file, size_t number, uint64_t *place)
{
    const struct tr_ranks *ranks = &scan->training->ranks;
    size_t before = 0,
           own = 0; // sequences: of earlier ranks in the file, of this rank in earlier files
    uint64_t lines = 0;
    for (unsigned r = 0; r < ranks->rank; r++) {
        before += part_of(scan, r, file)->sequences;
        lines += part_of(scan, r, file)->lines;
    }
    for (size_t f = 0; f < file; f++) {
        own += part_of(scan, ranks->rank, f)->sequences;
    }
    if (number >= before && number - before < part_of(scan, ranks->rank, file)->sequences) {
        const struct spot *spot = &scan->spot.at[own + number - before];
        place[0] = spot->offset;
        place[1] = spot->line + lines;
    }
}

/* Where the share of a rank begins in a file: at which of its sequences. */
static size_t share_begins(const struct scan *scan, unsigned rank, size_t file)
{
    const struct tr_training *t = scan->training;
    size_t first, end, from = scan->sequences[file], to = scan->sequences[file + 1];
    tr_pass_share(t, &t->data.lengths, rank, &first, &end);
    return (first < from ? from : first > to ? to : first) - from;
}

static trellis_status find_places(struct scan *scan, trellis_error *error)
{
    struct tr_ranks *ranks = &scan->training->ranks;
    for (size_t f = 0; f < scan->files; f++) {
        size_t count = scan->sequences[f + 1] - scan->sequences[f];
        for (unsigned r = 0; r < ranks->count; r++) {
            uint64_t *place = scan->places + 2 * (f * ranks->count + r);
            size_t number = share_begins(scan, r, f);
            if (number < count) {
                tell_place(scan, f, number, place);
            } else if (ranks->rank == 0) {
                place[0] = scan->sizes[f];
            }
        }
    }
    return tr_ranks_sum_integers(ranks, scan->places, scan->files * ranks->count * 2, error);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Reads this rank's parts; *ret_all says whether all ranks could. */
static trellis_status scan_files(struct scan *scan, bool *ret_all, trellis_error *error)
{
    bool ok = scan_begin(scan);
    for (size_t f = 0; ok && f < scan->files; f++) {
        ok = scan_file(scan, f);
    }
    uint64_t failed = !ok;
    trellis_status status = tr_ranks_sum_integers(&scan->training->ranks, &failed, 1, error);
    *ret_all = !status && failed == 0;
    return status;
}

static trellis_status survey(struct scan *scan, trellis_error *error)
{
    struct tr_dataset *lengths = &scan->training->data.lengths;
    const uint32_t *own;
    bool all = false;
    trellis_status status = scan_files(scan, &all, error);
    if (status || !all) {
        return status;
    }
    status = tr_training_same(scan->training, scan->print, "has read other training data than",
                              error);
    own = scan->length.at;
    if (!status && !tr_push(&lengths->sequence, 0)) {
        status = tr_fail_memory(error);
    }
    status = tr_ranks_agree(&scan->training->ranks, status, error);
    if (!status) {
        status = gather_parts(scan, error);
    }
    for (size_t f = 0; !status && f < scan->files; f++) {
        status = gather_lengths(scan, f, &own, lengths, error);
    }
    return status;
}

trellis_status tr_training_survey_ranges(struct tr_training *training, trellis_error *error)
{
    struct tr_training_data *data = &training->data;
    struct tr_ranks *ranks = &training->ranks;
    struct scan scan = {.training = training, .files = training->sources.train_count};
    trellis_status status = survey(&scan, error);
    bool shared = !status && tr_training_shares(training);
    if (shared) {
        data->ranges = tr_alloc(scan.files, sizeof *data->ranges);
        status = tr_ranks_agree(ranks, data->ranges ? TRELLIS_OK : tr_fail_memory(error), error);
    }
    if (shared && !status) {
        status = find_places(&scan, error);
    }
    for (size_t f = 0; shared && !status && f < scan.files; f++) {
        const uint64_t *place = scan.places + 2 * (f * ranks->count + ranks->rank);
        bool last = ranks->rank + 1 == ranks->count;
        data->ranges[f] = (struct tr_range){place[0], last ? scan.sizes[f] : place[2], place[1]};
    }
    if (!shared) {
        tr_dataset_free(&data->lengths);
    }
    scan_free(&scan);
    return status;
}
