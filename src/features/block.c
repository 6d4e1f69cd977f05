/* block.c - a compiled set as bytes of a model file, and back.
 *
 * What is stored is the text of the templates and the tables they need; reading compiles the text
 * again and finds the tables in the block instead of in files. Numbers are little-endian:
 *
 *     "TRFEAT01"   u32 dialect   u32 tables   u64 name size   u64 source size   name   source
 *     per table:   u32 kind      u32 limit    u64 name size   u64 data size     name   data
 *
 * No byte of it is trusted: sizes are checked against what is left, and tables are checked where
 * they are used (resources.c).
 */
#include "features/compiled.h"
#include "features/tables.h"

static const char magic[8] = {'T', 'R', 'F', 'E', 'A', 'T', '0', '1'};

/* Two numbers and two texts: the shape of everything in the block. */
static void put_record(struct tr_buffer *buffer, uint32_t a, uint32_t b, trellis_text name,
                       trellis_text data)
{
    tr_put_u32(buffer, a);
    tr_put_u32(buffer, b);
    tr_put_u64(buffer, name.size);
    tr_put_u64(buffer, data.size);
    tr_buffer_text(buffer, name);
    tr_buffer_text(buffer, data);
}

trellis_status tr_features_write(const trellis_features *features, struct tr_buffer *buffer,
                                 trellis_error *error)
{
    tr_buffer_add(buffer, magic, sizeof magic);
    put_record(buffer, features->dialect, (uint32_t)features->resources.size,
               tr_text(features->name), tr_features_source(features));
    for (size_t i = 0; i < features->resources.size; i++) {
        const struct tr_resource *resource = &features->resources.at[i];
        put_record(buffer, resource->kind, resource->limit, tr_text(resource->name),
                   resource->data);
    }
    return buffer->failed ? tr_fail_memory(error) : TRELLIS_OK;
}

struct record {
    uint32_t a, b;
    trellis_text name, data;
};

static bool get_bytes(trellis_text *left, void *bytes, size_t size)
{
    if (left->size < size) {
        return false;
    }
    memcpy(bytes, left->data, size);
    left->data += size;
    left->size -= size;
    return true;
}

static bool get_text(trellis_text *left, uint64_t size, trellis_text *text)
{
    if (left->size < size) {
        return false;
    }
    *text = (trellis_text){left->data, (size_t)size};
    left->data += size;
    left->size -= (size_t)size;
    return true;
}

static bool get_record(trellis_text *left, struct record *record)
{
    uint64_t name_size, data_size;
    if (!get_bytes(left, &record->a, sizeof record->a) ||
        !get_bytes(left, &record->b, sizeof record->b) ||
        !get_bytes(left, &name_size, sizeof name_size) ||
        !get_bytes(left, &data_size, sizeof data_size)) {
        return false;
    }
    record->a = le32toh(record->a);
    record->b = le32toh(record->b);
    return get_text(left, le64toh(name_size), &record->name) &&
           get_text(left, le64toh(data_size), &record->data);
}

static trellis_status fail_block(trellis_error *error)
{
    return tr_fail(error, TRELLIS_MODEL, "the templates in the model are corrupt");
}

static void free_stored(struct tr_stored *stored)
{
    for (size_t i = 0; i < stored->count; i++) {
        free(stored->at[i].name);
    }
    free(stored->at);
}

static trellis_status get_tables(trellis_text *left, uint32_t count, struct tr_stored *stored,
                                 trellis_error *error)
{
    if (count > left->size / 24) {
        return fail_block(error);
    }
    stored->at = tr_alloc(count, sizeof *stored->at);
    if (!stored->at) {
        return tr_fail_memory(error);
    }
    for (; stored->count < count; stored->count++) {
        struct record record;
        if (!get_record(left, &record) || record.a >= TR_RESOURCE_KINDS) {
            return fail_block(error);
        }
        char *name = tr_copy_text(record.name.data, record.name.size);
        if (!name) {
            return tr_fail_memory(error);
        }
        stored->at[stored->count] = (struct tr_resource){
            .kind = record.a, .name = name, .limit = record.b, .data = record.data};
    }
    return TRELLIS_OK;
}

/* A template that does not compile is a damaged model; the sentence stays. */
static trellis_status compile_stored(const struct record *head, const struct tr_stored *stored,
                                     trellis_features **ret_features, trellis_error *error)
{
    char *name = tr_copy_text(head->name.data, head->name.size);
    char *source = tr_copy_text(head->data.data, head->data.size);
    if (!name || !source) {
        free(name);
        free(source);
        return tr_fail_memory(error);
    }
    struct tr_resource_supply supply = {.from = TR_STORED, .stored = stored};
    trellis_status status = tr_features_compile(name, source, head->data.size, &supply,
                                                ret_features, error);
    free(name);
    if (status && status != TRELLIS_MEMORY) {
        status = TRELLIS_MODEL;
        if (error) {
            error->status = status;
        }
    }
    return status;
}

/* No template asks for the filter of segments: it is taken over where there is one. */
static trellis_status take_filter(trellis_features *features, const struct tr_stored *stored,
                                  trellis_error *error)
{
    for (size_t i = 0; i < stored->count; i++) {
        struct tr_resource filter = stored->at[i];
        if (filter.kind != TR_FILTER) {
            continue;
        }
        if (features->has_filter || features->columns.size == 0) {
            return fail_block(error);
        }
        filter.name = tr_copy_text(filter.name, strlen(filter.name));
        if (!filter.name || !tr_features_take_filter(features, filter)) {
            free(filter.name);
            return tr_fail_memory(error);
        }
    }
    return TRELLIS_OK;
}

trellis_status tr_features_read(const void *data, size_t size, trellis_features **ret_features,
                                trellis_error *error)
{
    *ret_features = NULL;
    trellis_text left = {data, size};
    char begin[sizeof magic];
    struct record head;
    if (!get_bytes(&left, begin, sizeof begin) || memcmp(begin, magic, sizeof magic) != 0 ||
        !get_record(&left, &head) || head.data.size > TR_MAX_SOURCE || head.name.size > 4096) {
        return fail_block(error);
    }
    struct tr_stored stored = {0};
    trellis_status status = get_tables(&left, head.b, &stored, error);
    status = status ? status : compile_stored(&head, &stored, ret_features, error);
    status = status ? status : take_filter(*ret_features, &stored, error);
    if (status) {
        trellis_features_destroy(*ret_features);
        *ret_features = NULL;
    }
    if (!status && (left.size || (*ret_features)->dialect != head.a)) {
        trellis_features_destroy(*ret_features);
        *ret_features = NULL;
        status = fail_block(error);
    }
    free_stored(&stored);
    return status;
}
