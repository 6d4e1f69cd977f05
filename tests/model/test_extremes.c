/* test_extremes.c - a small model of each kind, with every offset and count set to extreme values,
 * and all checksums repaired.
 *
 * Each is a clean error or a harmless difference (checked by the sanitizers), and no allocation is
 * larger than the file justifies.
 */
#include "support/failing.h"

#include "hostile_models.h"

enum {
    OPENING = 1 << 16, // bytes of one allocation beside what the size of the file justifies
    ASKING = 8 << 20,  // a tagger's caches have a fixed size
    BY_BYTE = 64,
    MANY = 32
};

static size_t tried, refused, largest_opening, largest_asking;

/* Ends the counting; no allocation was larger than the file justifies, or the steps that a graph
 * may have whatever its file (SECURITY.md). */
static void check_largest(size_t size, size_t fixed, bool graph, size_t *max)
{
    size_t asked = atomic_load(&largest), allowed = fixed + BY_BYTE * size;
    allowed = graph ? fixed + 16 * tr_model_max_steps(size) : allowed;
    if (asked > allowed) {
        fail_msg("an allocation of %zu bytes for a file of %zu", asked, size);
    }
    *max = !graph && asked > *max ? asked : *max;
}

/* Damaged bytes: repairs their checksums, opens them and, if wanted, exercises the model. */
static trellis_status try_damaged(unsigned char *bytes, size_t size, bool graph, bool ask)
{
    trellis_model *model;
    trellis_error error = {0};
    repair_checksums(bytes, size);
    failing_from(0, false);
    trellis_status status = open_bytes(bytes, size, &model, &error);
    check_largest(size, OPENING, graph, &largest_opening);
    tried++;
    if (status) {
        assert_null(model);
        assert_true(status == TRELLIS_MODEL || status == TRELLIS_LIMIT);
        assert_true(error.status == status && error.message[0]);
        refused++;
    } else if (ask && !is_large(bytes, size)) { // with a large graph this takes seconds
        failing_from(0, false);
        exercise(model);
        check_largest(size, ASKING, graph, &largest_asking);
    }
    trellis_model_close(model);
    return status;
}

/* ---- the table of sections ------------------------------------------------------------------- */

/* Whether a model is whole without the section. */
static bool is_optional(const unsigned char *name)
{
    static const char *const optional[] = {"WORD", "UNKN", "DICT", "SLOW", "NLOW", "ELOW", "GAUS"};
    bool found = false;
    for (size_t i = 0; i < TR_COUNT(optional); i++) {
        found = found || memcmp(name, optional[i], 4) == 0;
    }
    return found;
}

/* Whether the number of steps depends on the section. */
static bool makes_graph(const unsigned char *name)
{
    return memcmp(name, "GRPH", 4) == 0 || memcmp(name, "LABL", 4) == 0;
}

/* Offset and size of section i, each alone and both: at all extremes, and at those of the other
 * sections. */
static void section_extremes(const unsigned char *bytes, size_t size, uint32_t i)
{
    const uint64_t fixed[] = {0,
                              1,
                              31,
                              32,
                              63,
                              64,
                              65,
                              128,
                              size - 64,
                              size - 1,
                              size,
                              size + 1,
                              size + 64,
                              1ull << 31,
                              UINT32_MAX,
                              1ull << 32,
                              1ull << 63,
                              UINT64_MAX,
                              UINT64_MAX - 63,
                              (uint64_t)0 - size};
    size_t entry = HEADER + (size_t)i * ENTRY;
    unsigned char *bad = malloc(size);
    TR_ARRAY(uint64_t) offsets = {0}, sizes = {0};
    assert_true(tr_push(&offsets, u64_at(bytes, entry + 8)) &&
                tr_push(&sizes, u64_at(bytes, entry + 16)));
    for (size_t k = 0; k < TR_COUNT(fixed); k++) {
        assert_true(tr_push(&offsets, fixed[k]) && tr_push(&sizes, fixed[k]));
    }
    for (uint32_t k = 0; k < sections_of(bytes, size); k++) { // overlapping, misaligned
        uint64_t offset = u64_at(bytes, HEADER + (size_t)k * ENTRY + 8);
        assert_true(tr_push(&offsets, offset) && tr_push(&offsets, offset + 4));
        assert_true(tr_push(&sizes, u64_at(bytes, HEADER + (size_t)k * ENTRY + 16)));
    }
    for (int64_t step = -8; step <= 8; step++) {
        assert_true(tr_push(&sizes, u64_at(bytes, entry + 16) + (uint64_t)step));
    }
    for (size_t a = 0; a < offsets.size; a++) {
        for (size_t b = 0; b < (a <= TR_COUNT(fixed) ? sizes.size : 1); b++) {
            memcpy(bad, bytes, size);
            set_u64_at(bad, entry + 8, offsets.at[a]);
            set_u64_at(bad, entry + 16, sizes.at[b]);
            try_damaged(bad, size, makes_graph(bytes + entry),
                        a == 0 || b == 0 || (a + b) % 8 == 0);
        }
    }
    memcpy(bad, bytes, size); // a section that is not there
    bad[entry] = '?';
    trellis_status status = try_damaged(bad, size, false, true);
    if (status != (is_optional(bytes + entry) ? TRELLIS_OK : TRELLIS_MODEL)) {
        fail_msg("without %.4s: %s", (const char *)bytes + entry, trellis_status_name(status));
    }
    free(offsets.at);
    free(sizes.at);
    free(bad);
}

static void header_extremes(const unsigned char *bytes, size_t size)
{
    const uint64_t extremes[] = {0,        1,          2,          size - 64,  size - 1,  size + 1,
                                 1u << 31, UINT32_MAX, 1ull << 32, 1ull << 63, UINT64_MAX};
    unsigned char *bad = malloc(size);
    uint32_t count = sections_of(bytes, size);
    for (size_t i = 0; i < TR_COUNT(extremes); i++) {
        for (size_t at = 0; at < HEADER; at += 4) { // magic, version, sections, size, checksum
            memcpy(bad, bytes, size);
            memcpy(bad + at, &extremes[i], 4);
            if (memcmp(bad, bytes, TABLE_SUM)) {
                assert_int_equal(try_damaged(bad, size, false, true), TRELLIS_MODEL);
            }
        }
        memcpy(bad, bytes, size);
        set_u64_at(bad, FILE_SIZE, extremes[i]);
        assert_int_equal(try_damaged(bad, size, false, true), TRELLIS_MODEL);
    }
    const uint32_t counts[] = {0,  1,  count - 1, count + 1, 63,
                               64, 65, 1u << 27,  1u << 31,  UINT32_MAX};
    for (size_t i = 0; i < TR_COUNT(counts); i++) {
        memcpy(bad, bytes, size);
        memcpy(bad + SECTION_COUNT, &counts[i], sizeof counts[i]);
        trellis_status status = try_damaged(bad, size, false, true);
        assert_true(status == TRELLIS_MODEL || counts[i] == count - 1 || counts[i] == count + 1);
    }
    free(bad);
}

static void test_table(void **state)
{
    (void)state;
    for (int which = 0; which < ALL_MODELS; which++) {
        size_t size;
        unsigned char *bytes = make_bytes(which, &size);
        header_extremes(bytes, size);
        for (uint32_t i = 0; i < sections_of(bytes, size); i++) {
            section_extremes(bytes, size, i);
        }
        free(bytes);
    }
}

/* ---- what is in the sections ----------------------------------------------------------------- */

/* Each number of a section, as 32 and as 64 bits, set to extreme values. */
static void content_extremes(const unsigned char *bytes, size_t size, uint32_t i)
{
    static const struct {
        uint64_t value;
        size_t width;
    } extremes[] = {{0, 4},          {1, 4},          {2, 4},          {7, 4},
                    {255, 4},        {INT32_MAX, 4},  {1u << 31, 4},   {UINT32_MAX, 4},
                    {0x7FC00000, 4}, {0x7F800000, 4}, {0xFF800000, 4}, {0x7F7FFFFF, 4},
                    {1ull << 32, 8}, {INT64_MAX, 8},  {1ull << 63, 8}, {UINT64_MAX, 8}};
    size_t begin, length;
    unsigned char *bad = malloc(size);
    const unsigned char *name = bytes + HEADER + (size_t)i * ENTRY;
    assert_true(section_at(bytes, size, i, &begin, &length));
    for (size_t at = 0; at + 4 <= length; at += 4) {
        for (size_t e = 0; e < TR_COUNT(extremes); e++) {
            size_t width = extremes[e].width;
            if (at % width == 0 && at + width <= length) {
                memcpy(bad, bytes, size);
                memcpy(bad + begin + at, &extremes[e].value, width);
                bool ask = at < MANY || (at / 4 + e) % 32 == 0; // a sample of long arrays is enough
                try_damaged(bad, size, makes_graph(name), ask);
            }
        }
    }
    free(bad);
}

static void test_contents(void **state)
{
    (void)state;
    for (int which = 0; which < ALL_MODELS; which++) {
        size_t size;
        unsigned char *bytes = make_bytes(which, &size);
        for (uint32_t i = 0; i < sections_of(bytes, size); i++) {
            content_extremes(bytes, size, i);
        }
        free(bytes);
    }
}

/* Every section that a model can have is in one of these models, else the tests above leave it
 * out. */
static void test_all_sections_are_there(void **state)
{
    (void)state;
    static const char all[] =
        "META LABL GRPH STEP FEAT SLOW UNKN SEGM DICT WORD GAUS NROW NKEY NTXT NLOW EROW EKEY ETXT "
        "NFIX EFIX";
    char seen[sizeof all] = "";
    for (int which = 0; which < ALL_MODELS; which++) {
        size_t size;
        unsigned char *bytes = make_bytes(which, &size);
        for (uint32_t i = 0; i < sections_of(bytes, size); i++) {
            char name[5] = "";
            memcpy(name, bytes + HEADER + i * ENTRY, 4);
            const char *at = strstr(all, name);
            assert_non_null(at); // else it is a new one: list it here
            memcpy(seen + (at - all), name, 4);
        }
        free(bytes);
    }
    for (size_t i = 4; i < sizeof all - 1; i += 5) {
        seen[i] = ' ';
    }
    assert_string_equal(seen, all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_sections_are_there),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_contents),
    };
    limit_memory();
    int status = cmocka_run_group_tests(tests, group_setup, group_teardown);
    printf(
        "%zu models with an extreme number, %zu refused; the largest allocation was %zu bytes to open one, "
        "%zu to ask it\n",
        tried, refused, largest_opening, largest_asking);
    return status;
}
