/* bits.c - a model with its weights in 16 bits, or in 32 again.
 *
 * In 16 bits a weight is in fixed point, w = q / 2^places with a whole number q, and all weights of
 * a section share their places: the largest weight takes all bits. Labels change less often than
 * with IEEE's half precision or bfloat16 (docs/performance.md), and sums of a few hundred weights
 * are exact in a float, so that they are the same in any order and by any kernel.
 *
 * Rows begin at the same words in both widths (table.h), so keys and texts stay as they are.
 */
#include "model/model.h"

#include <math.h>

/* The largest q. */
static const float max_units = 32767;
/* How far rounding may move the small weights, up to so many units, as a share of their sum. Models
 * of text have 0.2 to 2 %; it is 100 % where a few weights are so large that all others round to
 * 0. */
static const double max_moved = 0.05, small_units = 256;

/* ---- weights --------------------------------------------------------------------------------- */

/* Calls back for each word of the rows; false where the rows are invalid. */
typedef void (*word_function)(void *user, uint64_t at, bool is_weight);

static bool each_word(const struct tr_table *table, word_function function, void *user)
{
    for (uint64_t i = 0; i < table->dense_words; i++) {
        function(user, i, true);
    }
    for (uint64_t i = table->dense_words; i < table->word_count;) {
        uint64_t pairs = tr_table_number(table, i), room = (table->word_count - i - 1) / 2;
        if (pairs > room || pairs > table->outcomes || pairs > UINT16_MAX) {
            return false;
        }
        function(user, i++, false);
        for (; pairs > 0; pairs--, i += 2) {
            if (tr_table_number(table, i) >= table->outcomes) {
                return false;
            }
            function(user, i, false);
            function(user, i + 1, true);
        }
    }
    return true;
}

/* The weights of a section before rounding, and the rounding error. */
struct rounding {
    const struct tr_table *table;
    struct tr_buffer *bytes;
    float largest, per_unit; // units in 1
    bool finite;
    double sum, moved; // of small weights, in units: their size, and how far they are moved
};

static void measure_weight(void *user, uint64_t at, bool is_weight)
{
    struct rounding *rounding = user;
    if (is_weight) {
        float size = fabsf(tr_table_real(rounding->table, at));
        rounding->finite = rounding->finite && isfinite(size);
        rounding->largest = fmaxf(rounding->largest, size);
    }
}

static void put_short(void *user, uint64_t at, bool is_weight)
{
    struct rounding *rounding = user;
    if (is_weight) {
        float units = tr_table_real(rounding->table, at) * rounding->per_unit, whole = rintf(units);
        bool small = fabs((double)units) <= small_units;
        rounding->sum += small ? fabs((double)units) : 0;
        rounding->moved += small ? fabs((double)units - (double)whole) : 0;
        tr_put_u16(rounding->bytes, (uint16_t)(int16_t)whole);
    } else {
        tr_put_u16(rounding->bytes, (uint16_t)tr_table_number(rounding->table, at));
    }
}

static void put_long(void *user, uint64_t at, bool is_weight)
{
    struct rounding *rounding = user;
    if (is_weight) {
        float weight = tr_table_real(rounding->table, at);
        tr_buffer_add(rounding->bytes, (const char *)&weight, sizeof weight);
    } else {
        tr_put_u32(rounding->bytes, tr_table_number(rounding->table, at));
    }
}

/* The largest number of fractional bits at which the largest weight still fits. */
static int32_t places_for(float largest)
{
    int32_t places = TR_MAX_PLACES;
    while (places > -TR_MAX_PLACES && ldexpf(largest, places) > max_units) {
        places--;
    }
    return largest > 0 ? places : 0;
}

/* ---- sections -------------------------------------------------------------------------------- */

static void put_header(struct tr_buffer *bytes, const struct tr_table *table)
{
    tr_put_u32(bytes, table->outcomes);
    tr_put_u32(bytes, table->width);
    tr_put_u64(bytes, table->dense_words);
    tr_put_u64(bytes, table->word_count);
}

static trellis_status damaged(trellis_error *error)
{
    return tr_fail(error, TRELLIS_MODEL, "the model is damaged: a row of weights is invalid");
}

static trellis_status write_short(struct tr_image_writer *writer, char kind,
                                  const struct tr_table *table, trellis_error *error)
{
    struct rounding rounding = {.table = table, .bytes = &writer->bytes, .finite = true};
    if (!each_word(table, measure_weight, &rounding)) {
        return damaged(error);
    }
    if (!rounding.finite) {
        return tr_fail(error, TRELLIS_LIMIT,
                       "the model has an infinite weight, which does not fit into 16 bits");
    }
    int32_t places = places_for(rounding.largest);
    rounding.per_unit = ldexpf(1, places);
    tr_image_section(writer, (char[4]){kind, 'F', 'I', 'X'});
    put_header(&writer->bytes, table);
    tr_put_u32(&writer->bytes, (uint32_t)places);
    tr_put_align(&writer->bytes, 64);
    each_word(table, put_short, &rounding);
    return rounding.moved <= max_moved * rounding.sum
               ? TRELLIS_OK
               : tr_fail(error, TRELLIS_LIMIT,
                         "the weights do not fit into 16 bits: the largest is %g, which would "
                         "leave a resolution of %g for the others",
                         (double)rounding.largest, 1 / (double)rounding.per_unit);
}

static trellis_status write_long(struct tr_image_writer *writer, char kind,
                                 const struct tr_table *table, trellis_error *error)
{
    struct rounding rounding = {.table = table, .bytes = &writer->bytes};
    tr_image_section(writer, (char[4]){kind, 'R', 'O', 'W'});
    put_header(&writer->bytes, table);
    tr_put_align(&writer->bytes, 64);
    return each_word(table, put_long, &rounding) ? TRELLIS_OK : damaged(error);
}

/* Whether the section is this one of the table of a kind. */
static bool is_of(const char name[4], char kind, const char *rest)
{
    return name[0] == kind && memcmp(name + 1, rest, 3) == 0;
}

/* Residuals of floats are dropped once the weights have 16 bits; the checksums of blocks are those
 * of the old image. */
static bool stays(const char name[4], bool narrow)
{
    return memcmp(name, TR_IMAGE_SUMS, 4) != 0 && (!narrow || !is_of(name, 'N', "LOW"));
}

static trellis_status write_section(struct tr_image_writer *writer, const char name[4],
                                    trellis_text content, char kind, const struct tr_table *table,
                                    bool narrow, trellis_error *error)
{
    bool rows = is_of(name, kind, table->shorts ? "FIX" : "ROW");
    if (rows && narrow && !table->shorts && table->outcomes <= TR_MAX_SHORT_OUTCOMES) {
        return write_short(writer, kind, table, error);
    }
    if (rows && !narrow && table->shorts) {
        return write_long(writer, kind, table, error);
    }
    tr_image_section(writer, name);
    tr_buffer_add(&writer->bytes, content.data, content.size);
    return TRELLIS_OK;
}

trellis_status trellis_model_repack(const trellis_model *model, int bits, trellis_model **ret_model,
                                    trellis_error *error)
{
    if (!TR_CLEAR(ret_model) || !model) {
        return tr_fail_null(error, __func__);
    }
    if (bits != 16 && bits != 32) {
        return tr_fail(error, TRELLIS_OPTION, "the number of bits must be 16 or 32, not %d", bits);
    }
    bool narrow = bits == 16;
    trellis_status status = tr_integrity_all(model->integrity, error);
    if (status) {
        return status;
    }
    struct tr_image_writer writer;
    char name[4];
    trellis_text content;
    uint32_t kept = 0;
    for (uint32_t i = 0; tr_image_at(&model->image, i, name, &content); i++) {
        kept += stays(name, narrow);
    }
    tr_image_begin(&writer, kept);
    for (uint32_t i = 0; !status && tr_image_at(&model->image, i, name, &content); i++) {
        bool edge = name[0] == 'E';
        if (stays(name, narrow)) {
            status = write_section(&writer, name, content, edge ? 'E' : 'N',
                                   edge ? &model->edge : &model->node, narrow, error);
        }
    }
    if (status) {
        tr_buffer_free(&writer.bytes);
        return status;
    }
    return tr_model_finish(&writer, NULL, ret_model, error);
}

int trellis_model_bits(const trellis_model *model)
{
    if (!model) {
        return 0;
    }
    return model->node.shorts || model->edge.shorts ? 16 : 32;
}
