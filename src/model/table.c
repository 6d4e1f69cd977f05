/* table.c - writing the attribute table of a model, and finding it again. */
#include "model/table.h"

#include <math.h>

static bool is_weight(float weight)
{
    return weight != 0;
}

/* The weight of pair i of an attribute. */
static inline float weight_at(const struct tr_rows *rows, const float *weights, uint32_t attribute,
                              uint64_t i)
{
    size_t place = attribute < rows->dense ? rows->outcome[i] : i - rows->begin[attribute];
    return weights[tr_rows_at(rows, attribute) + place];
}

/* How many weights of an attribute are not 0. */
static uint32_t count_weights(const struct tr_rows *rows, const float *weights, uint32_t attribute)
{
    uint32_t count = 0;
    for (uint64_t i = rows->begin[attribute]; i < rows->begin[attribute + 1]; i++) {
        count += is_weight(weight_at(rows, weights, attribute, i));
    }
    return count;
}

static void put_dense(struct tr_buffer *bytes, const struct tr_rows *rows, const float *values,
                      uint32_t attribute)
{
    char *row = tr_buffer_extend(bytes, rows->width * sizeof(float));
    if (!row) {
        return;
    }
    memset(row, 0, rows->width * sizeof(float));
    for (uint64_t i = rows->begin[attribute]; i < rows->begin[attribute + 1]; i++) {
        float weight = weight_at(rows, values, attribute, i);
        memcpy(row + rows->outcome[i] * sizeof weight, &weight, sizeof weight);
    }
}

static void put_sparse(struct tr_buffer *bytes, const struct tr_rows *rows, const float *weights,
                       const float *values, uint32_t attribute, uint32_t count)
{
    char *pair = tr_buffer_extend(bytes, (1 + 2 * (size_t)count) * sizeof(float));
    if (!pair) {
        return;
    }
    memcpy(pair, &count, sizeof count);
    pair += sizeof count;
    for (uint64_t i = rows->begin[attribute]; i < rows->begin[attribute + 1]; i++) {
        if (is_weight(weight_at(rows, weights, attribute, i))) {
            float value = weight_at(rows, values, attribute, i);
            memcpy(pair, &rows->outcome[i], 4);
            memcpy(pair + 4, &value, 4);
            pair += 8;
        }
    }
}

/* Writes rows of `values`, where there are weights other than 0, and notes where each begins;
 * attributes without weights get TR_NONE, unless `all` are kept. Dense rows are written in a first
 * pass, so that their area is one piece. */
static void write_rows(struct tr_buffer *bytes, const struct tr_rows *rows, const float *weights,
                       const float *values, bool all, uint32_t *row_of)
{
    size_t header = bytes->size;
    uint64_t words = 0, dense_words = 0;
    tr_put_u32(bytes, rows->outcomes);
    tr_put_u32(bytes, rows->width);
    tr_put_u64(bytes, 0);
    tr_put_u64(bytes, 0);
    tr_put_align(bytes, 64);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t a = 0; a < rows->attributes && !bytes->failed; a++) {
            uint32_t count = count_weights(rows, weights, a);
            bool dense = tr_rows_worth_dense(rows->outcomes, count);
            if (pass == 0) {
                row_of[a] = TR_NONE;
            }
            if (pass == 0 && dense) {
                row_of[a] = (uint32_t)words;
                put_dense(bytes, rows, values, a);
                words += rows->width;
            } else if (pass == 1 && !dense && (count || all)) {
                row_of[a] = (uint32_t)words;
                put_sparse(bytes, rows, weights, values, a, count);
                words += 1 + 2 * (uint64_t)count;
            }
            bytes->failed = bytes->failed || words > UINT32_MAX - 1;
        }
        dense_words = pass == 0 ? words : dense_words;
    }
    if (!bytes->failed) {
        memcpy(bytes->data + header + 8, &dense_words, sizeof dense_words);
        memcpy(bytes->data + header + 16, &words, sizeof words);
    }
}

/* Puts a key into the first bucket with room; how far from home it went. Keys of an imported text
 * may have been made to crowd one bucket: beyond TR_MAX_PROBES the search is given up. */
static uint32_t place(struct tr_table *table, struct tr_bucket *buckets, uint64_t key, uint32_t row)
{
    uint64_t at = tr_table_home(table, key);
    uint32_t probe = 0;
    while ((buckets[at].used & 7) == TR_BUCKET_KEYS) {
        buckets[at].used |= TR_BUCKET_FULL;
        at = (at + 1) & (table->bucket_count - 1);
        if (++probe > TR_MAX_PROBES) {
            return probe;
        }
    }
    uint32_t i = buckets[at].used & 7;
    buckets[at].key[i] = key;
    buckets[at].row[i] = row;
    buckets[at].used++;
    return probe;
}

static trellis_status write_keys(struct tr_buffer *bytes,
                                 const struct tr_attribute_index *dictionary, uint32_t attributes,
                                 const uint32_t *row_of, trellis_error *error)
{
    uint64_t kept = 0;
    for (uint32_t a = 0; a < attributes; a++) {
        kept += row_of[a] != TR_NONE;
    }
    struct tr_table table = {.bucket_count = 1};
    while (table.bucket_count * TR_BUCKET_KEYS * 7 / 10 < kept) {
        table.bucket_count *= 2;
    }
    struct tr_bucket *buckets = tr_alloc_aligned(table.bucket_count, sizeof *buckets);
    if (!buckets) {
        return tr_fail_memory(error);
    }
    for (uint32_t a = 0; a < attributes && table.probes <= TR_MAX_PROBES; a++) {
        if (row_of[a] != TR_NONE) {
            uint32_t probe = place(&table, buckets, dictionary->entries.at[a].key, row_of[a]);
            table.probes = probe > table.probes ? probe : table.probes;
        }
    }
    if (table.probes > TR_MAX_PROBES) {
        free(buckets);
        return tr_fail(error, TRELLIS_LIMIT, "too many attributes have similar keys");
    }
    tr_put_u64(bytes, table.bucket_count);
    tr_put_u64(bytes, table.probes);
    tr_put_align(bytes, 64);
    tr_buffer_add(bytes, (const char *)buckets, table.bucket_count * sizeof *buckets);
    free(buckets);
    return TRELLIS_OK;
}

static void write_texts(struct tr_buffer *bytes, const struct tr_attribute_index *dictionary,
                        uint32_t attributes, const uint32_t *row_of)
{
    uint64_t count = 0, at = 0;
    for (uint32_t a = 0; a < attributes; a++) {
        count += row_of[a] != TR_NONE;
    }
    tr_put_u64(bytes, count);
    for (uint32_t a = 0; a < attributes; a++) {
        const struct tr_entry *entry = &dictionary->entries.at[a];
        if (row_of[a] != TR_NONE) {
            struct tr_text_record record = {entry->key, at, entry->text_size, row_of[a]};
            tr_buffer_add(bytes, (const char *)&record, sizeof record);
            at += entry->text_size;
        }
    }
    for (uint32_t a = 0; a < attributes; a++) {
        if (row_of[a] != TR_NONE) {
            tr_buffer_text(bytes, tr_attribute_index_text(dictionary, a));
        }
    }
}

/* Room for all sections of a table, rather too much: what is not written takes no memory. A buffer
 * that grows is cleared up to half beyond what is needed. */
static void make_room(struct tr_buffer *bytes, const struct tr_attribute_index *dictionary,
                      const struct tr_rows *rows)
{
    enum { REST = 1 << 20 };
    size_t attributes = tr_rows_attributes(rows);
    size_t need = bytes->size + 2 * rows->size * sizeof(float) + dictionary->bytes.size + REST +
                  attributes * (4 + sizeof(struct tr_bucket) + sizeof(struct tr_text_record));
    if (need > bytes->capacity) {
        bytes->data = tr_grow_raw(bytes->data, &bytes->capacity, need, 1);
    }
}

trellis_status tr_table_write(struct tr_image_writer *writer, char kind,
                              const struct tr_attribute_index *dictionary,
                              const struct tr_rows *rows, const float *weights, bool all,
                              trellis_error *error)
{
    uint32_t attributes = tr_rows_attributes(rows);
    uint32_t *row_of = tr_alloc(attributes, sizeof *row_of);
    trellis_status status = row_of ? TRELLIS_OK : tr_fail_memory(error);
    if (!status) {
        make_room(&writer->bytes, dictionary, rows);
        tr_image_section(writer, (char[4]){kind, 'R', 'O', 'W'});
        write_rows(&writer->bytes, rows, weights, weights, all, row_of);
        for (uint32_t a = rows->attributes; a < attributes; a++) {
            row_of[a] = row_of[tr_rows_owner(rows, a)];
        }
        tr_image_section(writer, (char[4]){kind, 'K', 'E', 'Y'});
        status = write_keys(&writer->bytes, dictionary, attributes, row_of, error);
        tr_image_section(writer, (char[4]){kind, 'T', 'X', 'T'});
        write_texts(&writer->bytes, dictionary, attributes, row_of);
    }
    free(row_of);
    return status || !writer->bytes.failed ? status : tr_fail_memory(error);
}

void tr_table_write_residuals(struct tr_image_writer *writer, char kind, const struct tr_rows *rows,
                              const float *weights, const float *residuals)
{
    uint32_t *row_of = tr_alloc(rows->attributes, sizeof *row_of);
    tr_image_section(writer, (char[4]){kind, 'L', 'O', 'W'});
    if (row_of) {
        write_rows(&writer->bytes, rows, weights, residuals, true, row_of);
    } else {
        writer->bytes.failed = true;
    }
    free(row_of);
}

/* Models that have no need of it have no such section. */
static bool read_residuals(const struct tr_image *image, char kind, struct tr_table *table)
{
    trellis_text residuals;
    if (!tr_image_find(image, (char[4]){kind, 'L', 'O', 'W'}, &residuals)) {
        return true;
    }
    struct tr_cursor cursor = tr_cursor(residuals);
    bool fits = tr_cursor_u32(&cursor) == table->outcomes &&
                tr_cursor_u32(&cursor) == table->width &&
                tr_cursor_u64(&cursor) == table->dense_words &&
                tr_cursor_u64(&cursor) == table->word_count;
    tr_cursor_align(&cursor, residuals, 64);
    table->residuals = fits && !cursor.failed ? tr_cursor_bytes(&cursor, table->word_count * 4)
                                              : NULL;
    return table->residuals;
}

static trellis_status invalid_section(char kind, const char *what, trellis_error *error)
{
    return tr_fail(error, TRELLIS_MODEL, "the model is damaged: its %s %s are invalid",
                   kind == 'N' ? "node" : "edge", what);
}

/* The rows, in words of 32 or of 16 bits; these have their binary places in front. */
static bool read_words(trellis_text rows, bool is_long, struct tr_table *table)
{
    struct tr_cursor cursor = tr_cursor(rows);
    table->outcomes = tr_cursor_u32(&cursor);
    table->width = tr_cursor_u32(&cursor);
    table->dense_words = tr_cursor_u64(&cursor);
    table->word_count = tr_cursor_u64(&cursor);
    int32_t places = is_long ? 0 : (int32_t)tr_cursor_u32(&cursor);
    tr_cursor_align(&cursor, rows, 64);
    if (cursor.failed || table->word_count >= UINT32_MAX ||
        table->dense_words > table->word_count || places > TR_MAX_PLACES ||
        places < -TR_MAX_PLACES) {
        return false;
    }
    const void *words = tr_cursor_bytes(&cursor, table->word_count * (is_long ? 4 : 2));
    table->words = is_long ? words : NULL;
    table->shorts = is_long ? NULL : words;
    table->unit = ldexpf(1, -places);
    return words && (is_long || table->outcomes <= TR_MAX_SHORT_OUTCOMES);
}

trellis_status tr_table_read(const struct tr_image *image, char kind, uint32_t outcomes,
                             struct tr_table *table, trellis_error *error)
{
    *table = (struct tr_table){0};
    trellis_text rows, keys, texts;
    bool is_long = tr_image_find(image, (char[4]){kind, 'R', 'O', 'W'}, &rows);
    if ((!is_long && !tr_image_find(image, (char[4]){kind, 'F', 'I', 'X'}, &rows)) ||
        !tr_image_find(image, (char[4]){kind, 'K', 'E', 'Y'}, &keys) ||
        !tr_image_find(image, (char[4]){kind, 'T', 'X', 'T'}, &texts)) {
        return invalid_section(kind, "sections", error);
    }
    if (!read_words(rows, is_long, table) || table->outcomes != outcomes ||
        table->width != tr_row_width(outcomes)) {
        return invalid_section(kind, "weights", error);
    }
    if (is_long && !read_residuals(image, kind, table)) {
        return invalid_section(kind, "residuals of weights", error);
    }
    struct tr_cursor cursor = tr_cursor(keys);
    table->bucket_count = tr_cursor_u64(&cursor);
    uint64_t probes = tr_cursor_u64(&cursor);
    tr_cursor_align(&cursor, keys, 64);
    if (cursor.failed || probes > TR_MAX_PROBES || table->bucket_count == 0 ||
        table->bucket_count & (table->bucket_count - 1) || table->bucket_count > keys.size / 64 ||
        !(table->buckets = tr_cursor_bytes(&cursor, table->bucket_count * 64))) {
        return invalid_section(kind, "keys", error);
    }
    table->probes = (uint32_t)probes;
    cursor = tr_cursor(texts);
    table->record_count = tr_cursor_u64(&cursor);
    if (cursor.failed || table->record_count > texts.size / sizeof *table->records ||
        !(table->records = tr_cursor_bytes(&cursor,
                                           table->record_count * sizeof *table->records))) {
        return invalid_section(kind, "texts", error);
    }
    table->byte_count = (uint64_t)(cursor.end - cursor.at);
    table->bytes = (const char *)cursor.at;
    return TRELLIS_OK;
}

/* Verifies the buckets in which a key may be. */
static trellis_status verify_key(const struct tr_table *table, struct tr_integrity *integrity,
                                 uint64_t key, trellis_error *error)
{
    uint64_t at = tr_table_home(table, key);
    for (uint32_t probe = 0; probe <= table->probes; probe++) {
        const struct tr_bucket *bucket = &table->buckets[at];
        trellis_status status = tr_integrity_range(integrity, bucket, sizeof *bucket, error);
        if (status || !(bucket->used & TR_BUCKET_FULL)) {
            return status;
        }
        at = (at + 1) & (table->bucket_count - 1);
    }
    return TRELLIS_OK;
}

/* Verifies words of the rows, and of the residuals that belong to them. */
static trellis_status verify_words(const struct tr_table *table, struct tr_integrity *integrity,
                                   uint32_t row, uint64_t count, trellis_error *error)
{
    size_t size = table->shorts ? sizeof *table->shorts : sizeof *table->words;
    trellis_status status = tr_integrity_range(integrity, tr_table_place(table, row),
                                               (size_t)count * size, error);
    return status || !table->residuals
               ? status
               : tr_integrity_range(integrity, table->residuals + row, (size_t)count * size, error);
}

trellis_status tr_table_verify(const struct tr_table *table, struct tr_integrity *integrity,
                               const uint64_t *keys, size_t count, trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    for (size_t k = 0; !status && k < count; k++) {
        status = verify_key(table, integrity, keys[k], error);
        uint32_t row = status ? TR_NONE : tr_table_find(table, keys[k]);
        if (status || row >= table->word_count) {
            continue;
        }
        uint64_t room = table->word_count - row, width = table->width;
        if (row < table->dense_words) {
            status = verify_words(table, integrity, row, width < room ? width : room, error);
            continue;
        }
        status = verify_words(table, integrity, row, 1, error);
        if (!status) {
            status = verify_words(table, integrity, row, 1 + 2 * tr_table_pairs(table, row), error);
        }
    }
    return status;
}

bool tr_table_next(const struct tr_table *table, const struct tr_text_record *record,
                   uint64_t *place, uint32_t *ret_outcome, float *ret_weight)
{
    if (record->row >= table->word_count) {
        return false;
    }
    bool dense = record->row < table->dense_words;
    uint64_t first = record->row, room = dense ? table->dense_words - first : 0;
    uint64_t count = !dense                   ? tr_table_pairs(table, record->row)
                     : table->outcomes < room ? table->outcomes
                                              : room;
    while (*place < count) {
        uint64_t j = (*place)++;
        *ret_outcome = dense ? (uint32_t)j : tr_table_number(table, first + 1 + 2 * j);
        *ret_weight = tr_table_real(table, dense ? first + j : first + 2 + 2 * j);
        if (*ret_outcome < table->outcomes && is_weight(*ret_weight)) {
            return true;
        }
    }
    return false;
}

void tr_table_each(const struct tr_table *table, const struct tr_text_record *record,
                   tr_weight_function function, void *user)
{
    uint64_t place = 0;
    uint32_t outcome;
    float weight;
    while (tr_table_next(table, record, &place, &outcome, &weight)) {
        function(user, outcome, weight);
    }
}

trellis_text tr_table_text(const struct tr_table *table, const struct tr_text_record *record)
{
    bool sound = record->text <= table->byte_count &&
                 record->text_size <= table->byte_count - record->text;
    return sound ? (trellis_text){table->bytes + record->text, record->text_size}
                 : (trellis_text){"", 0};
}

float tr_table_weight(const struct tr_table *table, uint32_t row, uint32_t outcome)
{
    float weight = 0;
    if (outcome >= table->outcomes || row >= table->word_count) {
        return 0;
    }
    if (row < table->dense_words) {
        bool sound = row + (uint64_t)table->width <= table->dense_words;
        return sound ? tr_table_real(table, (uint64_t)row + outcome) : 0;
    }
    for (uint64_t j = 0, count = tr_table_pairs(table, row); j < count; j++) {
        if (tr_table_number(table, row + 1 + 2 * j) == outcome) {
            weight = tr_table_real(table, row + 2 + 2 * j);
        }
    }
    return weight;
}

double tr_table_exact(const struct tr_table *table, uint32_t row, uint32_t outcome)
{
    struct tr_table residuals = *table;
    residuals.words = table->residuals;
    double weight = (double)tr_table_weight(table, row, outcome);
    return table->residuals ? weight + (double)tr_table_weight(&residuals, row, outcome) : weight;
}

/* Adds the weights of a row and their residuals. */
static void add_words(const struct tr_table *table, uint32_t row, double value, double *scores)
{
    bool dense = row < table->dense_words;
    uint64_t room = dense ? table->dense_words - row : 0;
    uint64_t count = !dense                ? tr_table_pairs(table, row)
                     : table->width < room ? table->width
                                           : room;
    for (uint64_t j = 0; j < count; j++) {
        uint32_t outcome = dense ? (uint32_t)j : tr_table_number(table, row + 1 + 2 * j);
        if (outcome < table->outcomes) {
            float weight = tr_table_real(table, dense ? row + j : row + 2 + 2 * j);
            scores[outcome] += value * (double)weight;
        }
    }
}

void tr_table_add_exact(const struct tr_table *table, uint32_t row, float value, double *scores)
{
    if (row < table->word_count) {
        struct tr_table residuals = *table;
        residuals.words = table->residuals;
        add_words(table, row, (double)value, scores);
        if (table->residuals) {
            add_words(&residuals, row, (double)value, scores);
        }
    }
}
