/* lint.c - checks data for what is usually a mistake.
 *
 * Each sequence is looked at once, as it is read; what is found is counted, with the first place
 * where it occurs. The scheme of span labels is judged at the end:
 *
 *     E, S, L or U occur       iobes or bilou
 *     B-X only after X         iob1, where I-X begins a span
 *     otherwise                iob2, where I-X must follow B-X or I-X
 *
 * so pairs of labels are counted that each of these forbids.
 */
#include "dataset/lint.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/structs.h"
#include "base/text.h"
#include "base/utf8.h"
#include "corpus/corpus.h"
#include "graph/constraint.h"

enum {
    GIANT = 300,         // tokens of a single sequence
    LONG = 1000,         // tokens, and this
    LONG_MEAN = 50,      // times the mean: of a sequence among others
    MANY_TOKENS = 100,   // below which any number of labels is possible
    COMPARED_LENGTH = 5, // tokens; shorter sequences occur twice in any text
    ROLES = 2
};

/* How often something was found, and where first. */
struct sighting {
    uint64_t count;
    uint32_t name; // of the source, in names
    uint64_t line;
};

struct column {
    bool is_empty; // so far every cell is as empty as the first one
    char sign;     // '_', '-' or 0 for no text at all
};

/* What is known of the training data, or of the dev data. */
struct findings_of_role {
    const char *format; // of the first source; NULL: nothing was read
    uint64_t sequences, tokens, longest;
    struct sighting at_longest;
    struct tr_intern labels;
    uint64_t unlabelled; // tokens
    bool letters[256];   // with which labels begin
    bool other_labels;   // some label is not of a span
    struct sighting illegal[TRELLIS_NO_SCHEME];
    char example[TRELLIS_NO_SCHEME][100];
    struct sighting document_marks, invalid_utf8, encoded_twice;
    uint64_t valid_utf8; // cells with text beyond ASCII
    TR_ARRAY(struct column) columns;
    TR_ARRAY(uint64_t) hashes; // of sequences that are long enough to be compared
};

struct finding {
    const char *kind;
    struct sighting at;
    char message[400];
};

struct trellis_lint {
    struct findings_of_role roles[ROLES];
    struct tr_intern names;
    TR_ARRAY(struct finding) list;
};

trellis_status trellis_lint_create(trellis_lint **ret_lint, trellis_error *error)
{
    if (!TR_CLEAR(ret_lint)) {
        return tr_fail_null(error, __func__);
    }
    *ret_lint = tr_alloc(1, sizeof **ret_lint);
    return *ret_lint ? TRELLIS_OK : tr_fail_memory(error);
}

void trellis_lint_destroy(trellis_lint *lint)
{
    for (int r = 0; lint && r < ROLES; r++) {
        tr_intern_free(&lint->roles[r].labels);
        free(lint->roles[r].columns.at);
        free(lint->roles[r].hashes.at);
    }
    if (lint) {
        tr_intern_free(&lint->names);
        free(lint->list.at);
    }
    free(lint);
}

/* ---- one sequence ---------------------------------------------------------------------------- */

/* A sequence that is looked at. */
struct view {
    const trellis_sequence *sequence;
    uint32_t name;
    size_t word_column, label_column; // SIZE_MAX: there is none
};

static void see(struct sighting *sighting, const struct view *view, size_t token)
{
    if (sighting->count++ == 0) {
        sighting->name = view->name;
        sighting->line = tr_token_line(view->sequence, token);
    }
}

/* `from` is NULL at the start, `to` at the end of a sequence. */
static void check_pair(struct findings_of_role *of, const struct view *view, size_t token,
                       const trellis_text *from, const trellis_text *to)
{
    for (int s = 0; s < TRELLIS_NO_SCHEME; s++) {
        if (tr_constraint_legal((trellis_scheme)s, from, to)) {
            continue;
        }
        if (of->illegal[s].count == 0) {
            trellis_text before = from ? *from : TR_TEXT("the start");
            trellis_text after = to ? *to : TR_TEXT("the end");
            snprintf(of->example[s], sizeof of->example[s], "%.*s after %.*s",
                     after.size < 40 ? (int)after.size : 40, after.data,
                     before.size < 40 ? (int)before.size : 40, before.data);
        }
        see(&of->illegal[s], view, token);
    }
}

static bool check_labels(struct findings_of_role *of, const struct view *view)
{
    const trellis_sequence *sequence = view->sequence;
    const trellis_text *labels = sequence->labels, *before = NULL;
    if (!labels) {
        of->unlabelled += sequence->length;
        return true;
    }
    bool after_unknown = false;
    for (size_t i = 0; i < sequence->length; i++) {
        char letter;
        trellis_text type;
        if (tr_label_is_open(labels[i])) {
            of->unlabelled++;
            after_unknown = true;
            continue;
        }
        of->other_labels |= !tr_label_split(labels[i], &letter, &type);
        of->letters[labels[i].size ? (unsigned char)labels[i].data[0] : 0] = true;
        if (tr_intern_add(&of->labels, labels[i]) == TR_NONE) {
            return false;
        }
        if (!of->other_labels && !after_unknown) {
            check_pair(of, view, i, before, &labels[i]);
        }
        after_unknown = false;
        before = &labels[i];
    }
    if (!of->other_labels && !after_unknown && before) {
        check_pair(of, view, sequence->length - 1, before, NULL);
    }
    return true;
}

/* 'é' as UTF-8 is C3 A9; if those bytes are taken for Latin-1 and encoded again, they become C3 83
 * C2 A9. */
static bool is_encoded_twice(trellis_text cell)
{
    return memmem(cell.data, cell.size, "\xC3\x83\xC2", 3) ||
           memmem(cell.data, cell.size, "\xC3\x82\xC2", 3);
}

static void check_encoding(struct findings_of_role *of, const struct view *view, size_t token,
                           trellis_text cell)
{
    bool ascii = true;
    for (size_t i = 0; ascii && i < cell.size; i++) {
        ascii = (unsigned char)cell.data[i] < 0x80;
    }
    if (ascii) {
        return;
    }
    if (tr_utf8_invalid(cell) < cell.size) {
        see(&of->invalid_utf8, view, token);
    } else {
        of->valid_utf8++;
    }
    if (is_encoded_twice(cell)) {
        see(&of->encoded_twice, view, token);
    }
}

/* The sign of an empty cell; 'x' for any other. */
static char sign_of(trellis_text cell)
{
    bool sign = cell.size == 1 && (cell.data[0] == '_' || cell.data[0] == '-');
    return cell.size == 0 ? '\0' : sign ? cell.data[0] : 'x';
}

static bool check_cells(struct findings_of_role *of, const struct view *view)
{
    const trellis_sequence *sequence = view->sequence;
    size_t known = of->columns.size;
    if (!tr_reserve(&of->columns, sequence->columns)) {
        return false;
    }
    for (size_t c = known; c < sequence->columns; c++) {
        char sign = sign_of(sequence->cells[c]);
        of->columns.at[of->columns.size++] = (struct column){sign != 'x', sign};
    }
    const trellis_text *cell = sequence->cells;
    for (size_t i = 0; i < sequence->length; i++) {
        for (size_t c = 0; c < sequence->columns; c++, cell++) {
            struct column *column = &of->columns.at[c];
            column->is_empty = column->is_empty && sign_of(*cell) == column->sign;
            check_encoding(of, view, i, *cell);
        }
    }
    return true;
}

/* A sequence is the same as another if it has the same words. */
static bool keep_hash(struct findings_of_role *of, const struct view *view)
{
    const trellis_sequence *sequence = view->sequence;
    if (sequence->length < COMPARED_LENGTH || view->word_column >= sequence->columns) {
        return true;
    }
    uint64_t hash = sequence->length;
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text word = sequence->cells[i * sequence->columns + view->word_column];
        hash = tr_fold(hash ^ tr_hash64(word.data, word.size), 0x9E3779B97F4A7C15u) + i;
    }
    return tr_push(&of->hashes, hash);
}

static void count_sequence(struct findings_of_role *of, const struct view *view)
{
    const trellis_sequence *sequence = view->sequence;
    of->sequences++;
    of->tokens += sequence->length;
    if (sequence->length > of->longest) {
        of->longest = sequence->length;
        of->at_longest = (struct sighting){0};
        see(&of->at_longest, view, 0);
    }
    bool reads_documents = sequence->writing; // which need their marks
    if (!reads_documents && view->word_column < sequence->columns && sequence->length &&
        tr_text_is(sequence->cells[view->word_column], "-DOCSTART-")) {
        see(&of->document_marks, view, 0);
    }
}

trellis_status tr_lint_add(trellis_lint *lint, const trellis_reader *reader, const char *name,
                           const trellis_sequence *sequence, trellis_data_role role,
                           trellis_error *error)
{
    struct findings_of_role *of = &lint->roles[role];
    size_t label = trellis_reader_label_column(reader);
    struct view view = {.sequence = sequence,
                        .name = tr_intern_add(&lint->names, tr_text(name)),
                        .label_column = label,
                        .word_column = tr_reader_word_column(reader, label)};
    if (!of->format) {
        struct tr_input_shape shape;
        tr_reader_describe(reader, sequence, &shape);
        of->format = shape.format;
    }
    count_sequence(of, &view);
    bool ok = view.name != TR_NONE && check_labels(of, &view) && check_cells(of, &view) &&
              keep_hash(of, &view);
    return ok ? TRELLIS_OK : tr_fail_memory(error);
}

trellis_status trellis_lint_read(trellis_lint *lint, const trellis_source *source,
                                 const trellis_options *options, trellis_data_role role,
                                 trellis_error *error)
{
    if (!lint || !source) {
        return tr_fail_null(error, __func__);
    }
    trellis_reader *reader = NULL;
    const trellis_sequence *sequence;
    if ((unsigned)role >= ROLES) {
        return tr_fail(error, TRELLIS_OPTION, "data is for training or for testing");
    }
    trellis_status status = trellis_reader_open_source(source, options, &reader, error);
    while (!status && !(status = trellis_reader_next(reader, &sequence, error))) {
        status = tr_lint_add(lint, reader, tr_source_name(source), sequence, role, error);
    }
    trellis_reader_close(reader);
    return status == TRELLIS_END ? TRELLIS_OK : status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static trellis_scheme scheme_of(const struct findings_of_role *of)
{
    if (of->other_labels || tr_intern_count(&of->labels) == 0) {
        return TRELLIS_NO_SCHEME;
    }
    if (of->letters['E'] || of->letters['S']) {
        return TRELLIS_IOBES;
    }
    if (of->letters['L'] || of->letters['U']) {
        return TRELLIS_BILOU;
    }
    bool spans = of->letters['B'] || of->letters['I'];
    return !spans ? TRELLIS_NO_SCHEME
           : of->illegal[TRELLIS_IOB1].count == 0 && of->illegal[TRELLIS_IOB2].count > 0
               ? TRELLIS_IOB1
               : TRELLIS_IOB2;
}

static struct finding *add_finding(trellis_lint *lint, const char *kind, struct sighting at)
{
    struct finding finding = {.kind = kind, .at = at};
    return tr_push(&lint->list, finding) ? &lint->list.at[lint->list.size - 1] : NULL;
}

/* Adds a finding, or fails for want of memory. */
#define FIND(lint, kind, at, ...)                                                                  \
    do {                                                                                           \
        struct finding *found_ = add_finding((lint), (kind), (at));                                \
        if (!found_) {                                                                             \
            return false;                                                                          \
        }                                                                                          \
        snprintf(found_->message, sizeof found_->message, __VA_ARGS__);                            \
    } while (0)

static bool report_labels(trellis_lint *lint, const struct findings_of_role *of)
{
    trellis_scheme scheme = scheme_of(of);
    size_t labels = tr_intern_count(&of->labels);
    uint64_t labelled = of->tokens - of->unlabelled;
    struct sighting whole = {.count = labelled, .name = of->at_longest.name};
    if (scheme != TRELLIS_NO_SCHEME && of->illegal[scheme].count) {
        const char *name = tr_scheme_name(scheme);
        uint64_t n = of->illegal[scheme].count;
        FIND(lint, "illegal-labels", of->illegal[scheme],
             "%llu label%s %s the scheme %s, such as %s; 'trellis convert --scheme %s --to-scheme "
             "%s' repairs this",
             TR_COUNTED(n), n == 1 ? "breaks" : "break", name, of->example[scheme], name, name);
    }
    if (labels == 1 && labelled > 1) {
        trellis_text label = tr_intern_text(&of->labels, 0);
        FIND(lint, "one-label", whole,
             "all tokens have the label '%.*s'; --label says which column has the labels",
             TR_SHOW(label));
    }
    if (labelled >= MANY_TOKENS && labels > labelled / 2) {
        FIND(lint, "many-labels", whole,
             "%zu different labels for %llu tokens; --label says which column has the labels",
             labels, (unsigned long long)labelled);
    }
    return true;
}

static bool report_sequences(trellis_lint *lint, const struct findings_of_role *of)
{
    double mean = (double)of->tokens / (double)(of->sequences ? of->sequences : 1);
    uint64_t marks = of->document_marks.count;
    if (of->sequences == 1 && of->tokens > GIANT) {
        FIND(lint, "one-sequence", of->at_longest,
             "all %llu tokens are one sequence; are the blank lines between sequences missing?",
             (unsigned long long)of->tokens);
    } else if (of->longest > LONG && (double)of->longest > LONG_MEAN * mean) {
        FIND(lint, "long-sequence", of->at_longest,
             "a sequence of %llu tokens, where the mean is %.0f; is a blank line missing?",
             (unsigned long long)of->longest, mean);
    }
    if (marks) {
        FIND(
            lint, "document-marks", of->document_marks,
            "%llu sequence%s %s with -DOCSTART-, the mark of a new document, which is then learned "
            "and scored like text; remove %s, unless templates look at documents",
            TR_COUNTED(marks), marks == 1 ? "begins" : "begin", marks == 1 ? "it" : "them");
    }
    return true;
}

static bool report_cells(trellis_lint *lint, const struct findings_of_role *of)
{
    bool plain = of->format && strcmp(of->format, "columns") == 0; // others have empty columns
    uint64_t invalid = of->invalid_utf8.count;
    for (size_t c = 0; plain && c < of->columns.size && of->tokens > 1; c++) {
        struct sighting whole = {.count = of->tokens, .name = of->at_longest.name};
        char sign = of->columns.at[c].sign;
        if (of->columns.at[c].is_empty) {
            FIND(lint, "empty-column", whole, "column %zu is empty: every cell is %s%c%s", c + 1,
                 sign ? "'" : "withou", sign ? sign : 't', sign ? "'" : " text");
        }
    }
    if (invalid && of->valid_utf8) {
        FIND(
            lint, "mixed-encodings", of->invalid_utf8,
            "mixed encodings: %llu cell%s %s not valid UTF-8, while %llu with letters beyond ASCII "
            "%s; convert the text that is not UTF-8",
            TR_COUNTED(invalid), invalid == 1 ? "is" : "are", (unsigned long long)of->valid_utf8,
            of->valid_utf8 == 1 ? "is" : "are");
    } else if (invalid) {
        FIND(
            lint, "not-utf8", of->invalid_utf8,
            "%llu cell%s %s not valid UTF-8; convert the file, for example with iconv -f latin1 -t "
            "utf8",
            TR_COUNTED(invalid), invalid == 1 ? "is" : "are");
    }
    if (of->encoded_twice.count) {
        FIND(lint, "encoded-twice", of->encoded_twice,
             "%llu cell%s %s encoded in UTF-8 twice, so that an accented letter shows as two",
             TR_COUNTED(of->encoded_twice.count), of->encoded_twice.count == 1 ? "seems" : "seem");
    }
    return true;
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool report_duplicates(trellis_lint *lint)
{
    struct findings_of_role *train = &lint->roles[TRELLIS_TRAIN_DATA];
    struct findings_of_role *dev = &lint->roles[TRELLIS_DEV_DATA];
    struct sighting at = {.name = dev->at_longest.name};
    if (train->hashes.size == 0 || dev->hashes.size == 0) {
        return true;
    }
    qsort(train->hashes.at, train->hashes.size, sizeof *train->hashes.at, compare_hashes);
    for (size_t i = 0; i < dev->hashes.size; i++) {
        at.count += bsearch(&dev->hashes.at[i], train->hashes.at, train->hashes.size,
                            sizeof *train->hashes.at, compare_hashes) != NULL;
    }
    if (at.count) {
        FIND(
            lint, "duplicates", at,
            "%llu of %zu dev sequences %s also in the training data, which makes the dev score too "
            "high",
            (unsigned long long)at.count, dev->hashes.size, at.count == 1 ? "is" : "are");
    }
    return true;
}

trellis_status trellis_lint_finish(trellis_lint *lint, trellis_error *error)
{
    if (!lint) {
        return tr_fail_null(error, __func__);
    }
    bool ok = true;
    lint->list.size = 0;
    for (int r = 0; ok && r < ROLES; r++) {
        const struct findings_of_role *of = &lint->roles[r];
        ok = report_sequences(lint, of) && report_labels(lint, of) && report_cells(lint, of);
    }
    return ok && report_duplicates(lint) ? TRELLIS_OK : tr_fail_memory(error);
}

bool trellis_lint_finding(const trellis_lint *lint, size_t index, trellis_finding *ret_finding)
{
    if (!lint || !ret_finding || index >= lint->list.size) {
        return false;
    }
    const struct finding *finding = &lint->list.at[index];
    trellis_finding ours = {
        .kind = finding->kind,
        .message = finding->message,
        .name = tr_intern_text(&lint->names, finding->at.name).data,
        .line = finding->at.line,
        .count = finding->at.count,
    };
    return tr_struct_give(&ours, sizeof ours, ret_finding);
}

bool trellis_lint_describe(const trellis_lint *lint, trellis_data_role role,
                           trellis_lint_summary *ret_summary)
{
    if (!lint || !ret_summary || (unsigned)role >= ROLES || !lint->roles[role].format) {
        return false;
    }
    const struct findings_of_role *of = &lint->roles[role];
    trellis_lint_summary ours = {
        .format = of->format,
        .columns = of->columns.size,
        .sequences = of->sequences,
        .tokens = of->tokens,
        .longest = of->longest,
        .labels = tr_intern_count(&of->labels),
        .scheme = tr_scheme_name(scheme_of(of)),
    };
    return tr_struct_give(&ours, sizeof ours, ret_summary);
}
