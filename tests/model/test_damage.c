/* test_damage.c - a damaged block of a large model is noticed by whatever reads it.
 *
 * Opening does not read the weights of a large model. Everything that reads them later must compare
 * them with their checksums first, or damage would come out as wrong labels, or go into a copy that
 * passes every check. A file of 0.1.0 has no checksums of blocks: it must open, work, and be
 * verified as a whole.
 */
#include "test_model.h"

#include "base/hash.h"
#include "model/model.h"

enum { TOKENS = 60000, ENTRY = 32, HEADER = 32 };

static char *intact;
static size_t intact_size;

/* A model with sections of more than 1 MiB: three attributes of its own for each token. */
static int make_model(void **state)
{
    struct tr_buffer text = {0};
    if (group_setup(state)) {
        return -1;
    }
    for (int i = 0; i < TOKENS; i++) {
        tr_buffer_format(&text, "%s\tw=%d\tp=%d\ts=%d\n%s", i % 3 ? "A" : "B", i, i % (TOKENS / 2),
                         i, i % 20 == 19 ? "\n" : "");
    }
    tr_buffer_char(&text, 0);
    trellis_model *model = train_on(text.data,
                                    "format=crfsuite type=crf algorithm=sgd rate=0.1 epochs=1");
    tr_buffer_free(&text);
    trellis_error error = {0};
    assert_ok(trellis_model_save(model, path_of("intact.model"), &error), error);
    trellis_model_close(model);
    intact = get_file(path_of("intact.model"), &intact_size);
    return 0;
}

static int end(void **state)
{
    free(intact);
    return group_teardown(state);
}

static uint64_t number_at(const char *bytes, size_t at)
{
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

/* The place in the table of the section with this name. */
static size_t entry_of(const char *bytes, const char *name)
{
    uint32_t sections;
    memcpy(&sections, bytes + 12, sizeof sections);
    for (size_t i = 0; i < sections; i++) {
        if (memcmp(bytes + HEADER + i * ENTRY, name, 4) == 0) {
            return HEADER + i * ENTRY;
        }
    }
    fail_msg("there is no section %s", name);
    return 0;
}

/* The same model as 0.1.0 would have written it: without the last section, SUMS. */
static char *without_sums(size_t *ret_size)
{
    size_t entry = entry_of(intact, "SUMS");
    uint32_t sections = (uint32_t)((entry - HEADER) / ENTRY);
    uint64_t size = number_at(intact, entry + 8);
    char *bytes = malloc(size);
    assert_non_null(bytes);
    memcpy(bytes, intact, size);
    memcpy(bytes + 12, &sections, sizeof sections);
    memcpy(bytes + 16, &size, sizeof size);
    memset(bytes + entry, 0, ENTRY);
    uint64_t sum = tr_hash64(bytes, HEADER - 8) ^
                   tr_hash64(bytes + HEADER, (size_t)sections * ENTRY);
    memcpy(bytes + 24, &sum, sizeof sum);
    *ret_size = size;
    return bytes;
}

/* ---- who reads -------------------------------------------------------------------------------- */

typedef trellis_status (*reading)(const trellis_model *model, trellis_error *error);

static trellis_status drop(void *user, const char *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return TRELLIS_OK;
}

static trellis_status verify(const trellis_model *model, trellis_error *error)
{
    return trellis_model_verify(model, error);
}
static trellis_status save(const trellis_model *model, trellis_error *error)
{
    return trellis_model_save(model, path_of("copy.model"), error);
}
static trellis_status write_bytes(const trellis_model *model, trellis_error *error)
{
    return trellis_model_write(model, drop, NULL, error);
}
static trellis_status info(const trellis_model *model, trellis_error *error)
{
    return trellis_model_info(model, false, drop, NULL, error);
}
static trellis_status export_text(const trellis_model *model, trellis_error *error)
{
    return trellis_model_export(model, false, drop, NULL, error);
}
static trellis_status export_json(const trellis_model *model, trellis_error *error)
{
    return trellis_model_export(model, true, drop, NULL, error);
}
static trellis_status to_crfsuite(const trellis_model *model, trellis_error *error)
{
    return trellis_model_write_crfsuite(model, drop, NULL, error);
}
static trellis_status repack(const trellis_model *model, trellis_error *error)
{
    trellis_model *copy;
    trellis_status status = trellis_model_repack(model, 32, &copy, error);
    assert_true(status == TRELLIS_OK || copy == NULL);
    trellis_model_close(copy);
    return status;
}
static trellis_status shrink(const trellis_model *model, trellis_error *error)
{
    trellis_model *copy;
    trellis_status status = trellis_model_repack(model, 16, &copy, error);
    trellis_model_close(copy);
    return status;
}
static trellis_status inspect(const trellis_model *model, trellis_error *error)
{
    trellis_inspection *inspection;
    trellis_status status = trellis_inspection_create(model, 5, &inspection, error);
    trellis_inspection_destroy(inspection);
    return status;
}
static trellis_status iterate(const trellis_model *model, trellis_error *error)
{
    trellis_weight_iterator *iterator;
    trellis_status status = trellis_weight_iterator_create(model, &iterator, error);
    trellis_weight_iterator_destroy(iterator);
    return status;
}
static trellis_status train_from(const trellis_model *model, trellis_error *error)
{
    static const char text[] = "A\tw=1\nB\tw=2\n";
    trellis_options *options = make_options("format=crfsuite type=crf algorithm=sgd epochs=1");
    trellis_source source = {.struct_size = sizeof source, .data = text, .data_size = strlen(text)};
    trellis_training training = {
        .struct_size = sizeof training, .train = &source, .train_count = 1, .from = model};
    trellis_model *result;
    trellis_status status = trellis_train(options, &training, &result, error);
    trellis_model_close(result);
    trellis_options_destroy(options);
    return status;
}
static trellis_status learn_online(const trellis_model *model, trellis_error *error)
{
    trellis_online *online;
    trellis_status status = trellis_online_create(NULL, model, NULL, &online, error);
    trellis_online_destroy(online);
    return status;
}

static const struct {
    const char *name;
    reading read;
} readers[] = {
    {"verify", verify},
    {"save", save},
    {"write", write_bytes},
    {"info", info},
    {"export", export_text},
    {"export as JSON", export_json},
    {"to CRFsuite", to_crfsuite},
    {"32 bits", repack},
    {"16 bits", shrink},
    {"inspect", inspect},
    {"iterate", iterate},
    {"train from", train_from},
    {"learn online", learn_online},
};

/* Tags tokens first .. last-1, one by one, and returns the first failure. */
static trellis_status tag_some(const trellis_model *model, int first, int last,
                               trellis_error *error)
{
    trellis_tagger *tagger;
    assert_ok(trellis_tagger_create(model, NULL, &tagger, error), *error);
    trellis_status status = TRELLIS_OK;
    for (int i = first; !status && i < last; i++) {
        char name[30];
        snprintf(name, sizeof name, "w=%d", i);
        trellis_attribute attribute = {tr_text(name), 1};
        size_t begin[] = {0, 1};
        trellis_sequence sequence = {.struct_size = sizeof sequence,
                                     .length = 1,
                                     .attributes = &attribute,
                                     .attribute_begin = begin,
                                     .weight = 1};
        const trellis_text *labels;
        status = trellis_tagger_tag(tagger, &sequence, &labels, error);
    }
    trellis_tagger_destroy(tagger);
    return status;
}

/* The model of these bytes, from a file named damaged.model. */
static trellis_model *open_damaged(const char *bytes, size_t size)
{
    return open_model(put_file("damaged.model", bytes, size));
}

static void assert_damage(trellis_status status, const trellis_error *error, const char *who)
{
    if (status != TRELLIS_MODEL || !strstr(error->message, "damaged.model: the model is damaged")) {
        fail_msg("%s: %s: %s", who, trellis_status_name(status), error->message);
    }
}

/* Every reader of a model with a flipped bit in the middle of a section, which taggers read or
 * not. */
static void read_damaged(const char *bytes, size_t size, const char *section, bool by_taggers)
{
    char *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    size_t entry = entry_of(bytes, section);
    copy[number_at(bytes, entry + 8) + number_at(bytes, entry + 16) / 2] ^= 4;
    for (size_t i = 0; i < TR_COUNT(readers); i++) {
        trellis_error error = {0};
        trellis_model *model = open_damaged(copy, size);
        assert_damage(readers[i].read(model, &error), &error, readers[i].name);
        assert_damage(readers[i].read(model, &error), &error, readers[i].name); // and again
        trellis_model_close(model);
    }
    trellis_error error = {0};
    trellis_model *model = open_damaged(copy, size);
    if (by_taggers) {
        assert_damage(tag_some(model, 0, TOKENS, &error), &error, "tagging");
        assert_damage(tag_some(model, 0, 1, &error), &error, "tagging again");
    } else {
        assert_ok(tag_some(model, 0, TOKENS, &error), error);
        assert_true(tr_integrity_done(model->integrity));
        assert_damage(tr_integrity_all(model->integrity, &error), &error, "all");
    }
    assert_int_equal(trellis_model_attribute(model, false, 0).size, 0);
    assert_true(trellis_model_find_attribute(model, false, tr_text("w=1")) == SIZE_MAX);
    double weight = trellis_model_weight(model, 0, &(int32_t){0}, 1);
    assert_true(weight != weight);
    trellis_model_close(model);
    free(copy);
}

static void test_damage(void **state)
{
    (void)state;
    static const char *const sections[] = {"NROW", "NKEY", "NTXT"};
    size_t old_size;
    char *old = without_sums(&old_size);
    for (size_t i = 0; i < TR_COUNT(sections); i++) {
        assert_true(number_at(intact, entry_of(intact, sections[i]) + 16) >= TR_IMAGE_AT_ONCE);
        read_damaged(intact, intact_size, sections[i], strcmp(sections[i], "NTXT") != 0);
        read_damaged(old, old_size, sections[i], true);
    }
    free(old);
}

static void test_intact(void **state)
{
    (void)state;
    size_t old_size;
    char *old = without_sums(&old_size);
    for (int age = 0; age < 2; age++) {
        trellis_error error = {0};
        trellis_model *model = age ? open_damaged(old, old_size)
                                   : open_damaged(intact, intact_size);
        for (size_t i = 0; i < TR_COUNT(readers); i++) {
            assert_ok(readers[i].read(model, &error), error);
        }
        trellis_model_close(model);
        model = age ? open_damaged(old, old_size) : open_damaged(intact, intact_size);
        assert_ok(tag_some(model, 0, TOKENS, &error), error);
        assert_true(tr_integrity_done(model->integrity));
        trellis_model_close(model);
    }
    free(old);
}

/* The section before SUMS ends where its content does, not at the alignment of the next. */
static void test_sizes(void **state)
{
    (void)state;
    trellis_model *model = open_damaged(intact, intact_size), *copy;
    trellis_error error = {0};
    assert_ok(trellis_model_repack(model, 32, &copy, &error), error);
    assert_int_equal(trellis_model_size(copy), intact_size);
    assert_memory_equal(copy->image.data, intact, intact_size);
    for (uint32_t i = 0; i + 2 < (entry_of(intact, "SUMS") - HEADER) / ENTRY; i++) {
        size_t entry = HEADER + i * (size_t)ENTRY;
        uint64_t end = number_at(intact, entry + 8) + number_at(intact, entry + 16);
        assert_true(number_at(intact, entry + ENTRY + 8) - end < 64);
    }
    size_t last = entry_of(intact, "SUMS") - ENTRY;
    assert_memory_equal(intact + last, "ETXT", 4);
    assert_int_equal(number_at(intact, last + 16), 8); // a count of 0
    trellis_model_close(copy);
    trellis_model_close(model);
}

/* Nothing of nothing is damaged, wherever it is; a byte beyond the file has no checksum. */
static void test_ranges(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = open_damaged(intact, intact_size);
    const unsigned char *begin = model->image.data, *end = begin + model->image.size;
    assert_ok(tr_integrity_range(model->integrity, begin, 0, &error), error);
    assert_ok(tr_integrity_range(model->integrity, end, 0, &error), error);
    assert_ok(tr_integrity_range(model->integrity, model->node.words, 1, &error), error);
    assert_damage(tr_integrity_range(model->integrity, end, 1, &error), &error, "beyond the end");
    trellis_model_close(model);
}

/* A model in which a bit of a section is flipped. */
static trellis_model *open_flipped(const char *section, size_t at)
{
    char *copy = malloc(intact_size);
    assert_non_null(copy);
    memcpy(copy, intact, intact_size);
    copy[number_at(copy, entry_of(copy, section) + 8) + at] ^= 1;
    trellis_model *model = open_damaged(copy, intact_size);
    free(copy);
    return model;
}

/* One token reads few blocks; a hundred tokens verify all blocks with weights and keys, but none
 * that has only texts, and then nothing is verified again. */
static void test_in_parts(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = open_damaged(intact, intact_size);
    assert_false(tr_integrity_done(model->integrity));
    assert_ok(tag_some(model, 0, 1, &error), error);
    assert_false(tr_integrity_done(model->integrity));
    assert_ok(tag_some(model, 0, 100, &error), error);
    assert_true(tr_integrity_done(model->integrity));
    trellis_model_close(model);
    model = open_flipped("NKEY", 100000); // none of the first tokens is there
    assert_ok(tag_some(model, 0, 1, &error), error);
    assert_damage(tag_some(model, 0, 100, &error), &error, "a hundred tokens");
    trellis_model_close(model);
    /* The blocks at both ends of the texts have something else as well. */
    size_t texts = number_at(intact, entry_of(intact, "NTXT") + 16);
    size_t places[] = {0, 100000, texts - 1};
    for (size_t i = 0; i < TR_COUNT(places); i++) {
        model = open_flipped("NTXT", places[i]);
        bool inside = i == 1;
        assert_int_equal(tag_some(model, 0, TOKENS, &error), inside ? TRELLIS_OK : TRELLIS_MODEL);
        assert_damage(tr_integrity_all(model->integrity, &error), &error, "all");
        trellis_model_close(model);
    }
}

/* A flipped bit in the row, or in the bucket, of an attribute is noticed by the first token that has
 * it, and by no token before. */
static void test_where_read(void **state)
{
    (void)state;
    trellis_error error = {0};
    trellis_model *model = open_damaged(intact, intact_size);
    size_t number = trellis_model_find_attribute(model, false, tr_text("w=41007"));
    const struct tr_text_record *record = &model->node.records[number];
    const struct tr_bucket *bucket = model->node.buckets + tr_table_home(&model->node, record->key);
    const char *places[] = {(const char *)(model->node.words + record->row + 2),
                            (const char *)bucket};
    for (size_t i = 0; i < TR_COUNT(places); i++) {
        char *copy = malloc(intact_size);
        assert_non_null(copy);
        memcpy(copy, intact, intact_size);
        copy[places[i] - (const char *)model->image.data] ^= 64;
        trellis_model *damaged = open_damaged(copy, intact_size);
        assert_ok(tag_some(damaged, 3, 4, &error), error);
        assert_damage(tag_some(damaged, 41007, 41008, &error), &error, "the token");
        trellis_model_close(damaged);
        free(copy);
    }
    trellis_model_close(model);
}

/* Checksums of blocks that do not fit the file. */
static void test_sums(void **state)
{
    (void)state;
    size_t entry = entry_of(intact, "SUMS");
    for (uint32_t shift = 0; shift < 70; shift++) {
        char *copy = malloc(intact_size);
        assert_non_null(copy);
        memcpy(copy, intact, intact_size);
        uint64_t at = number_at(copy, entry + 8), size = number_at(copy, entry + 16);
        bool same = memcmp(copy + at, &shift, sizeof shift) == 0;
        memcpy(copy + at, &shift, sizeof shift);
        uint64_t sum = tr_hash64(copy + at, size);
        memcpy(copy + entry + 24, &sum, sizeof sum);
        uint32_t sections = (uint32_t)((entry - HEADER) / ENTRY) + 1;
        sum = tr_hash64(copy, HEADER - 8) ^ tr_hash64(copy + HEADER, (size_t)sections * ENTRY);
        memcpy(copy + 24, &sum, sizeof sum);
        trellis_model *model;
        trellis_error error = {0};
        trellis_status status = trellis_model_open_bytes(copy, intact_size, TRELLIS_COPY, &model,
                                                         &error);
        assert_int_equal(status, same ? TRELLIS_OK : TRELLIS_MODEL);
        trellis_model_close(model);
        free(copy);
    }
}

/* A machine with the other byte order would have written the version the other way round. */
static void test_byte_order(void **state)
{
    (void)state;
    enum { VERSION = 8 };
    char *bytes = malloc(intact_size);
    trellis_model *model;
    trellis_error error = {0};
    memcpy(bytes, intact, intact_size);
    for (size_t i = 0; i < 4; i++) {
        bytes[VERSION + i] = intact[VERSION + 3 - i];
    }
    const char *path = put_file("other.model", bytes, intact_size);
    assert_int_equal(trellis_model_open(path, &model, &error), TRELLIS_MODEL);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, "byte order"));
    assert_non_null(strstr(error.message, "trellis export"));
    free(bytes);
}

/* Sections of more than 1 MiB that are read when a model is opened: those of 420^2 transitions. */
static void test_large_sections_read_at_once(void **state)
{
    (void)state;
    enum { LABELS = 420 };
    struct tr_buffer text = {0};
    trellis_error error = {0};
    trellis_model *model;
    tr_buffer_string(&text, "trellis-text\t1\n");
    for (int a = 0; a < LABELS; a++) {
        tr_buffer_format(&text, "label\tL%d\n", a);
    }
    for (int a = 0; a < LABELS * LABELS; a++) {
        tr_buffer_format(&text, "step\t%d\tL%d\tL%d\n", 1 + a, a / LABELS, a % LABELS);
    }
    assert_ok(trellis_model_import_bytes(text.data, text.size, NULL, &model, &error), error);
    assert_ok(trellis_model_save(model, path_of("steps.model"), &error), error);
    trellis_model_close(model);
    tr_buffer_free(&text);
    size_t size, large = 0;
    char *bytes = get_file(path_of("steps.model"), &size);
    for (size_t entry = HEADER; entry < entry_of(bytes, "SUMS"); entry += ENTRY) {
        if (number_at(bytes, entry + 16) >= TR_IMAGE_AT_ONCE) {
            char *middle = bytes + number_at(bytes, entry + 8) + number_at(bytes, entry + 16) / 2;
            *middle ^= 4;
            const char *path = put_file("damaged.model", bytes, size);
            assert_damage(trellis_model_open(path, &model, &error), &error, "opening");
            *middle ^= 4;
            large++;
        }
    }
    assert_true(large > 0);
    trellis_model_close(open_damaged(bytes, size));
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_intact),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_in_parts),
        cmocka_unit_test(test_where_read),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_byte_order),
        cmocka_unit_test(test_large_sections_read_at_once),
    };
    return cmocka_run_group_tests(tests, make_model, end);
}
