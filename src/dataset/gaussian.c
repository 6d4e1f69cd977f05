/* gaussian.c - real-valued columns that labels emit by normal distributions. */
#include "dataset/gaussian.h"

#include <math.h>
#include <stdio.h>

#include "corpus/corpus.h"

/* ---- the block ------------------------------------------------------------------------------- */

struct head {
    uint32_t labels, columns, name_bytes, zero;
};

size_t tr_gaussian_count(const char *names)
{
    size_t count = *names != 0;
    for (; *names; names++) {
        count += *names == ',';
    }
    return count;
}

bool tr_gaussian_read(const void *data, size_t size, uint32_t label_count,
                      struct tr_gaussian *ret_gaussian)
{
    struct head head;
    if (size < sizeof head) {
        return false;
    }
    memcpy(&head, data, sizeof head);
    size_t cells = (size_t)head.labels * head.columns;
    if (head.labels != label_count || head.columns == 0 || head.columns > TR_MAX_REALS ||
        head.zero != 0 || head.name_bytes == 0 ||
        size != sizeof head + 2 * cells * sizeof(double) + head.name_bytes) {
        return false;
    }
    const double *mean = (const double *)((const char *)data + sizeof head);
    struct tr_gaussian gaussian = {head.labels, head.columns, mean, mean + cells,
                                   (const char *)(mean + 2 * cells)};
    for (size_t i = 0; i < cells; i++) {
        if (!isfinite(mean[i]) || !isfinite(gaussian.variance[i]) || !(gaussian.variance[i] > 0)) {
            return false;
        }
    }
    if (strnlen(gaussian.names, head.name_bytes) + 1 != head.name_bytes ||
        tr_gaussian_count(gaussian.names) != head.columns) {
        return false;
    }
    *ret_gaussian = gaussian;
    return true;
}

void tr_gaussian_write(const struct tr_gaussian *gaussian, struct tr_buffer *block)
{
    size_t cells = (size_t)gaussian->labels * gaussian->columns;
    struct head head = {gaussian->labels, gaussian->columns, (uint32_t)strlen(gaussian->names) + 1,
                        0};
    tr_buffer_add(block, (const char *)&head, sizeof head);
    tr_buffer_add(block, (const char *)gaussian->mean, cells * sizeof(double));
    tr_buffer_add(block, (const char *)gaussian->variance, cells * sizeof(double));
    tr_buffer_add(block, gaussian->names, head.name_bytes);
}

/* ---- densities ------------------------------------------------------------------------------- */

static const double least_log = -1e30; // values below this are equally impossible

double tr_gaussian_log(const struct tr_gaussian *gaussian, size_t label, size_t column, double x)
{
    size_t cell = label * gaussian->columns + column;
    double variance = gaussian->variance[cell], distance = x - gaussian->mean[cell];
    double sum = log(2 * M_PI) + log(variance) + distance * distance / variance;
    return fmax(-0.5 * sum, least_log);
}

/* Adds to a score of two floats; `residual` may be NULL. */
static void add(double amount, float *score, float *residual)
{
    double sum = (double)*score + (residual ? (double)*residual : 0) + amount;
    *score = (float)sum;
    if (residual) {
        *residual = isfinite(sum) ? (float)(sum - (double)*score) : 0;
    }
}

void tr_gaussian_score(const struct tr_gaussian *gaussian, const double *x, size_t n, float *scores,
                       float *residual, size_t stride)
{
    size_t columns = gaussian->columns;
    for (size_t c = 0; c < gaussian->labels; c++) {
        const double *mean = gaussian->mean + c * columns;
        const double *variance = gaussian->variance + c * columns;
        double constant = 0;
        for (size_t d = 0; d < columns; d++) {
            constant += log(2 * M_PI) + log(variance[d]);
        }
        for (size_t i = 0; i < n; i++) {
            double sum = constant;
            for (size_t d = 0; d < columns; d++) {
                double distance = x[i * columns + d] - mean[d];
                sum += distance * distance / variance[d];
            }
            add(fmax(-0.5 * sum, least_log), &scores[i * stride + c],
                residual ? &residual[i * stride + c] : NULL);
        }
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

trellis_text tr_gaussian_name(const struct tr_gaussian *gaussian, size_t column)
{
    const char *at = gaussian->names;
    for (; column > 0; column--) {
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return (trellis_text){at, strcspn(at, ",")};
}

trellis_status tr_gaussian_bind(const char *names, const trellis_reader *reader,
                                size_t label_column, size_t *columns, trellis_error *error)
{
    for (size_t d = 0; *names; d++) {
        size_t size = strcspn(names, ",");
        trellis_text name = {names, size};
        columns[d] = tr_reader_column(reader, name);
        if (columns[d] == SIZE_MAX) {
            return tr_fail(
                error, TRELLIS_OPTION,
                "--gaussian: there is no column '%.*s'; it takes names or numbers from 1",
                TR_SHOW(name));
        }
        if (columns[d] == label_column) {
            return tr_fail(error, TRELLIS_OPTION,
                           "--gaussian: the column '%.*s' is the label; see --label",
                           TR_SHOW(name));
        }
        names += size + (names[size] == ',');
    }
    return TRELLIS_OK;
}

/* Fails for a cell that is missing or not a number; a tagger does not know the file. */
static trellis_status fail_cell(const trellis_sequence *sequence, const char *file, size_t token,
                                size_t column, trellis_error *error)
{
    struct tr_place place = {.file = file, .line = tr_token_line(sequence, token)};
    char message[320];
    if (column < sequence->columns) {
        trellis_text cell = sequence->cells[token * sequence->columns + column];
        snprintf(message, sizeof message, "column %zu: expected a finite number, not '%.*s'",
                 column + 1, TR_SHOW(cell));
    } else {
        snprintf(message, sizeof message, "there is no column %zu, only %zu", column + 1,
                 sequence->columns);
    }
    return file ? tr_fail_at(error, TRELLIS_DATA, place, "%s", message)
                : tr_fail_token(error, TRELLIS_DATA, sequence, token, "%s", message);
}

trellis_status tr_gaussian_take(const trellis_sequence *sequence, const char *file,
                                const size_t *columns, size_t count, double *x,
                                trellis_error *error)
{
    for (size_t i = 0; i < sequence->length; i++) {
        for (size_t d = 0; d < count; d++) {
            const trellis_text *cells = sequence->cells + i * sequence->columns;
            if (columns[d] >= sequence->columns ||
                !tr_text_real(cells[columns[d]], &x[i * count + d]) ||
                !isfinite(x[i * count + d])) {
                return fail_cell(sequence, file, i, columns[d], error);
            }
        }
    }
    return TRELLIS_OK;
}
