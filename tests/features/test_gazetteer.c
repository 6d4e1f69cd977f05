/* Gazetteers: a hand-worked example, a naive search over strings as the judge, and tables that are
 * damaged. */
#include "features/gazetteer.h"

#include "base/random.h"
#include "features/helper.h"

static const char names[] = "LOC\tNew York\nLOC\tYork\nORG\tNew York  Times\nPER\tYork\n\n"
                            "LOC\tNew York City Hall\n";
static const char plain[] = "big apple\napple\n";

static trellis_features *parse(const char *text)
{
    trellis_resource given[] = {{"names.tsv", names, strlen(names)},
                                {"plain.txt", plain, strlen(plain)}};
    trellis_features *features;
    trellis_error error = {0};
    if (trellis_features_parse(tr_text(text), NULL, given, TR_COUNT(given), &features, &error)) {
        fail_msg("%s", error.message);
    }
    return features;
}

/* "The New York Times in York": a place for each type, the longest match from left to right. */
static void test_example(void **state)
{
    (void)state;
    static const char rows[] = "The\nNew\nYork\nTimes\nin\nYork";
    trellis_features *features = parse("columns word\nnode gazetteer(word,\"names.tsv\")\n");
    check_features(features, rows, false, 0, "");
    check_features(features, rows, false, 1,
                   "gazetteer(word[0],\"names.tsv\",LOC)=B ; "
                   "gazetteer(word[0],\"names.tsv\",ORG)=B");
    check_features(features, rows, false, 2,
                   "gazetteer(word[0],\"names.tsv\",LOC)=E ; "
                   "gazetteer(word[0],\"names.tsv\",ORG)=I ; "
                   "gazetteer(word[0],\"names.tsv\",PER)=S");
    check_features(features, rows, false, 3, "gazetteer(word[0],\"names.tsv\",ORG)=E");
    check_features(features, rows, false, 5,
                   "gazetteer(word[0],\"names.tsv\",LOC)=S ; "
                   "gazetteer(word[0],\"names.tsv\",PER)=S");
    trellis_features_destroy(features);
}

/* An entry that goes on differently, no types, case, offsets, functions, conjunctions. */
static void test_forms(void **state)
{
    (void)state;
    trellis_features *features = parse("columns word\n"
                                       "node gazetteer(word,\"plain.txt\",lower) & word\n"
                                       "node gazetteer(word[1],\"plain.txt\")\n"
                                       "node ngram(gazetteer(lower(word),\"plain.txt\"),0..1,2)\n");
    static const char rows[] = "BIG\nApple\nbig\ntree\napple";
    check_features(features, rows, false, 0,
                   "gazetteer(word[0],\"plain.txt\",lower)&word[0]=B|BIG ; "
                   "gazetteer(lower(word[0]),\"plain.txt\")&"
                   "gazetteer(lower(word[1]),\"plain.txt\")=B|E");
    check_features(features, rows, false, 1,
                   "gazetteer(word[0],\"plain.txt\",lower)&word[0]=E|Apple");
    check_features(features, rows, false, 2, "");
    check_features(features, rows, false, 3, "gazetteer(word[1],\"plain.txt\")=S");
    check_features(features, rows, false, 4,
                   "gazetteer(word[0],\"plain.txt\",lower)&word[0]=S|apple");
    trellis_features_destroy(features);
    features = parse("columns word\nnode gazetteer(word,\"names.tsv\")\n");
    check_features(features, "New\nYork\nCity", false, 1,
                   "gazetteer(word[0],\"names.tsv\",LOC)=E ; "
                   "gazetteer(word[0],\"names.tsv\",PER)=S");
    check_features(features, "New\nYork\nCity", false, 2, "");
    trellis_features_destroy(features);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"node lower(gazetteer(word,\"plain.txt\"))", "lower() cannot be applied to gazetteer()"},
        {"node word if gazetteer(word,\"plain.txt\")", "expected a test"},
        {"node gazetteer(word,\"plain.txt\",upper)", "expected 'lower'"},
        {"node gazetteer(word,\"no such file\")", "not among the resources"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        char text[200];
        trellis_resource given = {"plain.txt", plain, strlen(plain)};
        trellis_features *features = NULL;
        trellis_error error = {0};
        snprintf(text, sizeof text, "columns word\n%s\n", cases[i][0]);
        assert_int_equal(trellis_features_parse(tr_text(text), NULL, &given, 1, &features, &error),
                         TRELLIS_TEMPLATE);
        if (!strstr(error.message, cases[i][1])) {
            fail_msg("%s: %s", cases[i][0], error.message);
        }
    }
}

static void test_many_types(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    for (int i = 0; i <= TR_MAX_TYPES; i++) {
        tr_buffer_format(&text, "T%d\tname\n", i);
    }
    trellis_resource given = {"many", text.data, text.size};
    trellis_features *features = NULL;
    trellis_error error = {0};
    assert_int_equal(trellis_features_parse(TR_TEXT("columns word\nnode gazetteer(word,\"many\")"),
                                            NULL, &given, 1, &features, &error),
                     TRELLIS_TEMPLATE);
    assert_non_null(strstr(error.message, "more than 64 types"));
    tr_buffer_free(&text);
}

/* ---- a naive search -------------------------------------------------------------------------- */

enum { ENTRIES = 12, WORDS = 30 };

/* Entries and sentences over the letters a to c, one letter a word. */
struct trial {
    char entries[ENTRIES][5];
    char sentence[WORDS + 1];
};

static void draw(struct tr_random *random, char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        text[i] = (char)('a' + tr_random_below(random, 3));
    }
    text[size] = '\0';
}

static void find_naively(const struct trial *trial, char *places)
{
    memset(places, 0, WORDS);
    for (size_t i = 0; i < WORDS;) {
        size_t best = 0;
        for (size_t e = 0; e < ENTRIES; e++) {
            size_t size = strlen(trial->entries[e]);
            if (size > best && strncmp(trial->sentence + i, trial->entries[e], size) == 0) {
                best = size;
            }
        }
        for (size_t k = 0; k < best; k++) {
            places[i + k] = best == 1 ? 'S' : k == 0 ? 'B' : k + 1 == best ? 'E' : 'I';
        }
        i += best ? best : 1;
    }
}

static void test_naive(void **state)
{
    (void)state;
    struct tr_random random;
    size_t inside = 0;
    tr_random_seed(&random, 7);
    for (int round = 0; round < 300; round++) {
        struct trial trial;
        struct tr_buffer file = {0};
        for (size_t e = 0; e < ENTRIES; e++) {
            draw(&random, trial.entries[e], 2 + tr_random_below(&random, 3));
            for (const char *c = trial.entries[e]; *c; c++) {
                tr_buffer_format(&file, "%c ", *c);
            }
            tr_buffer_char(&file, '\n');
        }
        draw(&random, trial.sentence, WORDS);
        struct tr_resource resource = {.kind = TR_GAZETTEER};
        struct tr_input *input;
        struct tr_gazetteer gazetteer;
        assert_int_equal(tr_input_open_bytes(file.data, file.size, "entries", &input, NULL),
                         TRELLIS_OK);
        assert_int_equal(tr_gazetteer_load(&resource, input, NULL), TRELLIS_OK);
        tr_input_close(input);
        assert_true(tr_gazetteer_open(resource.data, &gazetteer));
        uint64_t words[WORDS];
        char places[WORDS], wanted[WORDS];
        for (size_t i = 0; i < WORDS; i++) {
            words[i] = tr_gazetteer_word((trellis_text){&trial.sentence[i], 1});
        }
        tr_gazetteer_match(&gazetteer, 0, words, WORDS, places);
        find_naively(&trial, wanted);
        assert_memory_equal(places, wanted, WORDS);
        for (size_t i = 0; i < WORDS; i++) {
            inside += places[i] == 'I';
        }
        tr_resource_free(&resource);
        tr_buffer_free(&file);
    }
    assert_true(inside > 100);
}

/* Any bytes are a table or none; whatever they are, nothing outside is read (under the
 * sanitizers). */
static void test_damaged(void **state)
{
    (void)state;
    struct tr_random random;
    tr_random_seed(&random, 3);
    for (int round = 0; round < 3000; round++) {
        size_t size = tr_random_below(&random, 64);
        char *bytes = tr_alloc(size, 1);
        for (size_t i = 0; i < size; i++) {
            bytes[i] = (char)(i < 8 ? (i == 0 ? tr_random_below(&random, 4) : 0)
                                    : tr_random_below(&random, 7));
        }
        struct tr_gazetteer gazetteer;
        uint64_t words[3] = {1, 2, 3};
        char places[3];
        if (tr_gazetteer_open((trellis_text){bytes, size}, &gazetteer)) {
            for (uint32_t t = 0; t < gazetteer.types; t++) {
                trellis_text type = tr_gazetteer_type(&gazetteer, t);
                assert_true(type.size <= size);
                tr_gazetteer_match(&gazetteer, t, words, 3, places);
            }
        }
        free(bytes);
    }
}

/* A model keeps it. */
static void test_block(void **state)
{
    (void)state;
    trellis_features *features = parse("columns word\nnode gazetteer(word,\"names.tsv\",lower)\n");
    trellis_features *again;
    struct tr_buffer block = {0};
    assert_int_equal(tr_features_write(features, &block, NULL), TRELLIS_OK);
    assert_int_equal(tr_features_read(block.data, block.size, &again, NULL), TRELLIS_OK);
    check_features(again, "new\nyork\ntimes", false, 1,
                   "gazetteer(word[0],\"names.tsv\",lower,LOC)=E ; "
                   "gazetteer(word[0],\"names.tsv\",lower,ORG)=I ; "
                   "gazetteer(word[0],\"names.tsv\",lower,PER)=S");
    trellis_features_destroy(again);
    trellis_features_destroy(features);
    tr_buffer_free(&block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example), cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_many_types),
        cmocka_unit_test(test_naive),   cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
