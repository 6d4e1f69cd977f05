/* test_dataset.c - corpora read with templates, and the layout of their features. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>

#include "base/random.h"
#include "dataset/dataset.h"
#include "support/temporary.h"

/* A corpus, what it taught, and how it is read. */
struct world {
    trellis_options *options;
    trellis_features *features;
    struct tr_dataset_settings source;
    struct tr_vocabulary vocabulary;
    struct tr_dataset data;
};

/* With `templates` NULL the corpora have ready-made attributes, in CRFsuite's format. */
static struct world make_world(const char *templates)
{
    struct world world = {0};
    trellis_error error = {0};
    trellis_status status = trellis_options_create(&world.options, &error);
    if (templates) {
        char *path = temporary_file(templates);
        status = status ? status : trellis_features_open(path, &world.features, &error);
        temporary_drop(path);
    } else {
        status = status ? status : tr_features_none(&world.features, &error);
        status = status ? status : trellis_options_set(world.options, "format", "crfsuite", &error);
    }
    if (status) {
        fail_msg("%s", error.message);
    }
    world.source = (struct tr_dataset_settings){.options = world.options,
                                                .features = world.features,
                                                .from = TRELLIS_NO_SCHEME,
                                                .to = TRELLIS_NO_SCHEME};
    return world;
}

static void drop_world(struct world *world)
{
    tr_dataset_free(&world->data);
    tr_vocabulary_free(&world->vocabulary);
    trellis_features_destroy(world->features);
    trellis_options_destroy(world->options);
}

static trellis_status try_read(struct world *world, const struct tr_dataset *training,
                               struct tr_dataset *data, const char *text, trellis_error *error)
{
    char *path = temporary_file(text);
    trellis_status status = tr_dataset_read(
        data, &world->vocabulary, training, &world->source,
        &(trellis_source){.struct_size = sizeof(trellis_source), .path = path}, error);
    temporary_drop(path);
    return status;
}

static void read_text(struct world *world, const char *text)
{
    trellis_error error = {0};
    if (try_read(world, NULL, &world->data, text, &error)) {
        fail_msg("%s", error.message);
    }
}

static void arrange(struct world *world, uint32_t min_count, bool all_features)
{
    struct tr_arrangement arrangement = {.min_count = min_count, .all_features = all_features};
    trellis_error error = {0};
    if (tr_dataset_arrange(&world->data, &world->vocabulary, &arrangement, &error)) {
        fail_msg("%s", error.message);
    }
}

static void expect_text(trellis_text text, const char *expected)
{
    if (!tr_text_is(text, expected)) {
        fail_msg("'%.*s' instead of '%s'", TR_SHOW(text), expected);
    }
}

/* Labels as "B I O", attributes as "word[0]=the pos[0]=D ...", both by number. */
static void expect_labels(const struct tr_dataset *data, const char *expected)
{
    struct tr_buffer shown = {0};
    for (uint32_t i = 0; i < tr_intern_count(&data->labels); i++) {
        tr_buffer_string(&shown, i ? " " : "");
        tr_buffer_text(&shown, tr_intern_text(&data->labels, i));
    }
    expect_text((trellis_text){shown.data, shown.size}, expected);
    tr_buffer_free(&shown);
}

static void expect_attributes(const struct tr_attributes *attributes, const char *expected)
{
    struct tr_buffer shown = {0};
    for (uint32_t i = 0; i < attributes->index.entries.size; i++) {
        tr_buffer_string(&shown, i ? " " : "");
        tr_buffer_text(&shown, tr_attribute_index_text(&attributes->index, i));
    }
    expect_text((trellis_text){shown.data, shown.size}, expected);
    tr_buffer_free(&shown);
}

/* The occurrences of all tokens, "0 1|2:0.5|..." by number, with values other than 1. */
static void expect_occurrences(const struct tr_occurrences *occurrences, size_t tokens,
                               const char *expected)
{
    struct tr_buffer shown = {0};
    assert_int_equal(occurrences->begin.size, tokens + 1);
    assert_int_equal(occurrences->begin.at[0], 0);
    assert_int_equal(occurrences->begin.at[tokens], occurrences->attribute.size);
    assert_true(occurrences->value.size == 0 ||
                occurrences->value.size == occurrences->attribute.size);
    for (size_t t = 0; t < tokens; t++) {
        tr_buffer_string(&shown, t ? "|" : "");
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            tr_buffer_string(&shown, k > occurrences->begin.at[t] ? " " : "");
            tr_buffer_format(&shown, "%u", occurrences->attribute.at[k]);
            if (occurrences->value.size && occurrences->value.at[k] != 1) {
                tr_buffer_format(&shown, ":%g", (double)occurrences->value.at[k]);
            }
        }
    }
    expect_text((trellis_text){shown.data, shown.size}, expected);
    tr_buffer_free(&shown);
}

/* The features as "0,1 2 ...": the outcomes of each attribute. */
static void expect_features(const struct tr_rows *rows, const char *expected)
{
    struct tr_buffer shown = {0};
    for (uint32_t a = 0; a < rows->attributes; a++) {
        tr_buffer_string(&shown, a ? " " : "");
        for (uint64_t i = rows->begin[a]; i < rows->begin[a + 1]; i++) {
            tr_buffer_format(&shown, "%s%u", i > rows->begin[a] ? "," : "", rows->outcome[i]);
        }
    }
    expect_text((trellis_text){shown.data, shown.size}, expected);
    tr_buffer_free(&shown);
}

static void expect_gold(const struct tr_dataset *data, const char *digits)
{
    assert_int_equal(data->tokens, strlen(digits));
    assert_int_equal(data->gold.size, data->tokens);
    for (size_t i = 0; i < data->tokens; i++) {
        assert_int_equal(data->gold.at[i], digits[i] - '0');
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

#define TEMPLATES "columns word pos\nnode word\nnode pos\nedge pos\nstep start end\n"
#define ANIMALS                                                                                    \
    "the D B\n"                                                                                    \
    "cat N I\n"                                                                                    \
    "sat V O\n"                                                                                    \
    "\n"                                                                                           \
    "the D B\n"                                                                                    \
    "dog N I\n"

static void reads_columns(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES);
    read_text(&world, ANIMALS);
    const struct tr_dataset *data = &world.data;
    assert_int_equal(data->sequences, 2);
    assert_int_equal(data->label_count, 3);
    expect_labels(data, "B I O");
    expect_gold(data, "01201");
    assert_int_equal(data->sequence.size, 3);
    assert_int_equal(data->sequence.at[0], 0);
    assert_int_equal(data->sequence.at[1], 3);
    assert_int_equal(data->sequence.at[2], 5);
    assert_int_equal(data->weight.size, 0);
    expect_attributes(&world.vocabulary.node,
                      "word[0]=the pos[0]=D word[0]=cat pos[0]=N word[0]=sat pos[0]=V word[0]=dog");
    expect_attributes(&world.vocabulary.edge, "pos[0]=N pos[0]=V");
    expect_occurrences(&data->node, 5, "0 1|2 3|4 5|0 1|6 3");
    expect_occurrences(&data->edge, 5, "|0|1||0"); // no transition into a first token
    assert_int_equal(data->node.value.size, 0);
    assert_int_equal(world.vocabulary.node.index.entries.at[0].count, 2);
    assert_int_equal(world.vocabulary.node.index.entries.at[6].count, 1);
    drop_world(&world);
}

static void expect_bytes(const char *what, size_t found, const void *const *blocks, size_t count)
{
    size_t held = 0;
    for (size_t i = 0; i < count; i++) {
        held += malloc_usable_size((void *)(uintptr_t)blocks[i]);
    }
    if (found > held || found + held / 90 < held) {
        fail_msg("%s: %zu bytes, but its blocks have %zu", what, found, held);
    }
}

/* The sizes that --memory is compared with, by what malloc() says of every block. */
static void counts_its_bytes(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES);
    struct tr_buffer text = {0};
    for (int i = 0; i < 5000; i++) {
        tr_buffer_format(&text, "w%d P%d L%d\n%s", i, i % 7, i % 5, i % 10 == 9 ? "\n" : "");
    }
    tr_buffer_char(&text, 0);
    read_text(&world, text.data);
    tr_buffer_free(&text);
    const struct tr_dataset *data = &world.data;
    const struct tr_occurrences *node = &data->node, *edge = &data->edge;
    const void *const of_data[] = {node->begin.at,     node->attribute.at,     edge->begin.at,
                                   edge->attribute.at, data->segment.begin.at, data->sequence.at,
                                   data->gold.at,      data->entry.at};
    expect_bytes("dataset", tr_dataset_bytes(data), of_data, TR_COUNT(of_data));
    const struct tr_attribute_index *words = &world.vocabulary.node.index;
    const struct tr_attribute_index *tags = &world.vocabulary.edge.index;
    const void *const of_vocabulary[] = {words->entries.at, words->bytes.at,  words->high.at,
                                         words->slots,      tags->entries.at, tags->bytes.at,
                                         tags->high.at,     tags->slots};
    expect_bytes("vocabulary", tr_vocabulary_bytes(&world.vocabulary), of_vocabulary,
                 TR_COUNT(of_vocabulary));
    arrange(&world, 1, false);
    size_t without_rows = 0, with_rows = tr_vocabulary_bytes(&world.vocabulary);
    struct tr_rows *rows = world.vocabulary.node.rows;
    world.vocabulary.node.rows = NULL;
    without_rows = tr_vocabulary_bytes(&world.vocabulary);
    world.vocabulary.node.rows = rows;
    const void *const of_rows[] = {rows->begin, rows->outcome, rows->mask, rows->shared_with};
    expect_bytes("rows", with_rows - without_rows, of_rows, TR_COUNT(of_rows));
    drop_world(&world);
}

static void several_files_are_one_corpus(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES), whole = make_world(TEMPLATES);
    read_text(&world, "the D B\ncat N I\nsat V O\n");
    read_text(&world, "");
    read_text(&world, "the D B\ndog N I\n");
    read_text(&whole, ANIMALS);
    assert_int_equal(world.data.sequences, 2);
    expect_labels(&world.data, "B I O");
    expect_gold(&world.data, "01201");
    expect_occurrences(&world.data.node, 5, "0 1|2 3|4 5|0 1|6 3");
    expect_occurrences(&world.data.edge, 5, "|0|1||0");
    assert_true(world.data.fingerprint == whole.data.fingerprint);
    drop_world(&whole);
    drop_world(&world);
}

static uint64_t fingerprint_of(const char *text)
{
    struct world world = make_world(TEMPLATES);
    read_text(&world, text);
    uint64_t fingerprint = world.data.fingerprint;
    drop_world(&world);
    return fingerprint;
}

static void fingerprints_tell_corpora_apart(void **state)
{
    (void)state;
    uint64_t first = fingerprint_of(ANIMALS);
    assert_true(first == fingerprint_of(ANIMALS));
    assert_true(first != fingerprint_of("the D B\ncat N I\nsat V I\n\nthe D B\ndog N I\n"));
    assert_true(first != fingerprint_of("the D B\ncat N I\nsit V O\n\nthe D B\ndog N I\n"));
    assert_true(first != fingerprint_of("the D B\ndog N I\n\nthe D B\ncat N I\nsat V O\n"));
    assert_true(first != fingerprint_of("the D B\n"));
}

static void reads_real_values(void **state)
{
    (void)state;
    struct world world = make_world(NULL);
    read_text(&world, "A\tf\tg:1\n"
                      "B\tf:2\th:-0.5\n"
                      "\n"
                      "A\tg:0\tf\tf:3\n"
                      "A\n");
    expect_labels(&world.data, "A B");
    expect_gold(&world.data, "0100");
    expect_attributes(&world.vocabulary.node, "f g h");
    expect_occurrences(&world.data.node, 4, "0 1|0:2 2:-0.5|1:0 0 0:3|");
    expect_occurrences(&world.data.edge, 4, "|||");
    drop_world(&world);
}

/* The very first value, and none but the last, differ from 1. */
static void values_are_stored_when_needed(void **state)
{
    (void)state;
    struct world first = make_world(NULL), last = make_world(NULL);
    read_text(&first, "A\tf:2\tg\nA\tg\n");
    expect_occurrences(&first.data.node, 2, "0:2 1|1");
    assert_int_equal(first.data.node.value.size, 3);
    read_text(&last, "A\tf\tg\nA\tg\n");
    assert_int_equal(last.data.node.value.size, 0);
    read_text(&last, "A\tf\tg:7\n");
    expect_occurrences(&last.data.node, 3, "0 1|1|0 1:7");
    assert_int_equal(last.data.node.value.size, 5);
    drop_world(&last);
    drop_world(&first);
}

static void reads_weights_of_sequences(void **state)
{
    (void)state;
    struct world world = make_world(NULL);
    read_text(&world, "A\tf\n");
    assert_int_equal(world.data.weight.size, 0);
    read_text(&world, "A\tf\n\n@weight:2.5\tA\tf\n\nA\tf\n\n@weight:0\nB\tf\n");
    static const float expected[] = {1, 1, 2.5f, 1, 0};
    assert_int_equal(world.data.sequences, 5);
    assert_int_equal(world.data.weight.size, 5);
    assert_memory_equal(world.data.weight.at, expected, sizeof expected);
    drop_world(&world);
}

static void converts_label_schemes(void **state)
{
    (void)state;
    struct world world = make_world("columns word\nnode word\n");
    world.source.from = TRELLIS_IOB2;
    world.source.to = TRELLIS_IOBES;
    read_text(&world, "a B-X\nb I-X\nc B-X\nd O\n");
    expect_labels(&world.data, "B-X E-X S-X O");
    expect_gold(&world.data, "0123");
    drop_world(&world);
}

/* A dev corpus: unknown labels get numbers beyond the training's, unknown attributes are left
 * out. */
static void reads_a_dev_corpus(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES);
    read_text(&world, ANIMALS);
    arrange(&world, 1, false);
    struct tr_dataset dev = {0};
    trellis_error error = {0};
    assert_int_equal(try_read(&world, &world.data, &dev,
                              "a D X\ncat N B\nthe D I\n\nran V Y\nfar X Y\n", &error),
                     TRELLIS_OK);
    expect_labels(&dev, "B I O X Y");
    assert_int_equal(dev.label_count, 3);
    expect_gold(&dev, "30144");
    assert_int_equal(dev.sequences, 2);
    /* Arranged: all have one outcome, so frequent attributes come first: the D N, cat sat V dog. */
    expect_attributes(&world.vocabulary.node,
                      "word[0]=the pos[0]=D pos[0]=N word[0]=cat word[0]=sat pos[0]=V word[0]=dog");
    expect_occurrences(&dev.node, 5, "1|2 3|0 1|5|"); // sorted, as the kernels want it
    expect_occurrences(&dev.edge, 5, "|0|||");
    assert_int_equal(world.vocabulary.node.index.entries.size, 7);
    assert_int_equal(world.vocabulary.node.index.entries.at[3].count, 1); // not counted here
    expect_labels(&world.data, "B I O");
    tr_dataset_free(&dev);
    drop_world(&world);
}

static void expect_failure(struct world *world, const char *text, trellis_status status,
                           uint64_t line, const char *part)
{
    struct tr_dataset data = {0};
    trellis_error error = {0};
    assert_int_equal(try_read(world, NULL, &data, text, &error), status);
    assert_int_equal(error.status, status);
    if (error.line != line || !strstr(error.message, part)) {
        fail_msg("'%s' (line %d) instead of '%s' (line %d)", error.message, (int)error.line, part,
                 (int)line);
    }
    tr_dataset_free(&data);
}

static void reports_errors(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES), ready = make_world(NULL);
    expect_failure(&world, "the D B\n\nthe B\n", TRELLIS_FORMAT, 3, "");
    assert_int_equal(trellis_options_set(world.options, "label", "none", NULL), TRELLIS_OK);
    expect_failure(&world, "\nthe D B\n", TRELLIS_DATA, 2, "no label column");
    expect_failure(&ready, "A\tf:x\n", TRELLIS_FORMAT, 1, "");
    expect_failure(&ready, "A\tf\n\n@weight:-1\tA\tf\n", TRELLIS_FORMAT, 3, "");
    trellis_error error = {0};
    struct tr_dataset data = {0};
    assert_int_equal(tr_dataset_read(&data, &world.vocabulary, NULL, &world.source,
                                     &(trellis_source){.struct_size = sizeof(trellis_source),
                                                       .path = "/no/such/corpus"},
                                     &error),
                     TRELLIS_IO);
    assert_non_null(strstr(error.message, "/no/such/corpus"));
    tr_dataset_free(&data);
    drop_world(&ready);
    drop_world(&world);
}

/* A value that is finite as a double but not as a float. */
static void refuses_values_too_large(void **state)
{
    (void)state;
    struct world ready = make_world(NULL);
    struct tr_dataset data = {0};
    trellis_error error = {0};
    assert_int_not_equal(try_read(&ready, NULL, &data, "A\tf:1e300\n", &error), TRELLIS_OK);
    assert_true(error.message[0] != '\0');
    tr_dataset_free(&data);
    drop_world(&ready);
}

static void refuses_too_many_labels(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    struct world world = make_world(NULL);
    for (uint32_t i = 0; i < TR_MAX_LABELS; i++) {
        tr_buffer_format(&text, "L%u\tf\n%s", i, i % 100 == 99 ? "\n" : "");
    }
    tr_buffer_char(&text, '\0');
    read_text(&world, text.data); // exactly the maximum
    assert_int_equal(world.data.label_count, TR_MAX_LABELS);
    trellis_error error = {0};
    assert_int_equal(try_read(&world, NULL, &world.data, "one\tf\n", &error), TRELLIS_LIMIT);
    assert_non_null(strstr(error.message, "60000 different labels"));
    tr_buffer_free(&text);
    drop_world(&world);
}

static bool count_calls(void *user, uint64_t tokens)
{
    uint64_t *last = user;
    assert_true(tokens > *last);
    *last = tokens;
    return tokens < 1000;
}

static void progress_can_stop_the_reading(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    for (int i = 0; i < 3000; i++) {
        tr_buffer_string(&text, "A\tf\n\n");
    }
    tr_buffer_char(&text, '\0');
    struct world world = make_world(NULL);
    uint64_t last = 0;
    world.source.progress = count_calls;
    world.source.user = &last;
    trellis_error error = {0};
    assert_int_equal(try_read(&world, NULL, &world.data, text.data, &error), TRELLIS_INTERRUPTED);
    assert_true(last >= 1000 && last < 3000);
    tr_buffer_free(&text);
    drop_world(&world);
}

/* ---- arranging, by hand ---------------------------------------------------------------------- */

static void pairs_seen_together_become_features(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES);
    read_text(&world, ANIMALS);
    arrange(&world, 1, false);
    const struct tr_rows *node = world.vocabulary.node.rows, *edge = world.vocabulary.edge.rows;
    expect_attributes(&world.vocabulary.node,
                      "word[0]=the pos[0]=D pos[0]=N word[0]=cat word[0]=sat pos[0]=V word[0]=dog");
    expect_features(node, "0 0 1 1 2 2 1");
    assert_int_equal(node->outcomes, 3);
    assert_int_equal(node->dense, 0);
    assert_int_equal(tr_rows_pairs(node), 7);
    assert_int_equal(node->size, 7);
    expect_occurrences(&world.data.node, 5, "0 1|2 3|4 5|0 1|2 6");
    /* Label pairs are from * 8 + to: B I is 1, I O is 10. */
    expect_attributes(&world.vocabulary.edge, "pos[0]=N pos[0]=V");
    expect_features(edge, "1 10");
    assert_int_equal(edge->outcomes, 2 * 8 + 3);
    expect_occurrences(&world.data.edge, 5, "|0|1||0");
    drop_world(&world);
}

static void rare_attributes_are_left_out(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES);
    read_text(&world, ANIMALS);
    arrange(&world, 2, false);
    expect_attributes(&world.vocabulary.node, "word[0]=the pos[0]=D pos[0]=N");
    expect_features(world.vocabulary.node.rows, "0 0 1");
    expect_occurrences(&world.data.node, 5, "0 1|2||0 1|2");
    expect_attributes(&world.vocabulary.edge, "pos[0]=N");
    expect_occurrences(&world.data.edge, 5, "|0|||0");
    drop_world(&world);

    world = make_world(TEMPLATES);
    read_text(&world, ANIMALS);
    arrange(&world, 3, false); // all of them
    assert_int_equal(world.vocabulary.node.index.entries.size, 0);
    assert_int_equal(tr_rows_pairs(world.vocabulary.node.rows), 0);
    assert_int_equal(world.vocabulary.node.rows->size, 0);
    expect_occurrences(&world.data.node, 5, "||||");
    drop_world(&world);
}

/* a has 1.5 with x and 0.5 with y, b has 1 with each, c has -3 with x. */
static void rare_features_are_left_out(void **state)
{
    (void)state;
    static const char text[] = "x\ta:0.75\tb\nx\ta:0.75\tc:-3\ny\ta:0.5\tb\n\n";
    static const struct {
        double minimum;
        const char *attributes, *features;
    } cases[] = {{0, "a b c", "0,1 0,1 0"}, {0.6, "a b", "0 0,1"}, {1.2, "a", "0"}, {2, "", ""}};
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        struct world world = make_world(NULL);
        read_text(&world, text);
        struct tr_arrangement arrangement = {.min_count = 1, .min_feature_count = cases[i].minimum};
        trellis_error error = {0};
        assert_int_equal(tr_dataset_arrange(&world.data, &world.vocabulary, &arrangement, &error),
                         TRELLIS_OK);
        expect_attributes(&world.vocabulary.node, cases[i].attributes);
        expect_features(world.vocabulary.node.rows, cases[i].features);
        drop_world(&world);
    }
}

static void all_pairs_can_become_features(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES);
    read_text(&world, ANIMALS);
    arrange(&world, 2, true);
    expect_features(world.vocabulary.node.rows, "0,1,2 0,1,2 0,1,2");
    expect_features(world.vocabulary.edge.rows, "0,1,2,8,9,10,16,17,18");
    assert_int_equal(world.vocabulary.edge.rows->dense, 1); // nine pairs of nineteen
    assert_int_equal(world.vocabulary.edge.rows->size, 24);
    drop_world(&world);
}

/* x is seen with five labels, y more often but with one, z as often as y. */
static void dense_rows_come_first(void **state)
{
    (void)state;
    struct world world = make_world(NULL);
    read_text(&world, "a\ty\tz\na\ty\tz\na\ty\tz\na\ty\tz\na\ty\tz\tw\na\ty\tz\n"
                      "a\tx\nb\tx\nc\tx\nd\tx\ne\tv\tx\n");
    expect_attributes(&world.vocabulary.node, "y z w x v");
    arrange(&world, 1, false);
    expect_attributes(&world.vocabulary.node, "x y z w v");
    expect_features(world.vocabulary.node.rows, "0,1,2,3,4 0 0 0 4"); // e is seen once with x
    assert_int_equal(world.vocabulary.node.rows->dense, 1);
    assert_int_equal(world.vocabulary.node.rows->size, 8 + 4);
    expect_occurrences(&world.data.node, 11, "1 2|1 2|1 2|1 2|1 2 3|1 2|0|0|0|0|0 4");
    drop_world(&world);
}

static void values_are_rearranged_too(void **state)
{
    (void)state;
    struct world world = make_world(NULL);
    read_text(&world, "A\tf:5\tg:2\th\nA\tg:3\th:4\nA\th:6\tg:7\tk:8\nA\th\n");
    arrange(&world, 2, false); // h four times, g three times; f and k once
    expect_attributes(&world.vocabulary.node, "h g");
    expect_occurrences(&world.data.node, 4, "0 1:2|0:4 1:3|0:6 1:7|0");
    drop_world(&world);
}

static void an_empty_corpus_can_be_arranged(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES);
    read_text(&world, "\n\n");
    assert_int_equal(world.data.sequences, 0);
    arrange(&world, 1, false);
    assert_int_equal(tr_rows_pairs(world.vocabulary.node.rows), 0);
    drop_world(&world);
}

/* Without edge templates the maximum number of labels needs no memory for billions of pairs. */
static void many_labels_can_be_arranged(void **state)
{
    (void)state;
    struct tr_buffer text = {0};
    for (uint32_t i = 0; i < TR_MAX_LABELS; i++) {
        tr_buffer_format(&text, "L%u\tf\tg%u\n%s", i, i % 7, i % 100 == 99 ? "\n" : "");
    }
    tr_buffer_char(&text, '\0');
    struct world world = make_world(NULL);
    read_text(&world, text.data);
    arrange(&world, 1, false);
    assert_int_equal(tr_rows_pairs(world.vocabulary.node.rows), 2 * TR_MAX_LABELS);
    assert_int_equal(world.vocabulary.node.rows->dense, 8);
    tr_buffer_free(&text);
    drop_world(&world);
}

/* ---- arranging random corpora ---------------------------------------------------------------- */

/* One occurrence, by the text of its attribute. */
struct seen {
    uint32_t token, text;
    float value;
};

/* What a corpus held before it was arranged. */
struct snapshot {
    struct tr_intern texts; // numbered as the attributes were
    TR_ARRAY(struct seen) seen;
    TR_ARRAY(uint32_t) count; // [texts] how often it occurs
    bool *pair;               // [texts][outcomes] seen together
    uint32_t outcomes;
};

static int by_all(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->token != y->token) {
        return x->token < y->token ? -1 : 1;
    }
    if (x->text != y->text) {
        return x->text < y->text ? -1 : 1;
    }
    return (x->value > y->value) - (x->value < y->value);
}

static uint32_t outcome_at(const struct tr_dataset *data, bool edge, size_t t)
{
    uint32_t width = tr_row_width(data->label_count);
    return edge ? data->gold.at[t - 1] * width + data->gold.at[t] : data->gold.at[t];
}

static void take_seen(struct snapshot *snapshot, const struct tr_dataset *data, bool edge,
                      const struct tr_attribute_index *dictionary)
{
    const struct tr_occurrences *occurrences = edge ? &data->edge : &data->node;
    snapshot->seen.size = 0;
    for (uint32_t t = 0; t < data->tokens; t++) {
        for (uint32_t k = occurrences->begin.at[t]; k < occurrences->begin.at[t + 1]; k++) {
            trellis_text text = tr_attribute_index_text(dictionary, occurrences->attribute.at[k]);
            uint32_t number = tr_intern_add(&snapshot->texts, text);
            float value = occurrences->value.size ? occurrences->value.at[k] : 1;
            assert_true(tr_push(&snapshot->seen, (struct seen){t, number, value}));
        }
    }
    if (snapshot->seen.size) {
        qsort(snapshot->seen.at, snapshot->seen.size, sizeof(struct seen), by_all);
    }
}

static struct snapshot take_snapshot(const struct world *world, bool edge, bool all_features)
{
    const struct tr_dataset *data = &world->data;
    const struct tr_attribute_index *dictionary = edge ? &world->vocabulary.edge.index
                                                       : &world->vocabulary.node.index;
    struct snapshot snapshot = {.outcomes = data->label_count * tr_row_width(data->label_count)};
    for (uint32_t i = 0; i < dictionary->entries.size; i++) {
        assert_int_equal(tr_intern_add(&snapshot.texts, tr_attribute_index_text(dictionary, i)), i);
        assert_true(tr_push(&snapshot.count, 0));
    }
    take_seen(&snapshot, data, edge, dictionary);
    snapshot.pair = tr_alloc(dictionary->entries.size * snapshot.outcomes, sizeof(bool));
    for (size_t i = 0; i < snapshot.seen.size; i++) {
        struct seen seen = snapshot.seen.at[i];
        snapshot.count.at[seen.text]++;
        snapshot.pair[seen.text * snapshot.outcomes + outcome_at(data, edge, seen.token)] = true;
    }
    for (size_t i = 0; all_features && i < dictionary->entries.size * snapshot.outcomes; i++) {
        uint32_t outcome = (uint32_t)(i % snapshot.outcomes),
                 width = tr_row_width(data->label_count);
        snapshot.pair[i] = edge ? outcome % width < data->label_count : outcome < data->label_count;
    }
    return snapshot;
}

static void drop_snapshot(struct snapshot *snapshot)
{
    tr_intern_free(&snapshot->texts);
    free(snapshot->seen.at);
    free(snapshot->count.at);
    free(snapshot->pair);
}

/* Dense before sparse, frequent before rare, first seen before later. */
static void check_order(const struct tr_attributes *attributes, const struct snapshot *before,
                        uint32_t min_count)
{
    const struct tr_attribute_index *dictionary = &attributes->index;
    size_t expected = 0;
    for (uint32_t i = 0; i < before->count.size; i++) {
        expected += before->count.at[i] >= min_count;
    }
    assert_int_equal(dictionary->entries.size, expected);
    assert_int_equal(attributes->rows->attributes, expected);
    uint32_t last_count = 0, last_first = 0;
    for (uint32_t a = 0; a < dictionary->entries.size; a++) {
        uint32_t first = tr_intern_find(&before->texts, tr_attribute_index_text(dictionary, a));
        uint32_t count = before->count.at[first];
        size_t pairs = attributes->rows->begin[a + 1] - attributes->rows->begin[a];
        assert_true((a < attributes->rows->dense) ==
                    tr_rows_worth_dense(attributes->rows->outcomes, pairs));
        if (a != 0 && a != attributes->rows->dense) {
            assert_true(count < last_count || (count == last_count && first > last_first));
        }
        assert_int_equal(dictionary->entries.at[a].count, count);
        assert_int_equal(tr_attribute_index_find(dictionary, dictionary->entries.at[a].key), a);
        last_count = count;
        last_first = first;
    }
}

/* Exactly the pairs that were seen together (or all) are features. */
static void check_pairs(const struct tr_attributes *attributes, const struct snapshot *before)
{
    for (uint32_t a = 0; a < attributes->rows->attributes; a++) {
        uint32_t text = tr_intern_find(&before->texts,
                                       tr_attribute_index_text(&attributes->index, a));
        for (uint32_t o = 0; o < before->outcomes; o++) {
            assert_true((tr_rows_find(attributes->rows, a, o) != SIZE_MAX) ==
                        before->pair[text * before->outcomes + o]);
        }
    }
}

/* Each token has its attributes, except rare ones, in numerical order. */
static void check_occurrences(const struct tr_dataset *data, bool edge,
                              const struct tr_attributes *attributes, const struct snapshot *before,
                              uint32_t min_count)
{
    const struct tr_occurrences *occurrences = edge ? &data->edge : &data->node;
    for (size_t t = 0; t < data->tokens; t++) {
        for (uint32_t k = occurrences->begin.at[t]; k + 1 < occurrences->begin.at[t + 1]; k++) {
            assert_true(occurrences->attribute.at[k] <= occurrences->attribute.at[k + 1]);
        }
    }
    struct snapshot after = {0};
    for (uint32_t i = 0; i < tr_intern_count(&before->texts); i++) {
        tr_intern_add(&after.texts, tr_intern_text(&before->texts, i)); // the same numbers
    }
    take_seen(&after, data, edge, &attributes->index);
    size_t k = 0;
    for (size_t i = 0; i < before->seen.size; i++) {
        struct seen seen = before->seen.at[i];
        if (before->count.at[seen.text] >= min_count) {
            assert_true(k < after.seen.size);
            assert_int_equal(by_all(&seen, &after.seen.at[k++]), 0);
        }
    }
    assert_int_equal(k, after.seen.size);
    drop_snapshot(&after);
}

static void check_arranging(struct world *world, uint32_t min_count, bool all_features)
{
    struct snapshot node = take_snapshot(world, false, all_features);
    struct snapshot edge = take_snapshot(world, true, all_features);
    arrange(world, min_count, all_features);
    for (int e = 0; e < 2; e++) {
        const struct tr_attributes *attributes = e ? &world->vocabulary.edge
                                                   : &world->vocabulary.node;
        const struct snapshot *before = e ? &edge : &node;
        check_order(attributes, before, min_count);
        check_pairs(attributes, before);
        check_occurrences(&world->data, e, attributes, before, min_count);
    }
    drop_snapshot(&edge);
    drop_snapshot(&node);
}

/* Rare words and frequent ones: the square of a uniform number. */
static unsigned draw_word(struct tr_random *random)
{
    double x = tr_random_real(random);
    return (unsigned)(x * x * 60);
}

static char *draw_columns(struct tr_random *random, unsigned labels)
{
    struct tr_buffer text = {0};
    for (size_t s = 0; s < 200; s++) {
        for (uint64_t n = tr_random_below(random, 12) + 1; n > 0; n--) {
            unsigned word = draw_word(random);
            uint64_t label = tr_random_below(random, 3) ? word % labels
                                                        : tr_random_below(random, labels);
            tr_buffer_format(&text, "w%u p%u L%u\n", word, word % 5, (unsigned)label);
        }
        tr_buffer_char(&text, '\n');
    }
    tr_buffer_char(&text, '\0');
    return text.data;
}

static char *draw_attributes(struct tr_random *random, unsigned labels)
{
    struct tr_buffer text = {0};
    for (size_t i = 0; i < 800; i++) {
        tr_buffer_format(&text, "L%u", (unsigned)tr_random_below(random, labels));
        for (uint64_t n = tr_random_below(random, 40); n > 0; n--) {
            tr_buffer_format(&text, "\ta%u", draw_word(random));
            if (tr_random_below(random, 3) == 0) {
                tr_buffer_format(&text, ":%u.5", (unsigned)tr_random_below(random, 10));
            }
        }
        tr_buffer_string(&text, tr_random_below(random, 5) ? "\n" : "\n\n");
    }
    tr_buffer_char(&text, '\0');
    return text.data;
}

static void arranges_random_corpora(void **state)
{
    (void)state;
    static const unsigned labels[] = {1, 2, 7, 8, 9, 30};
    struct tr_random random;
    tr_random_seed(&random, 23);
    for (size_t i = 0; i < TR_COUNT(labels); i++) {
        for (uint32_t min_count = 1; min_count < 30; min_count += 7) {
            for (int kind = 0; kind < 4; kind++) {
                bool columns = kind & 1, all_features = kind & 2;
                struct world world = make_world(
                    columns ? "columns word pos\nnode word[-1..1]\nnode pos\nedge word\n"
                              "edge pos\nstep\n"
                            : NULL);
                char *text = columns ? draw_columns(&random, labels[i])
                                     : draw_attributes(&random, labels[i]);
                read_text(&world, text);
                check_arranging(&world, min_count, all_features);
                free(text);
                drop_world(&world);
            }
        }
    }
}

/* ---- pruning --------------------------------------------------------------------------------- */

static void pruning_drops_zero_weights(void **state)
{
    (void)state;
    struct world world = make_world(NULL);
    read_text(&world, "a\tx\ty:2\nb\tx\ty:3\nc\tx\tz\nd\tx\te\nd\tz:4\te\n");
    arrange(&world, 1, false);
    expect_attributes(&world.vocabulary.node, "x y z e");
    expect_features(world.vocabulary.node.rows, "0,1,2,3 0,1 2,3 3");
    struct tr_dataset dev = {0};
    trellis_error error = {0};
    assert_int_equal(try_read(&world, &world.data, &dev, "a\te\tz:7\ty:5\tx:6\tq\n", &error),
                     TRELLIS_OK);
    const struct tr_rows *rows = world.vocabulary.node.rows;
    float *weights = tr_alloc(rows->size, sizeof *weights);
    weights[tr_rows_find(rows, 0, 2)] = -1; // x with c
    weights[tr_rows_find(rows, 2, 2)] = 2;  // z with both
    weights[tr_rows_find(rows, 2, 3)] = 3;
    weights[tr_rows_find(rows, 3, 3)] = 1e-30f; // small, but not zero
    assert_int_equal(
        tr_dataset_prune(&world.data, &dev, false, &world.vocabulary.node, weights, &error),
        TRELLIS_OK);
    free(weights);
    /* y is removed; x, which had a dense row, has one pair; frequent attributes still come
     * first. */
    expect_attributes(&world.vocabulary.node, "x z e");
    expect_features(world.vocabulary.node.rows, "2 2,3 3");
    assert_int_equal(world.vocabulary.node.rows->dense, 0);
    expect_occurrences(&world.data.node, 5, "0|0|0 1|0 2|1:4 2");
    expect_occurrences(&dev.node, 1, "0:6 1:7 2");

    weights = tr_alloc(world.vocabulary.node.rows->size, sizeof *weights);
    assert_int_equal(
        tr_dataset_prune(&world.data, NULL, false, &world.vocabulary.node, weights, &error),
        TRELLIS_OK); // everything
    free(weights);
    assert_int_equal(tr_rows_pairs(world.vocabulary.node.rows), 0);
    expect_occurrences(&world.data.node, 5, "||||");
    tr_dataset_free(&dev);
    drop_world(&world);
}

static void pruning_handles_label_pairs(void **state)
{
    (void)state;
    struct world world = make_world(TEMPLATES);
    read_text(&world, ANIMALS);
    arrange(&world, 1, false);
    const float weights[] = {0, 1}; // pos=N with B I, pos=V with I O
    trellis_error error = {0};
    assert_int_equal(
        tr_dataset_prune(&world.data, NULL, true, &world.vocabulary.edge, weights, &error),
        TRELLIS_OK);
    expect_attributes(&world.vocabulary.edge, "pos[0]=V");
    expect_features(world.vocabulary.edge.rows, "10");
    expect_occurrences(&world.data.edge, 5, "||0||");
    expect_occurrences(&world.data.node, 5, "0 1|2 3|4 5|0 1|2 6"); // not touched
    drop_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_columns),
        cmocka_unit_test(counts_its_bytes),
        cmocka_unit_test(several_files_are_one_corpus),
        cmocka_unit_test(fingerprints_tell_corpora_apart),
        cmocka_unit_test(reads_real_values),
        cmocka_unit_test(values_are_stored_when_needed),
        cmocka_unit_test(reads_weights_of_sequences),
        cmocka_unit_test(converts_label_schemes),
        cmocka_unit_test(reads_a_dev_corpus),
        cmocka_unit_test(reports_errors),
        cmocka_unit_test(refuses_values_too_large),
        cmocka_unit_test(refuses_too_many_labels),
        cmocka_unit_test(progress_can_stop_the_reading),
        cmocka_unit_test(pairs_seen_together_become_features),
        cmocka_unit_test(rare_attributes_are_left_out),
        cmocka_unit_test(rare_features_are_left_out),
        cmocka_unit_test(all_pairs_can_become_features),
        cmocka_unit_test(dense_rows_come_first),
        cmocka_unit_test(values_are_rearranged_too),
        cmocka_unit_test(an_empty_corpus_can_be_arranged),
        cmocka_unit_test(many_labels_can_be_arranged),
        cmocka_unit_test(arranges_random_corpora),
        cmocka_unit_test(pruning_drops_zero_weights),
        cmocka_unit_test(pruning_handles_label_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
