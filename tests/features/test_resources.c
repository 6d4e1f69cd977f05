/* Word lists, clusters and counted words; the block of a model, intact and damaged. */
#include "features/helper.h"

static const char templates_text[] = "columns word pos\n"
                                     "pad\n"
                                     "node word[-1..1]\n"
                                     "node inlist(word,\"words.txt\")\n"
                                     "node inlist(word,\"words.txt\",lower)\n"
                                     "node cluster(word,\"paths.txt\",2 4)\n"
                                     "node cluster(lower(word),\"pairs.txt\")\n"
                                     "node suffix(word,2) if rare(word,1)\n"
                                     "node frequent(pos,2) & match(word,/^./)\n"
                                     "edge pos & real(length(word))\n"
                                     "step start end\n";

static void make_files(void)
{
    write_file(temporary("words.txt"), "Paris\nNew York\n\nRome  \r\nRome\n");
    write_file(temporary("paths.txt"), "0010\tcat\t12\n0010\tdog\t3\n01\tsat\t9\n1\tcat\t1\n");
    write_file(temporary("pairs.txt"), "cat\tC7\nthe\tC1");
    write_file(temporary("templates.txt"), templates_text);
}

static void remove_files(void)
{
    remove(temporary("words.txt"));
    remove(temporary("paths.txt"));
    remove(temporary("pairs.txt"));
    remove(temporary("templates.txt"));
}

static trellis_features *open_with_files(void)
{
    trellis_features *features;
    trellis_error error = {0};
    make_files();
    if (trellis_features_open(temporary("templates.txt"), &features, &error)) {
        fail_msg("%s", error.message);
    }
    remove_files();
    return features;
}

static const char rows[] = "The DT\ncat NN\nParis NN\nsat VB\nparis NN\ncat NN";

static void count(trellis_features *features, size_t times)
{
    struct tr_extractor *extractor = extractor_for(features, false);
    static struct table table;
    table_read(&table, rows);
    for (size_t i = 0; i < times; i++) {
        assert_int_equal(tr_features_count(features, extractor, &table.sequence, NULL), TRELLIS_OK);
    }
    assert_int_equal(tr_features_end_count(features, NULL), TRELLIS_OK);
    tr_extractor_destroy(extractor);
}

static void check_all(const trellis_features *features)
{
    check_features(
        features, rows, false, 0,
        "word[-1]=_B-1 ; word[0]=The ; word[1]=cat ; cluster(lower(word[0]),\"pairs.txt\")=C1"
        " ; suffix(word[0],2) if rare(word[0],1)=he");
    check_features(
        features, rows, false, 1,
        "word[-1]=The ; word[0]=cat ; word[1]=Paris ; cluster(word[0],\"paths.txt\",2)=00 ; "
        "cluster(word[0],\"paths.txt\",4)=0010 ; cluster(lower(word[0]),\"pairs.txt\")=C7 ; "
        "frequent(pos[0],2)&match(word[0],/^./)=c");
    check_features(
        features, rows, false, 2,
        "word[-1]=cat ; word[0]=Paris ; word[1]=sat ; inlist(word[0],\"words.txt\") ; "
        "inlist(word[0],\"words.txt\",lower) ; suffix(word[0],2) if rare(word[0],1)=is ; "
        "frequent(pos[0],2)&match(word[0],/^./)=P");
    check_features(
        features, rows, false, 3,
        "word[-1]=Paris ; word[0]=sat ; word[1]=paris ; cluster(word[0],\"paths.txt\",2)=01"
        " ; cluster(word[0],\"paths.txt\",4)=01 ; suffix(word[0],2) if rare(word[0],1)=at");
    check_features(
        features, rows, false, 4,
        "word[-1]=sat ; word[0]=paris ; word[1]=cat ; inlist(word[0],\"words.txt\",lower) ; "
        "suffix(word[0],2) if rare(word[0],1)=is ; "
        "frequent(pos[0],2)&match(word[0],/^./)=p");
    check_features(features, rows, true, 3, "pos[0]&real(length(word[0]))=VB:3");
}

static void test_files_and_counts(void **state)
{
    (void)state;
    trellis_features *features = open_with_files();
    assert_true(tr_features_needs_counts(features));
    count(features, 1);
    assert_false(tr_features_needs_counts(features));
    check_all(features);
    trellis_features_destroy(features);
}

/* An extractor that ran before counting ended must not keep cached results. */
/* Names of word lists of any length. */
static void test_names_of_any_length(void **state)
{
    (void)state;
    for (int size = 1; size <= 200; size++) {
        char name[201], text[400], path[500];
        memset(name, 'n', (size_t)size);
        name[size] = '\0';
        snprintf(text, sizeof text, "columns word\nnode inlist(word,\"%s\")\n", name);
        snprintf(path, sizeof path, "%s", temporary(name));
        write_file(path, "Rome\n");
        write_file(temporary("templates.txt"), text);
        trellis_features *features;
        trellis_error error = {0};
        if (trellis_features_open(temporary("templates.txt"), &features, &error)) {
            fail_msg("%d: %s", size, error.message);
        }
        remove(path);
        trellis_features_destroy(features);
        assert_int_equal(trellis_features_open(temporary("templates.txt"), &features, &error),
                         TRELLIS_TEMPLATE);
    }
    remove(temporary("templates.txt"));
}

static void test_counts_reach_old_extractors(void **state)
{
    (void)state;
    trellis_features *features = templates(
        "columns word\nnode rare(word,1)\nnode frequent(word,1)");
    struct tr_extractor *extractor = extractor_for(features, true);
    static struct table table;
    table_read(&table, "a\na\nb");
    struct tr_buffer before = {0}, after = {0};
    describe(extractor, &table.sequence, false, 0, &before);
    assert_string_equal(before.data, "rare(word[0],1)");
    tr_features_count(features, extractor, &table.sequence, NULL);
    tr_features_end_count(features, NULL);
    describe(extractor, &table.sequence, false, 0, &after);
    assert_string_equal(after.data, "frequent(word[0],1)");
    tr_buffer_free(&before);
    tr_buffer_free(&after);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

/* Templates and resources in memory compile to the same as those in files. */
static void test_given_bytes(void **state)
{
    (void)state;
    static const char words[] = "Paris\nNew York\n\nRome  \r\nRome\n",
                      paths[] = "0010\tcat\t12\n0010\tdog\t3\n01\tsat\t9\n1\tcat\t1\n",
                      pairs[] = "cat\tC7\nthe\tC1";
    trellis_resource given[] = {{"pairs.txt", pairs, strlen(pairs)},
                                {"words.txt", words, strlen(words)},
                                {"paths.txt", paths, strlen(paths)}};
    trellis_features *from_files = open_with_files(), *from_bytes;
    struct tr_buffer one = {0}, other = {0};
    trellis_error error = {0};
    trellis_status status = trellis_features_parse(tr_text(templates_text),
                                                   temporary("templates.txt"), given,
                                                   TR_COUNT(given), &from_bytes, &error);
    assert_int_equal(status, TRELLIS_OK);
    assert_int_equal(tr_features_write(from_files, &one, NULL), TRELLIS_OK);
    assert_int_equal(tr_features_write(from_bytes, &other, NULL), TRELLIS_OK);
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.data, other.data, one.size);
    trellis_features_destroy(from_files);
    trellis_features_destroy(from_bytes);

    status = trellis_features_parse(tr_text(templates_text), NULL, given, 2, &from_bytes, &error);
    assert_int_equal(status, TRELLIS_TEMPLATE);
    assert_null(from_bytes);
    assert_string_equal(error.message, "templates:6:19: 'paths.txt' is not among the resources "
                                       "given");
    given[2] = (trellis_resource){"paths.txt", "cat", 3};
    status = trellis_features_parse(tr_text(templates_text), NULL, given, 3, &from_bytes, &error);
    assert_int_equal(status, TRELLIS_TEMPLATE);
    assert_non_null(strstr(error.message, "paths.txt:1: expected path<TAB>word<TAB>count"));
    tr_buffer_free(&one);
    tr_buffer_free(&other);
}

/* During training, rare words count as unknown. */
static void test_unknown_words(void **state)
{
    (void)state;
    trellis_features *features = templates(
        "columns word\nnode word\nnode suffix(word,1) if unknown(word,1)\nnode rare(word,1)");
    struct tr_extractor *extractor = extractor_for(features, true);
    static struct table table, other;
    table_read(&table, "a\na\nb");
    table_read(&other, "c");
    assert_true(tr_features_has_unknown(features));
    tr_features_count(features, extractor, &table.sequence, NULL);
    tr_features_end_count(features, NULL);
    struct tr_buffer rare = {0}, known = {0}, unknown = {0};
    describe(extractor, &table.sequence, false, 2, &rare);
    assert_string_equal(rare.data,
                        "word[0]=b ; suffix(word[0],1) if unknown(word[0],1)=b ; rare(word[0],1)");
    assert_int_equal(tr_features_end_training(features, NULL), TRELLIS_OK);
    describe(extractor, &table.sequence, false, 2, &known);
    assert_string_equal(known.data, "word[0]=b ; rare(word[0],1)");
    describe(extractor, &other.sequence, false, 0, &unknown);
    assert_string_equal(unknown.data,
                        "word[0]=c ; suffix(word[0],1) if unknown(word[0],1)=c ; rare(word[0],1)");
    assert_false(tr_features_for_unknown(features, 0));
    assert_true(tr_features_for_unknown(features, 1));
    assert_false(tr_features_for_unknown(features, 2));
    tr_buffer_free(&rare);
    tr_buffer_free(&known);
    tr_buffer_free(&unknown);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_no_counts_needed(void **state)
{
    (void)state;
    trellis_features *features = templates("columns word\nnode word");
    assert_false(tr_features_needs_counts(features));
    count(features, 1);
    trellis_features_destroy(features);
}

static void test_many_counts(void **state)
{
    (void)state;
    struct tr_counter counter = {0};
    for (uint64_t i = 0; i < 20000; i++) {
        assert_true(tr_counter_add(&counter, i % 5000 * 0x9E3779B97F4A7C15u + 1));
    }
    assert_int_equal(counter.used, 5000);
    for (size_t i = 0; i < counter.slots; i++) {
        assert_true(!counter.values[i] || counter.counts[i] == 4);
    }
    tr_counter_free(&counter);
}

static void test_bad_clusters(void **state)
{
    (void)state;
    make_files();
    write_file(temporary("paths.txt"), "0010\tcat\t12\nnothing\n");
    trellis_features *features;
    trellis_error error = {0};
    assert_int_equal(trellis_features_open(temporary("templates.txt"), &features, &error),
                     TRELLIS_TEMPLATE);
    assert_int_equal(error.line, 6);
    assert_int_equal(error.column, 19);
    assert_non_null(strstr(error.message, "paths.txt:2: expected path<TAB>word"));
    remove_files();
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool same_keys(const trellis_features *a, const trellis_features *b)
{
    static struct table table;
    table_read(&table, rows);
    struct tr_extractor *x = extractor_for(a, true), *y = extractor_for(b, true);
    const struct tr_observation *one = run(x, &table.sequence), *two = run(y, &table.sequence);
    size_t n = table.sequence.length;
    bool same = memcmp(one->node.begin, two->node.begin, (n + 1) * sizeof(size_t)) == 0 &&
                memcmp(one->node.low, two->node.low, one->node.begin[n] * 8) == 0 &&
                memcmp(one->node.high, two->node.high, one->node.begin[n] * 8) == 0 &&
                memcmp(one->edge.begin, two->edge.begin, (n + 1) * sizeof(size_t)) == 0 &&
                memcmp(one->edge.low, two->edge.low, one->edge.begin[n] * 8) == 0;
    tr_extractor_destroy(x);
    tr_extractor_destroy(y);
    return same;
}

static void test_round_trip(void **state)
{
    (void)state;
    trellis_features *features = open_with_files(), *again = NULL;
    count(features, 1);
    struct tr_buffer block = {0}, second = {0};
    assert_int_equal(tr_features_write(features, &block, NULL), TRELLIS_OK);
    /* From every alignment, and with the files gone. */
    for (size_t shift = 0; shift < 8; shift++) {
        char *copy = malloc(block.size + shift);
        memcpy(copy + shift, block.data, block.size);
        trellis_error error = {0};
        if (tr_features_read(copy + shift, block.size, &again, &error)) {
            fail_msg("%s", error.message);
        }
        assert_false(tr_features_needs_counts(again));
        assert_string_equal(tr_features_name(again), tr_features_name(features));
        assert_true(tr_text_equal(tr_features_source(again), tr_features_source(features)));
        check_all(again);
        assert_true(same_keys(features, again));
        second.size = 0;
        assert_int_equal(tr_features_write(again, &second, NULL), TRELLIS_OK);
        assert_int_equal(second.size, block.size);
        assert_memory_equal(second.data, block.data, block.size);
        trellis_features_destroy(again);
        free(copy);
    }
    tr_buffer_free(&block);
    tr_buffer_free(&second);
    trellis_features_destroy(features);
}

/* Reads a block that may be damaged and, if it is accepted, uses it. The bytes are in a malloc'ed
 * copy of exactly their size, so that the address sanitizer detects a read beyond them. */
static void use_block(const char *data, size_t size)
{
    char *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    trellis_features *features;
    trellis_error error = {0};
    if (tr_features_read(copy, size, &features, &error)) {
        assert_null(features);
        assert_true(error.status == TRELLIS_MODEL);
    } else {
        struct tr_extractor *extractor = extractor_for(features, true);
        static struct table table;
        table_read(&table, rows);
        const struct tr_observation *seen;
        if (!tr_extractor_run(extractor, &table.sequence, &seen, &error)) {
            struct tr_buffer buffer = {0};
            for (size_t i = 0; i < seen->length; i++) {
                for (size_t k = seen->node.begin[i]; k < seen->node.begin[i + 1]; k++) {
                    tr_extractor_text(extractor, &table.sequence, false, i, k, &buffer);
                }
            }
            tr_buffer_free(&buffer);
        }
        tr_extractor_destroy(extractor);
        trellis_features_destroy(features);
    }
    free(copy);
}

static void test_damaged_blocks(void **state)
{
    (void)state;
    trellis_features *features = open_with_files();
    count(features, 1);
    struct tr_buffer block = {0};
    assert_int_equal(tr_features_write(features, &block, NULL), TRELLIS_OK);
    trellis_features_destroy(features);
    for (size_t size = 0; size < block.size; size++) {
        trellis_features *cut;
        assert_int_equal(tr_features_read(block.data, size, &cut, NULL), TRELLIS_MODEL);
        use_block(block.data, size);
    }
    static const unsigned char flips[] = {0x01, 0x10, 0x80, 0xFF};
    for (size_t i = 0; i < block.size; i++) {
        for (size_t k = 0; k < TR_COUNT(flips); k++) {
            block.data[i] = (char)(block.data[i] ^ flips[k]);
            use_block(block.data, block.size);
            block.data[i] = (char)(block.data[i] ^ flips[k]);
        }
    }
    tr_buffer_char(&block, 0);
    use_block(block.data, block.size);
    tr_buffer_free(&block);
}

/* A cluster table with offsets out of range. */
static void test_hostile_tables(void **state)
{
    (void)state;
    uint64_t hash = tr_hash(TR_TEXT("cat")).low;
    static const uint64_t counts[] = {0, 1, 2, 1000, UINT64_MAX / 12, UINT64_MAX / 4, UINT64_MAX};
    /* Words have 12 bytes and paths 4, behind two counts. */
    for (size_t i = 0; i < TR_COUNT(counts); i++) {
        for (size_t j = 0; j < TR_COUNT(counts); j++) {
            bool few = counts[i] <= 1000 && counts[j] <= 1000;
            for (size_t round = 0; round < 2 * 41; round++) {
                size_t size = round / 2;
                uint64_t first = round % 2 ? 0 : counts[j]; // of the paths, of the first word
                char *bytes = tr_alloc(size, 1);
                uint64_t numbers[5] = {counts[i], counts[j], hash, first, counts[i]};
                memcpy(bytes, numbers, size);
                trellis_text path = {0};
                if (tr_table_path((trellis_text){bytes, size}, hash, &path)) {
                    assert_true(path.data >= bytes && path.data + path.size <= bytes + size);
                    assert_true(few && 16 + 12 * counts[i] + 4 * counts[j] <= size);
                }
                tr_table_has((trellis_text){bytes, size}, hash);
                free(bytes);
            }
        }
    }
}

static void test_missing_table(void **state)
{
    (void)state;
    trellis_features *features = open_with_files(), *again;
    features->resources.at[0].name[0] = 'W'; // the templates ask for words.txt
    struct tr_buffer block = {0};
    trellis_error error = {0};
    assert_int_equal(tr_features_write(features, &block, NULL), TRELLIS_OK);
    assert_int_equal(tr_features_read(block.data, block.size, &again, &error), TRELLIS_MODEL);
    assert_non_null(strstr(error.message, "words.txt"));
    tr_buffer_free(&block);
    trellis_features_destroy(features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_and_counts),
        cmocka_unit_test(test_names_of_any_length),
        cmocka_unit_test(test_counts_reach_old_extractors),
        cmocka_unit_test(test_given_bytes),
        cmocka_unit_test(test_unknown_words),
        cmocka_unit_test(test_no_counts_needed),
        cmocka_unit_test(test_many_counts),
        cmocka_unit_test(test_bad_clusters),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_damaged_blocks),
        cmocka_unit_test(test_hostile_tables),
        cmocka_unit_test(test_missing_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
