/* The extractor: keys and their texts, ready-made attributes, columns by name, presets, a real
 * corpus. */
#include "features/helper.h"

/* Templates of all kinds, over hostile and ordinary words. */
static const char everything[] =
    "columns word pos\n"
    "pad\n"
    "node word[-2..2]\n"
    "node ngram(pos,-2..2,1..3)\n"
    "node lower(word)\nnode upper(word[1])\nnode digits(word)\n"
    "node prefix(word,1..4)\nnode suffix(word[-1..1],1..4)\n"
    "node shape(word)\nnode shortshape(word[-1..1])\nnode length(word)\n"
    "node match(word,/[a-z]+/)\nnode test(word,/^[A-Z]/)\n"
    "node isupper(word)\nnode allcaps(word)\nnode capitalised(word)\nnode mixedcase(word)\n"
    "node hasdigit(word)\nnode alldigits(word)\nnode hashyphen(word)\nnode haspunct(word)\n"
    "node allpunct(word)\nnode isnumber(word)\nnode first\nnode last\nnode position\nnode bias\n"
    "node word & pos if not isupper(word)\n"
    "edge pos\nedge word & isupper(word[-1])\n"
    "step start end\n";

static const char hostile[] = "The DT\nM\xC3\xA9xico-86 NN\n\xFF\xFE X\n\xF0\x9F\x98\x80 SYM\n"
                              "e\xCC\x81 NN\n1,234.5 CD\n\xE2\x82 X\nABC|=& NNP\n, ,\nthe DT";

static bool same_low(const struct tr_seen *a, const struct tr_seen *b, size_t n)
{
    return memcmp(a->begin, b->begin, (n + 1) * sizeof *a->begin) == 0 &&
           memcmp(a->low, b->low, a->begin[n] * sizeof *a->low) == 0;
}

static void check_low_keys(const char *text)
{
    trellis_features *features = templates(text);
    struct tr_extractor *whole = extractor_for(features, true),
                        *low = extractor_for(features, false);
    static struct table table;
    table_read(&table, hostile);
    for (int again = 0; again < 2; again++) { // the second time from the caches
        const struct tr_observation *a = run(whole, &table.sequence);
        const struct tr_observation *b = run(low, &table.sequence);
        assert_true(same_low(&a->node, &b->node, a->length));
        assert_true(same_low(&a->edge, &b->edge, a->length));
        assert_null(a->node.value);
        assert_int_equal(a->edge.begin[1], 0);
    }
    tr_extractor_destroy(whole);
    tr_extractor_destroy(low);
    trellis_features_destroy(features);
}

static void test_half_keys_equal_whole_keys(void **state)
{
    (void)state;
    check_low_keys(everything);
    check_low_keys("U0:%x[0,0]\nU1:%x[-2,0]/%x[1,1]\nU2:%x[-1,0]%x[0,1]\n" // nothing but cells
                   "U3\nU4:%x[-3,1]/%x[0,0]/%x[2,0]\nB0:%x[0,0]\n");
    check_low_keys("U0:%x[0,0]\nU1:%x[1,0]|%t[0,0,\"^[A-Z]\"]\n"); // a test among them
}

/* Different texts have different keys, and equal texts equal keys, wherever they occur. */
static void test_keys_follow_texts(void **state)
{
    (void)state;
    trellis_features *features = templates(everything);
    struct tr_extractor *extractor = extractor_for(features, true);
    static struct table table;
    table_read(&table, hostile);
    const struct tr_observation *seen = run(extractor, &table.sequence);
    struct tr_intern texts = {0};
    TR_ARRAY(struct tr_key) keys = {0};
    struct tr_buffer text = {0};
    for (size_t i = 0; i < seen->length; i++) {
        for (size_t k = seen->node.begin[i]; k < seen->node.begin[i + 1]; k++) {
            text.size = 0;
            tr_extractor_text(extractor, &table.sequence, false, i, k, &text);
            uint32_t number = tr_intern_add(&texts, (trellis_text){text.data, text.size});
            struct tr_key key = {seen->node.low[k], seen->node.high[k]};
            if (number == keys.size) {
                for (size_t j = 0; j < keys.size; j++) {
                    assert_true(keys.at[j].low != key.low && keys.at[j].high != key.high);
                }
                assert_true(tr_push(&keys, key));
            }
            assert_true(keys.at[number].low == key.low && keys.at[number].high == key.high);
        }
    }
    assert_true(keys.size > 200);
    tr_intern_free(&texts);
    tr_buffer_free(&text);
    free(keys.at);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

/* The key is the template's, mixed with the values in order (base/hash.h). */
static void test_key_formula(void **state)
{
    (void)state;
    trellis_features *features = templates("columns word pos\nnode pos[-1] & word");
    struct tr_extractor *extractor = extractor_for(features, true);
    static struct table table;
    table_read(&table, "The DT\ncat NN");
    const struct tr_observation *seen = run(extractor, &table.sequence);
    struct tr_key key = tr_mix(tr_mix(tr_hash(TR_TEXT("pos[-1]&word[0]=")), tr_hash(TR_TEXT("DT"))),
                               tr_hash(TR_TEXT("cat")));
    assert_int_equal(seen->node.begin[2], 1);
    assert_true(seen->node.low[0] == key.low && seen->node.high[0] == key.high);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_ready_made(void **state)
{
    (void)state;
    trellis_features *features;
    assert_int_equal(tr_features_none(&features, NULL), TRELLIS_OK);
    struct tr_step_choice steps = tr_features_steps(features);
    assert_true(steps.between && !steps.start && !steps.end);
    assert_int_equal(tr_features_template_count(features), 0);
    trellis_attribute attributes[] = {{TR_TEXT("a"), 1}, {TR_TEXT("b:c"), 0.5}, {TR_TEXT("a"), 1}};
    size_t begin[] = {0, 2, 2, 3};
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 3,
                                 .attributes = attributes,
                                 .attribute_begin = begin,
                                 .line = 4};
    struct tr_extractor *extractor = extractor_for(features, true);
    const struct tr_observation *seen = run(extractor, &sequence);
    assert_int_equal(seen->node.begin[1], 2);
    assert_int_equal(seen->node.begin[2], 2);
    assert_int_equal(seen->node.begin[3], 3);
    assert_true(seen->node.low[1] == tr_hash(TR_TEXT("b:c")).low);
    assert_true(seen->node.high[1] == tr_hash(TR_TEXT("b:c")).high);
    assert_true(seen->node.value[0] == 1 && seen->node.value[1] == 0.5f);
    assert_int_equal(seen->node.template[1], UINT32_MAX - 1);
    struct tr_buffer buffer = {0};
    describe(extractor, &sequence, false, 0, &buffer);
    assert_string_equal(buffer.data, "a ; b:c:0.5");
    tr_buffer_free(&buffer);
    attributes[1].value = 1;
    assert_null(run(extractor, &sequence)->node.value); // all are 1
    attributes[2].value = 1e300;
    trellis_error error = {0};
    assert_int_equal(tr_extractor_run(extractor, &sequence, &seen, &error), TRELLIS_FORMAT);
    assert_int_equal(error.line, 6);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_templates_before_ready_made(void **state)
{
    (void)state;
    trellis_features *features = templates("columns word\nnode word\nnode last");
    trellis_attribute attributes[] = {{TR_TEXT("x"), 2}};
    size_t begin[] = {0, 0, 1};
    trellis_text cells[] = {TR_TEXT("a"), TR_TEXT("b")};
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 2,
                                 .columns = 1,
                                 .cells = cells,
                                 .line = 1,
                                 .attributes = attributes,
                                 .attribute_begin = begin};
    struct tr_extractor *extractor = extractor_for(features, true);
    struct tr_buffer buffer = {0};
    describe(extractor, &sequence, false, 1, &buffer);
    assert_string_equal(buffer.data, "word[0]=b ; last ; x:2");
    tr_buffer_free(&buffer);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

/* An extractor reused for sequences of many lengths extracts the same as a new one. */
static void test_lengths(void **state)
{
    (void)state;
    enum { MAX_LENGTH = 3000 };
    trellis_features *features = templates(everything);
    struct tr_extractor *extractor = extractor_for(features, false);
    trellis_text *cells = tr_alloc(MAX_LENGTH * 2, sizeof *cells);
    char(*words)[8] = tr_alloc(MAX_LENGTH, sizeof *words);
    for (size_t i = 0; i < MAX_LENGTH; i++) {
        snprintf(words[i], sizeof *words, "w%u", (unsigned)(i * i % 977));
        cells[2 * i] = tr_text(words[i]);
        cells[2 * i + 1] = i % 3 ? TR_TEXT("X") : TR_TEXT("Y");
    }
    static const size_t lengths[] = {0, 1, 2, 3000, 1, 5, 0, 200, 2999};
    for (size_t i = 0; i < TR_COUNT(lengths); i++) {
        trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                     .length = lengths[i],
                                     .columns = 2,
                                     .cells = cells,
                                     .line = 1};
        struct tr_extractor *fresh = extractor_for(features, false);
        const struct tr_observation *a = run(extractor, &sequence), *b = run(fresh, &sequence);
        assert_int_equal(a->length, lengths[i]);
        assert_true(same_low(&a->node, &b->node, lengths[i]));
        assert_true(same_low(&a->edge, &b->edge, lengths[i]));
        tr_extractor_destroy(fresh);
    }
    free(cells);
    free(words);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_empty_cells(void **state)
{
    (void)state;
    trellis_features *features = templates(everything);
    struct tr_extractor *extractor = extractor_for(features, true);
    trellis_text cells[] = {{NULL, 0}, {NULL, 0}, {"", 0}, {"X", 1}};
    trellis_sequence sequence = {.struct_size = sizeof(trellis_sequence),
                                 .length = 2,
                                 .columns = 2,
                                 .cells = cells,
                                 .line = 1};
    struct tr_buffer buffer = {0};
    describe(extractor, &sequence, false, 0, &buffer);
    assert_non_null(strstr(buffer.data, "word[0]= ; "));
    assert_non_null(strstr(buffer.data, "length(word[0])=0 ; "));
    tr_buffer_free(&buffer);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
}

static void test_presets(void **state)
{
    (void)state;
    const char *name;
    static struct table table;
    size_t count = 0;
    for (; (name = trellis_preset_name(count)); count++) {
        trellis_features *features;
        trellis_error error = {0};
        if (trellis_features_open(name, &features, &error)) {
            fail_msg("%s: %s", name, error.message);
        }
        assert_string_equal(tr_features_name(features), name);
        assert_true(tr_text_is(tr_features_source(features), trellis_preset_text(name)));
        assert_true(tr_features_steps(features).start && tr_features_steps(features).end);
        struct tr_extractor *extractor = extractor_for(features, true);
        table_read(&table, hostile);
        assert_true(run(extractor, &table.sequence)->node.begin[1] > 0);
        tr_extractor_destroy(extractor);
        trellis_features_destroy(features);
    }
    assert_int_equal(count, 10);
    assert_null(trellis_preset_text("none of these"));
    assert_null(trellis_preset_text(NULL));
}

static void test_extended_preset(void **state)
{
    (void)state;
    trellis_features *features;
    assert_int_equal(trellis_features_open("extended", &features, NULL), TRELLIS_OK);
    check_features(features, "Ms.\nHaag\nplays", false, 0,
                   "word[0]=Ms. ; isupper(word[0]) ; prefix(word[0],1)=M ; prefix(word[0],2)=Ms ; "
                   "prefix(word[0],3)=Ms. ; suffix(word[0],1)=. ; suffix(word[0],2)=s. ; "
                   "suffix(word[0],3)=Ms.");
    trellis_features_destroy(features);
}

/* ---- with readers ---------------------------------------------------------------------------- */

static trellis_status collect(void *user, const char *data, size_t size)
{
    tr_buffer_add(user, data, size);
    return TRELLIS_OK;
}

static trellis_reader *open_text(const char *text, const char *option, const char *value)
{
    write_file(temporary("corpus.txt"), text);
    trellis_options *options;
    trellis_error error = {0};
    trellis_reader *reader = NULL;
    assert_int_equal(trellis_options_create(&options, NULL), TRELLIS_OK);
    if (trellis_options_set(options, option, value, &error) ||
        trellis_reader_open(temporary("corpus.txt"), options, &reader, &error)) {
        fail_msg("%s", error.message);
    }
    trellis_options_destroy(options);
    remove(temporary("corpus.txt"));
    return reader;
}

static void check_printed(const char *text, trellis_reader *reader, const char *expected)
{
    trellis_features *features = templates(text);
    const trellis_sequence *sequence;
    trellis_error error = {0};
    struct tr_buffer printed = {0};
    if (trellis_reader_next(reader, &sequence, &error) ||
        trellis_features_print(features, reader, sequence, collect, &printed, &error)) {
        fail_msg("%s", error.message);
    }
    tr_buffer_add(&printed, "", 1);
    assert_string_equal(printed.data, expected);
    tr_buffer_free(&printed);
    trellis_features_destroy(features);
    trellis_reader_close(reader);
}

static void test_print(void **state)
{
    (void)state;
    check_printed("columns word n\nnode word\nnode real(n)\nedge word[-1]\n",
                  open_text("a:b 1 X\nc\\d 2.5 Y\n", "format", "columns"),
                  "X\tword[0]=a\\:b\treal(n[0])\n"
                  "Y\tword[0]=c\\\\d\treal(n[0]):2.5\tedge word[-1]=a\\:b\n\n");
}

#define CONLLU "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n2\tcat\tcat\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"

static void test_names_of_the_input(void **state)
{
    (void)state;
    check_printed("columns word\nnode word\n", open_text(CONLLU, "format", "conllu"),
                  "DET\tword[0]=The\nNOUN\tword[0]=cat\n\n");
    check_printed("node lemma\nnode Form[1]\n", open_text(CONLLU, "format", "conllu"),
                  "DET\tlemma[0]=the\tForm[1]=cat\nNOUN\tlemma[0]=cat\n\n");
    check_printed("node $2\n", open_text(CONLLU, "format", "conllu"),
                  "DET\t$2[0]=The\nNOUN\t$2[0]=cat\n\n");
    /* The input's names win over the templates' positions. */
    check_printed("columns word pos\nnode word & pos\n",
                  open_text("NN cat X\n", "columns", "pos,word"), "X\tword[0]&pos[0]=cat|NN\n\n");
    /* The label (UPOS) is the part of speech: an optional column is dropped. */
    check_printed("columns word pos?\nnode word\nnode pos\n", open_text(CONLLU, "format", "conllu"),
                  "DET\tword[0]=The\nNOUN\tword[0]=cat\n\n");
}

static void test_missing_column_name(void **state)
{
    (void)state;
    trellis_features *features = templates("columns shoe\nnode shoe\n");
    trellis_reader *reader = open_text(CONLLU, "format", "conllu");
    struct tr_extractor *extractor = extractor_for(features, false);
    trellis_error error = {0};
    assert_int_equal(tr_extractor_bind(extractor, reader, SIZE_MAX, &error), TRELLIS_TEMPLATE);
    assert_non_null(strstr(error.message, "'shoe'"));
    assert_non_null(strstr(error.message, "LEMMA"));
    tr_extractor_destroy(extractor);
    trellis_reader_close(reader);
    trellis_features_destroy(features);
}

/* Columns are counted from 1 in messages, as in options. */
static void test_label_among_columns(void **state)
{
    (void)state;
    trellis_features *features = templates("U:%x[0,2]\n");
    trellis_reader *reader = open_text("a b X\n", "label", "3");
    struct tr_extractor *extractor = extractor_for(features, false);
    trellis_error error = {0};
    assert_int_equal(tr_extractor_bind(extractor, reader, 2, &error), TRELLIS_TEMPLATE);
    assert_non_null(strstr(error.message, "use column 3, which is the label"));
    tr_extractor_destroy(extractor);
    trellis_reader_close(reader);
    trellis_features_destroy(features);
}

/* ---- a corpus -------------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t count_distinct(uint64_t *keys, size_t count)
{
    size_t distinct = count > 0;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++) {
        distinct += keys[i] != keys[i - 1];
    }
    return distinct;
}

/* CoNLL-2000: the attributes of the chunking examples of CRFsuite and CRF++. */
static void check_corpus(const char *path, size_t attributes, size_t pairs)
{
    const char *shared = getenv("TRELLIS_SHARED");
    char corpus[500];
    snprintf(corpus, sizeof corpus, "%s/conll2000/train.txt", shared ? shared : "");
    trellis_reader *reader = NULL;
    if (!shared || trellis_reader_open(corpus, NULL, &reader, NULL)) {
        skip();
    }
    trellis_features *features;
    trellis_error error = {0};
    if (trellis_features_open(path, &features, &error)) {
        fail_msg("%s", error.message);
    }
    struct tr_extractor *extractor = extractor_for(features, false);
    TR_ARRAY(uint64_t) keys = {0}, labelled = {0};
    const trellis_sequence *sequence;
    while (!trellis_reader_next(reader, &sequence, &error)) {
        const struct tr_observation *seen = run(extractor, sequence);
        for (size_t i = 0; i < seen->length; i++) {
            struct tr_key label = tr_hash(sequence->labels[i]);
            for (size_t k = seen->node.begin[i]; k < seen->node.begin[i + 1]; k++) {
                struct tr_key key = {seen->node.low[k], 0};
                assert_true(tr_push(&keys, key.low));
                assert_true(tr_push(&labelled, tr_mix(key, label).low));
            }
        }
    }
    assert_int_equal(count_distinct(keys.at, keys.size), attributes);
    assert_int_equal(count_distinct(labelled.at, labelled.size), pairs);
    free(keys.at);
    free(labelled.at);
    tr_extractor_destroy(extractor);
    trellis_features_destroy(features);
    trellis_reader_close(reader);
}

static void test_corpus(void **state)
{
    (void)state;
    check_corpus("examples/templates/crfsuite-chunking.txt", 335674, 452610);
    check_corpus("examples/templates/crfpp-chunking.txt", 338551, 456323);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_keys_equal_whole_keys),
        cmocka_unit_test(test_keys_follow_texts),
        cmocka_unit_test(test_key_formula),
        cmocka_unit_test(test_ready_made),
        cmocka_unit_test(test_templates_before_ready_made),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_empty_cells),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_extended_preset),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_names_of_the_input),
        cmocka_unit_test(test_missing_column_name),
        cmocka_unit_test(test_label_among_columns),
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
