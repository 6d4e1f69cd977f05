/* test_tag_dictionary.c - tag dictionaries: built, stored, damaged, learned and applied. */
#include "model/test_model.h"

#include "base/random.h"
#include "dataset/tag_dictionary.h"
#include "model/model.h"
#include "model/test_hostile.h"

/* ---- the block ------------------------------------------------------------------------------- */

enum { WORDS = 1000, LABELS = 300 };

static trellis_text word_text(char *room, size_t i)
{
    snprintf(room, 20, "word%zu", i);
    return tr_text(i ? room : ""); // the empty word is a word
}

/* Word i may have i % 7 + 1 labels: i, i + 13, i + 26, ... modulo the number of labels; each is
 * added twice, the last first. */
static struct tr_buffer make_block(void)
{
    struct tr_tag_dictionary_builder draft = {0};
    struct tr_buffer block = {0};
    trellis_error error = {0};
    char room[20];
    for (int twice = 0; twice < 2; twice++) {
        for (size_t i = WORDS; i-- > 0;) {
            for (size_t k = i % 7 + 1; k-- > 0;) {
                assert_true(tr_tag_dictionary_add(&draft, word_text(room, i),
                                                  (uint16_t)((i + 13 * k) % LABELS)));
            }
        }
    }
    assert_ok(tr_tag_dictionary_write(&draft, &block, &error), error);
    tr_tag_dictionary_builder_free(&draft);
    return block;
}

static void test_find(void **state)
{
    (void)state;
    struct tr_buffer block = make_block();
    struct tr_tag_dictionary tag_dictionary;
    assert_true(tr_tag_dictionary_read(block.data, block.size, LABELS, &tag_dictionary));
    assert_int_equal(tag_dictionary.words, WORDS);
    for (size_t i = 0; i < WORDS; i++) {
        char room[20];
        trellis_text word = word_text(room, i);
        uint32_t entry = tr_tag_dictionary_find(&tag_dictionary, word);
        assert_true(entry < WORDS);
        assert_true(tr_text_equal(tr_tag_dictionary_text(&tag_dictionary, entry), word));
        const uint16_t *labels;
        size_t count = tr_tag_dictionary_labels(&tag_dictionary, entry, &labels);
        assert_int_equal(count, i % 7 + 1);
        for (size_t k = 0; k < count; k++) {
            assert_true(tr_tag_dictionary_allows(&tag_dictionary, entry,
                                                 (uint16_t)((i + 13 * k) % LABELS)));
            assert_true(k == 0 || labels[k - 1] < labels[k]);
        }
        assert_false(
            tr_tag_dictionary_allows(&tag_dictionary, entry, (uint16_t)((i + 1) % LABELS)));
        assert_int_equal(tr_tag_dictionary_find(&tag_dictionary,
                                                (trellis_text){word.data, word.size - (i > 0)}) ==
                             TR_NONE,
                         i > 0 && i < 10);
    }
    assert_int_equal(tr_tag_dictionary_find(&tag_dictionary, TR_TEXT("word")), TR_NONE);
    assert_int_equal(tr_tag_dictionary_find(&(struct tr_tag_dictionary){0}, TR_TEXT("word1")),
                     TR_NONE);
    tr_buffer_free(&block);
}

/* Few words: every index of a short array is found. */
static void test_sizes(void **state)
{
    (void)state;
    for (size_t n = 0; n < 20; n++) {
        struct tr_tag_dictionary_builder draft = {0};
        struct tr_buffer block = {0};
        struct tr_tag_dictionary tag_dictionary;
        trellis_error error = {0};
        char room[20];
        for (size_t i = 0; i < n; i++) {
            assert_true(tr_tag_dictionary_add(&draft, word_text(room, i), 0));
        }
        assert_ok(tr_tag_dictionary_write(&draft, &block, &error), error);
        assert_true(tr_tag_dictionary_read(block.data, block.size, 1, &tag_dictionary));
        for (size_t i = 0; i < 20; i++) {
            assert_int_equal(tr_tag_dictionary_find(&tag_dictionary, word_text(room, i)) != TR_NONE,
                             i < n);
        }
        tr_tag_dictionary_builder_free(&draft);
        tr_buffer_free(&block);
    }
}

/* Any bytes are refused or harmless. */
static void test_hostile_block(void **state)
{
    (void)state;
    struct tr_buffer block = make_block();
    struct tr_tag_dictionary tag_dictionary;
    struct tr_random random;
    tr_random_seed(&random, 5);
    assert_false(tr_tag_dictionary_read(block.data, block.size, LABELS - 1, &tag_dictionary));
    for (size_t size = 0; size < block.size; size += 1 + size / 8) {
        assert_false(tr_tag_dictionary_read(block.data, size, LABELS, &tag_dictionary));
    }
    for (size_t round = 0; round < 3000; round++) {
        char *copy = tr_alloc(block.size, 1);
        assert_non_null(copy);
        memcpy(copy, block.data, block.size);
        size_t at = tr_random_below(&random, round % 2 ? 16 : block.size);
        copy[at] = (char)(copy[at] ^ (1 << tr_random_below(&random, 8)));
        if (tr_tag_dictionary_read(copy, block.size, LABELS, &tag_dictionary)) {
            for (uint32_t entry = 0; entry < tag_dictionary.words; entry++) {
                const uint16_t *labels;
                size_t count = tr_tag_dictionary_labels(&tag_dictionary, entry, &labels);
                assert_true(count > 0 && labels[count - 1] < LABELS);
                assert_true(tr_tag_dictionary_find(
                                &tag_dictionary, tr_tag_dictionary_text(&tag_dictionary, entry)) <=
                            entry);
            }
        }
        free(copy);
    }
    tr_buffer_free(&block);
}

/* ---- learning -------------------------------------------------------------------------------- */

/* "can" is both; "the" is seen twice. */
static const char corpus[] = "the DT\ncan NN\nrusts VB\n\ndogs NN\ncan VB\nrun VB\n\n"
                             "the DT\ndog NN\ncan VB\nbark VB\nloudly RB\n";

static void assert_allowed(const trellis_model *model, const char *word, const char *expected)
{
    char text[400] = "";
    uint32_t entry = tr_tag_dictionary_find(&model->tag_dictionary, tr_text(word));
    const uint16_t *labels;
    size_t count = entry == TR_NONE
                       ? 0
                       : tr_tag_dictionary_labels(&model->tag_dictionary, entry, &labels);
    for (size_t i = 0; i < count; i++) {
        trellis_text label = model->labels[labels[i]];
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", i ? " " : "",
                 TR_SHOW(label));
    }
    assert_string_equal(text, expected);
}

static void test_learned(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus, "epochs=5 features=id dictionary=learn "
                                            "dictionary-count=2");
    assert_int_equal(model->tag_dictionary.words, 2);
    assert_allowed(model, "the", "DT");
    assert_allowed(model, "can", "NN VB");
    assert_allowed(model, "dog", "");
    /* It is stored, and reported. */
    trellis_error error = {0};
    assert_ok(trellis_model_save(model, path_of("kept.model"), &error), error);
    trellis_model *opened = open_model(path_of("kept.model"));
    assert_allowed(opened, "can", "NN VB");
    char *info = say(opened, INFO), *text = say(opened, EXPORT), *json = say(opened, EXPORT_JSON);
    assert_non_null(strstr(info, "tag dictionary       2 words\n"));
    assert_non_null(strstr(text, "\nallow\tcan\tNN\tVB\n"));
    assert_non_null(strstr(json, "{\"word\":\"can\",\"labels\":[\"NN\",\"VB\"]}"));
    trellis_model *imported = import_model(put_text("text", text));
    char *again = say(imported, EXPORT);
    assert_string_equal(text, again);
    assert_tags(imported, "the can rusts", "DT NN VB");
    free(info);
    free(text);
    free(json);
    free(again);
    trellis_model_close(imported);
    trellis_model_close(opened);
    trellis_model_close(model);
    model = train_on(corpus, "epochs=5 features=id");
    info = say(model, INFO);
    assert_null(strstr(info, "dictionary"));
    assert_int_equal(model->tag_dictionary.words, 0);
    free(info);
    trellis_model_close(model);
}

/* Whatever the learner, a word keeps to its labels. */
static void test_applied(void **state)
{
    (void)state;
    static const char *const ways[] = {"type=perceptron epochs=3", "type=crf", "type=crf order=2",
                                       "type=maxent", "type=crf algorithm=sgd epochs=3"};
    for (size_t i = 0; i < TR_COUNT(ways); i++) {
        char options[300];
        snprintf(options, sizeof options,
                 "%s features=id dictionary=learn dictionary-count=1 dev=%s", ways[i],
                 put_text("dev.txt", "the DT\ncan RB\n"));
        trellis_model *model = train_on(corpus, options);
        trellis_tagger *tagger;
        trellis_error error = {0};
        assert_ok(trellis_tagger_create(model, NULL, &tagger, &error), error);
        for (int round = 0; round < 2; round++) {
            char *tags = tag_with(tagger, "the the rusts loudly the the", NULL);
            assert_string_equal(tags, "DT DT VB RB DT DT");
            free(tags);
        }
        trellis_tagger_destroy(tagger);
        trellis_model_close(model);
    }
}

/* A dictionary that leaves no path under the constraints is ignored for that sequence. */
static void test_no_path(void **state)
{
    (void)state;
    char options[700];
    snprintf(options, sizeof options,
             "epochs=5 features=id dictionary=learn dictionary-count=1 constrain=%s dev=%s",
             put_text("steps.txt", "DT VB\n"), put_text("dev.txt", "the DT\nruns NN\n\nthe X\n"));
    trellis_model *model = train_on("the DT\ndog NN\nruns VB\n\nruns VB\nthe DT\n", options);
    trellis_tagger *tagger;
    trellis_error error = {0};
    trellis_options *by_posterior = make_options("decode=posterior");
    assert_tags(model, "the dog runs", "DT NN VB");
    assert_ok(trellis_tagger_create(model, by_posterior, &tagger, &error), error);
    char *tags = tag_with(tagger, "the runs", NULL), *also = tag_by(model, "the runs", NULL);
    assert_true(tags[0] != '!' && also[0] != '!');
    assert_string_not_equal(tags, "DT VB");
    assert_string_not_equal(also, "DT VB");
    free(tags);
    free(also);
    trellis_tagger_destroy(tagger);
    trellis_options_destroy(by_posterior);
    trellis_model_close(model);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void assert_refused(const char *data, const char *options_text, const char *sentence)
{
    trellis_options *options = make_options(options_text);
    const char *path = put_text("corpus.txt", data);
    trellis_error error = {0};
    trellis_model *model;
    assert_int_not_equal(trellis_train_files(options, &path, 1, NULL, NULL, &model, &error),
                         TRELLIS_OK);
    assert_null(model);
    if (!strstr(error.message, sentence)) {
        fail_msg("'%s', not '%s'", error.message, sentence);
    }
    trellis_options_destroy(options);
}

static void test_file(void **state)
{
    (void)state;
    char options[700];
    snprintf(options, sizeof options, "epochs=5 features=id dictionary=%s",
             put_text("words.txt", "the\tDT\n\nzebra\tNN  VB \ncan\tVB NN\nzebra\tRB\n"));
    trellis_model *model = train_on(corpus, options);
    assert_int_equal(model->tag_dictionary.words, 3);
    assert_allowed(model, "zebra", "NN VB RB");
    assert_allowed(model, "can", "NN VB");
    trellis_model_close(model);
    assert_refused("the NN\ncan VB\n\na DT\n", options,
                   "the label 'RB' of the word 'zebra' does not occur in the training data");

    snprintf(options, sizeof options, "dictionary=%s", put_text("words.txt", "the\tDT\ncan\tXX\n"));
    assert_refused(corpus, options, "words.txt:2: the label 'XX' of the word 'can'");
    snprintf(options, sizeof options, "dictionary=%s", put_text("words.txt", "the DT\n"));
    assert_refused(corpus, options,
                   "words.txt:1: expected a word, a tab and the labels of the word");
    snprintf(options, sizeof options, "dictionary=%s", put_text("words.txt", "the\t \n"));
    assert_refused(corpus, options,
                   "words.txt:1: expected a word, a tab and the labels of the word");
    snprintf(options, sizeof options, "dictionary=%s", put_text("words.txt", "can\tVB\n"));
    assert_refused(
        corpus, options,
        "sequence 1 of the training data, token 2, 'can': the tag dictionary does not list its "
        "gold label 'NN'");
    snprintf(options, sizeof options, "dictionary=%s", path_of("no-such-file"));
    assert_refused(corpus, options, "no-such-file");
    assert_refused("DT\tw=the\nNN\tw=can\n", "format=crfsuite dictionary=learn",
                   "a tag dictionary needs a column of words, and there is none");
    assert_refused("DT the\n", "label=1 features=id dictionary=learn", "the label");
}

/* Words are found by the name of their column. */
static void test_columns(void **state)
{
    (void)state;
    char options[700];
    snprintf(options, sizeof options,
             "columns=pos,Form,tag dictionary=learn dictionary-count=1 "
             "epochs=2 features=%s",
             put_text("t.tpl", "columns word\nnode word\nstep\n"));
    trellis_model *model = train_on("D the X\nN cat Y\n", options);
    assert_allowed(model, "the", "X");
    assert_allowed(model, "D", "");
    trellis_model_close(model);
}

/* ---- the model file -------------------------------------------------------------------------- */

/* Damage with correct checksums: the model opens or is refused. */
static void test_hostile_model(void **state)
{
    (void)state;
    trellis_model *model = train_on(corpus,
                                    "epochs=3 features=id dictionary=learn dictionary-count=1");
    trellis_text section;
    assert_true(tr_image_find(&model->image, "DICT", &section));
    size_t size = model->image.size,
           begin = (size_t)((const unsigned char *)section.data - model->image.data);
    size_t opened = 0;
    for (size_t at = 0; at < section.size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            unsigned char *bytes = tr_alloc(size, 1);
            assert_non_null(bytes);
            memcpy(bytes, model->image.data, size);
            bytes[begin + at] ^= (unsigned char)(1 << bit);
            repair_checksums(bytes, size);
            trellis_model *other;
            trellis_error error = {0};
            if (open_bytes(bytes, size, &other, &error) == TRELLIS_OK) {
                char *tags = tag_by(other, "the can rusts", NULL);
                assert_true(tags[0] != '!');
                free(tags);
                trellis_model_close(other);
                opened++;
            }
            free(bytes);
        }
    }
    assert_true(opened < section.size); // most of it is checked: hashes against texts, order, ends
    trellis_model_close(model);
}

static void test_import(void **state)
{
    (void)state;
    static const char *const bad[] = {"allow\tthe\n", "allow\tthe\tXX\n", "allow\tthe\t\\start\n",
                                      "allow\tt\\he\tA\n", "allow\tthe\tA\nlabel\tC\n"};
    for (size_t i = 0; i < TR_COUNT(bad); i++) {
        char text[300];
        snprintf(text, sizeof text, "trellis-text\t1\nlabel\tA\nlabel\tB\n%s", bad[i]);
        trellis_error error = {0};
        trellis_model *model;
        assert_int_equal(trellis_model_import(put_text("bad", text), &model, &error),
                         TRELLIS_FORMAT);
        assert_true(error.line > 0);
    }
    /* More labels than a line holds, and a word with a tab in it. */
    struct tr_buffer text = {0};
    tr_buffer_string(&text, "trellis-text\t1\n");
    for (int i = 0; i < 20; i++) {
        tr_buffer_format(&text, "label\tL%d\n", i);
    }
    for (int i = 0; i < 20; i++) {
        tr_buffer_format(&text, "allow\ta\\tb\tL%d\n", i);
    }
    trellis_model *model = import_model(put_file("many", text.data, text.size));
    char *said = say(model, EXPORT);
    trellis_model *again = import_model(put_text("again", said));
    assert_int_equal(again->tag_dictionary.words, 1);
    assert_int_equal(again->tag_dictionary.label_begin[1], 20);
    free(said);
    tr_buffer_free(&text);
    trellis_model_close(again);
    trellis_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),          cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_hostile_block), cmocka_unit_test(test_learned),
        cmocka_unit_test(test_applied),       cmocka_unit_test(test_no_path),
        cmocka_unit_test(test_file),          cmocka_unit_test(test_columns),
        cmocka_unit_test(test_hostile_model), cmocka_unit_test(test_import),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
