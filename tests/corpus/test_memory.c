/* test_memory.c - bytes, a corpus in memory and a function give the sequences that the file
 * gives. */
#include "corpus/corpus_test.h"

#include <math.h>

static const struct {
    const char *options, *text;
} inputs[] = {
    {"", "the DT O\ncat NN B-X\n\na DT O\n"},
    {"columns=word,pos,chunk label=pos", "the DT O\ncat NN B-X\n\na DT O\n"},
    {"label=none", "the DT\ncat NN\n\na DT\n"},
    {"format=crfsuite", "O\tw=the\tx:2\nB-X\tw=cat\n\n@weight:2\nO\tw=a\nB-X\tw=dog:0.5\n\n"},
    {"format=wordtag", "the/DT cat/NN sat/VB\na/DT dog/NN\n"},
    {"format=jsonl", "{\"tokens\": [\"the\", \"cat\"], \"labels\": [\"O\", \"B-X\"]}\n"},
    {"part=1/2", "a A\n\nb B\n\nc C\n\nd D\n\ne E\n\n"},
};

/* All sequences of a source as text, without line numbers; the caller frees it. */
static char *show_source(const trellis_source *source, const trellis_options *options)
{
    trellis_reader *reader;
    trellis_error error = {0};
    const trellis_sequence *sequence;
    struct tr_buffer shown = {0};
    trellis_status status = trellis_reader_open_source(source, options, &reader, &error);
    for (size_t c = 0; !status && c < 4; c++) {
        const char *name = trellis_reader_column_name(reader, c);
        tr_buffer_format(&shown, "[%s]", name ? name : "-");
    }
    while (!status && !(status = trellis_reader_next(reader, &sequence, &error))) {
        trellis_sequence copy = *sequence;
        copy.line = 0;
        show_sequence(&shown, &copy);
        assert_int_equal(sequence->struct_size, sizeof *sequence);
    }
    if (status != TRELLIS_END) {
        fail_msg("%s", error.message);
    }
    tr_buffer_format(&shown, "label column %d", (int)trellis_reader_label_column(reader));
    tr_buffer_char(&shown, '\0');
    trellis_reader_close(reader);
    return shown.data;
}

/* A function that gives the sequences of a reader. */
static trellis_status next_of_reader(void *user, const trellis_sequence **ret_sequence,
                                     trellis_error *error)
{
    return trellis_reader_next(user, ret_sequence, error);
}

static void sources_give_what_the_file_gives(void **state)
{
    (void)state;
    for (size_t i = 0; i < TR_COUNT(inputs); i++) {
        const char *text = inputs[i].text;
        trellis_options *options = make_options(inputs[i].options), *defaults = make_options("");
        char *path = make_file(text, strlen(text), "");
        trellis_source file = {.struct_size = sizeof file, .path = path};
        trellis_source bytes = {
            .struct_size = sizeof bytes, .data = text, .data_size = strlen(text)};
        char *expected = show_source(&file, options), *shown = show_source(&bytes, options);
        assert_string_equal(shown, expected);
        free(shown);

        trellis_corpus *corpus;
        assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
        assert_int_equal(trellis_corpus_read(corpus, &bytes, options, NULL), TRELLIS_OK);
        trellis_source memory = {.struct_size = sizeof memory, .corpus = corpus};
        shown = show_source(&memory, defaults);
        assert_string_equal(shown, expected);
        free(shown);

        trellis_reader *reader;
        assert_int_equal(trellis_reader_open(path, options, &reader, NULL), TRELLIS_OK);
        const trellis_sequence *first;
        trellis_source function = {
            .struct_size = sizeof function, .next = next_of_reader, .user = reader};
        trellis_corpus *second;
        assert_int_equal(trellis_corpus_create(&second, NULL), TRELLIS_OK);
        assert_int_equal(trellis_corpus_read(second, &function, NULL, NULL), TRELLIS_OK);
        assert_int_equal(trellis_corpus_tokens(second), trellis_corpus_tokens(corpus));
        assert_int_equal(trellis_corpus_sequences(second), trellis_corpus_sequences(corpus));
        assert_int_equal(trellis_reader_next(reader, &first, NULL), TRELLIS_END);

        trellis_corpus_destroy(second);
        trellis_corpus_destroy(corpus);
        trellis_reader_close(reader);
        trellis_options_destroy(defaults);
        trellis_options_destroy(options);
        free(expected);
        drop_file(path);
    }
}

static const trellis_text words[] = {{"a", 1}, {"b", 1}, {"a", 1}};
static const trellis_attribute attributes[] = {{{"x", 1}, 1}, {{"y\n\0z", 4}, 0.5}, {{"", 0}, -2}};
static const size_t begin[] = {0, 2, 2, 3};

static void a_corpus_keeps_what_was_added(void **state)
{
    (void)state;
    trellis_corpus *corpus;
    trellis_sequence plain = {
        .struct_size = sizeof plain, .length = 3, .columns = 1, .cells = words, .weight = 1};
    trellis_sequence rich = plain;
    rich.labels = words;
    rich.attributes = attributes;
    rich.attribute_begin = begin;
    rich.weight = 0.25;
    rich.group = 7;
    assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_add(corpus, &plain, NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_add(corpus, &rich, NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_add(corpus, &plain, NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_sequences(corpus), 3);
    assert_int_equal(trellis_corpus_tokens(corpus), 9);
    const char *const names[] = {"word"};
    assert_int_equal(trellis_corpus_name_columns(corpus, names, 1, NULL), TRELLIS_OK);

    trellis_source source = {.struct_size = sizeof source, .corpus = corpus};
    trellis_reader *reader;
    const trellis_sequence *s;
    assert_int_equal(trellis_reader_open_source(&source, NULL, &reader, NULL), TRELLIS_OK);
    assert_string_equal(trellis_reader_column_name(reader, 0), "word");
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_null(s->labels);
    assert_int_equal(s->attribute_begin[3], 0);
    assert_true(s->weight == 1 && s->group == 0);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_true(s->weight == 0.25 && s->group == 7);
    assert_memory_equal(s->attribute_begin, begin, sizeof begin);
    for (size_t k = 0; k < 3; k++) {
        assert_true(tr_text_equal(s->attributes[k].name, attributes[k].name));
        assert_true(s->attributes[k].value == attributes[k].value);
        assert_true(tr_text_equal(s->cells[k], words[k]) && tr_text_equal(s->labels[k], words[k]));
    }
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_END);
    trellis_reader_close(reader);

    static const struct {
        trellis_group_rule rule;
        uint32_t group;
        size_t count;
    } choices[] = {
        {TRELLIS_ONLY_GROUP, 7, 1}, {TRELLIS_EXCEPT_GROUP, 7, 2}, {TRELLIS_ONLY_GROUP, 1, 0}};
    for (size_t i = 0; i < TR_COUNT(choices); i++) {
        size_t count = 0;
        source.groups = choices[i].rule;
        source.group = choices[i].group;
        assert_int_equal(trellis_reader_open_source(&source, NULL, &reader, NULL), TRELLIS_OK);
        while (trellis_reader_next(reader, &s, NULL) == TRELLIS_OK) {
            count++;
        }
        assert_int_equal(count, choices[i].count);
        trellis_reader_close(reader);
    }
    trellis_corpus_destroy(corpus);
}

/* What the sequences of a corpus have besides a word of one letter for each token. */
struct richness {
    unsigned columns, attributes;
    bool labels, values, weights, groups, new_words, new_labels, new_attributes;
};

enum { SEQUENCES = 3000, LENGTH = 4, TOKENS = SEQUENCES * LENGTH, TEXT = 40, MAX_COLUMNS = 5 };

/* Bytes of a corpus of so many sequences of four tokens. */
static double bytes_of(struct richness rich)
{
    trellis_corpus *corpus;
    assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
    for (unsigned s = 0; s < SEQUENCES; s++) {
        char names[LENGTH][TEXT + 1];
        trellis_text cells[LENGTH * MAX_COLUMNS], labels[LENGTH];
        trellis_attribute seen[LENGTH * MAX_COLUMNS];
        size_t seen_begin[LENGTH + 1] = {0};
        for (unsigned i = 0; i < LENGTH; i++) {
            snprintf(names[i], sizeof names[i], "%0*u", TEXT, s * LENGTH + i);
            trellis_text new_text = {names[i], TEXT}, old = {"a", 1};
            labels[i] = rich.new_labels ? new_text : old;
            for (unsigned k = 0; k < rich.columns; k++) {
                cells[i * rich.columns + k] = rich.new_words ? new_text : old;
            }
            for (unsigned k = 0; k < rich.attributes; k++) {
                seen[i * rich.attributes + k] = (trellis_attribute){
                    rich.new_attributes ? new_text : old, rich.values ? 2 : 1};
            }
            seen_begin[i + 1] = (i + 1) * (size_t)rich.attributes;
        }
        trellis_sequence sequence = {.struct_size = sizeof sequence,
                                     .length = LENGTH,
                                     .columns = rich.columns,
                                     .cells = cells,
                                     .labels = rich.labels ? labels : NULL,
                                     .attributes = rich.attributes ? seen : NULL,
                                     .attribute_begin = rich.attributes ? seen_begin : NULL,
                                     .weight = rich.weights ? 2 : 1,
                                     .group = rich.groups};
        assert_int_equal(trellis_corpus_add(corpus, &sequence, NULL), TRELLIS_OK);
    }
    double bytes = (double)trellis_corpus_bytes(corpus);
    trellis_corpus_destroy(corpus);
    return bytes;
}

/* What is added takes as many bytes as are stored, or up to three times as many, because arrays
 * have room to grow; a new text takes at least 12 bytes besides its own. */
static void all_parts_of_a_corpus_are_counted(void **state)
{
    (void)state;
    static const struct {
        struct richness less, more;
        double stored;
    } cases[] = {
        {{.columns = 1}, {.columns = 4}, 3 * 4 * TOKENS},
        {{.columns = 1}, {.columns = 1, .labels = true}, 4 * TOKENS},
        {{.columns = 1}, {.columns = 1, .attributes = 1}, (8 + 4) * TOKENS},
        {{.columns = 1, .attributes = 1}, {.columns = 1, .attributes = 5}, 4 * 4 * TOKENS},
        {{.columns = 1, .attributes = 5},
         {.columns = 1, .attributes = 5, .values = true},
         5 * 4 * TOKENS},
        {{.columns = 1}, {.columns = 1, .weights = true}, 4 * SEQUENCES},
        {{.columns = 1}, {.columns = 1, .groups = true}, 4 * SEQUENCES},
        {{.columns = 1}, {.columns = 1, .new_words = true}, (TEXT + 12) * TOKENS},
        {{.columns = 1, .labels = true},
         {.columns = 1, .labels = true, .new_labels = true},
         (TEXT + 12) * TOKENS},
        {{.columns = 1, .attributes = 1},
         {.columns = 1, .attributes = 1, .new_attributes = true},
         (TEXT + 12) * TOKENS},
    };
    double plain = bytes_of(cases[0].less);
    assert_true(plain >= 8 * SEQUENCES + 4 * TOKENS);
    assert_true(plain <= 3 * (8 * SEQUENCES + 4 * TOKENS));
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        double added = bytes_of(cases[i].more) - bytes_of(cases[i].less);
        if (!(added >= cases[i].stored && added <= 3 * cases[i].stored)) {
            fail_msg("case %d: %g bytes for %g", (int)i, added, cases[i].stored);
        }
    }
    assert_int_equal(trellis_corpus_bytes(NULL), 0);
}

static void expect_refused(trellis_corpus *corpus, const trellis_sequence *s,
                           trellis_status expected, const char *message)
{
    trellis_error error = {0};
    size_t before = trellis_corpus_tokens(corpus);
    assert_int_equal(trellis_corpus_add(corpus, s, &error), expected);
    assert_string_equal(error.message, message);
    assert_int_equal(trellis_corpus_tokens(corpus), before);
}

/* Where all values are 1 none are kept, and 1 is read back. */
static void values_of_one_are_read_back(void **state)
{
    (void)state;
    static const trellis_attribute plain[] = {{{"x", 1}, 1}, {{"y", 1}, 1}};
    static const size_t plain_begin[] = {0, 2};
    trellis_sequence added = {.struct_size = sizeof added,
                              .length = 1,
                              .attributes = plain,
                              .attribute_begin = plain_begin,
                              .weight = 1};
    trellis_corpus *corpus;
    trellis_reader *reader;
    const trellis_sequence *s;
    assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_add(corpus, &added, NULL), TRELLIS_OK);
    trellis_source source = {.struct_size = sizeof source, .corpus = corpus};
    assert_int_equal(trellis_reader_open_source(&source, NULL, &reader, NULL), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, NULL), TRELLIS_OK);
    for (size_t k = 0; k < 2; k++) {
        assert_true(tr_text_equal(s->attributes[k].name, plain[k].name));
        assert_true(s->attributes[k].value == 1);
    }
    trellis_reader_close(reader);
    trellis_corpus_destroy(corpus);
}

static void bad_sequences_are_refused(void **state)
{
    (void)state;
    trellis_corpus *corpus;
    assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
    trellis_sequence s = {.length = 3, .columns = 1, .cells = words, .weight = 1}, bad;
    expect_refused(corpus, &s, TRELLIS_OPTION, "struct_size is not set");
    s.struct_size = sizeof s;
    assert_int_equal(trellis_corpus_add(corpus, &s, NULL), TRELLIS_OK);
    bad = s;
    bad.cells = NULL;
    expect_refused(corpus, &bad, TRELLIS_DATA, "sequence 2 has columns but no cells");
    bad.columns = 0;
    expect_refused(corpus, &bad, TRELLIS_DATA, "sequence 2 has neither columns nor attributes");
    bad = s;
    bad.columns = 3;
    bad.length = 1;
    expect_refused(corpus, &bad, TRELLIS_DATA, "sequence 2 has 3 columns, those before have 1");
    bad = s;
    bad.attributes = attributes;
    expect_refused(corpus, &bad, TRELLIS_DATA,
                   "sequence 2 has only one of attributes and attribute_begin");
    const size_t descending[] = {0, 2, 1, 3};
    bad.attribute_begin = descending;
    expect_refused(corpus, &bad, TRELLIS_DATA, "sequence 2: attribute_begin descends at token 2");
    const trellis_attribute infinite[] = {{{"x", 1}, 1}, {{"y", 1}, NAN}, {{"z", 1}, 1}};
    bad.attributes = infinite;
    bad.attribute_begin = begin;
    expect_refused(corpus, &bad, TRELLIS_DATA,
                   "sequence 2, token 1: the value of attribute 'y' is not a finite number");
    const trellis_attribute last[] = {{{"x", 1}, 1}, {{"y", 1}, 1}, {{"z", 1}, NAN}};
    bad.attributes = last;
    expect_refused(corpus, &bad, TRELLIS_DATA,
                   "sequence 2, token 3: the value of attribute 'z' is not a finite number");
    bad = s;
    bad.weight = -1;
    expect_refused(corpus, &bad, TRELLIS_DATA,
                   "sequence 2 has a weight that is not a finite number from 0 up");
    bad = s;
    bad.length = 0;
    expect_refused(corpus, &bad, TRELLIS_DATA, "sequence 2 has no tokens");
    trellis_corpus_destroy(corpus);
    trellis_corpus_destroy(NULL);
}

/* Two sequences, then a failure. */
static trellis_status fails_at_the_third(void *user, const trellis_sequence **ret_sequence,
                                         trellis_error *error)
{
    static const trellis_sequence s = {
        .struct_size = sizeof s, .length = 3, .columns = 1, .cells = words, .weight = 1};
    size_t *calls = user;
    *ret_sequence = &s;
    if (++*calls < 3) {
        return TRELLIS_OK;
    }
    error->status = TRELLIS_IO;
    snprintf(error->message, sizeof error->message, "the network is down");
    return TRELLIS_IO;
}

static void bad_sources_are_refused(void **state)
{
    (void)state;
    trellis_reader *reader;
    trellis_error error = {0};
    const trellis_sequence *s;
    trellis_source source = {.path = "x", .data = "y"};
    assert_int_equal(trellis_reader_open_source(&source, NULL, &reader, &error), TRELLIS_OPTION);
    source.struct_size = sizeof source;
    assert_int_equal(trellis_reader_open_source(&source, NULL, &reader, &error), TRELLIS_OPTION);
    assert_null(reader);
    source.path = source.data = NULL;
    assert_int_equal(trellis_reader_open_source(&source, NULL, &reader, &error), TRELLIS_OPTION);

    size_t calls = 0;
    trellis_corpus *corpus;
    source.next = fails_at_the_third;
    source.user = &calls;
    source.name = "my source";
    assert_int_equal(trellis_corpus_create(&corpus, NULL), TRELLIS_OK);
    assert_int_equal(trellis_corpus_read(corpus, &source, NULL, &error), TRELLIS_IO);
    assert_string_equal(error.message, "my source: sequence 3: the network is down");
    assert_int_equal(trellis_corpus_sequences(corpus), 2);
    trellis_corpus_destroy(corpus);

    trellis_source bad_bytes = {
        .struct_size = sizeof bad_bytes, .data = "a\0b", .data_size = 3, .name = "upload"};
    assert_int_equal(trellis_reader_open_source(&bad_bytes, NULL, &reader, &error), TRELLIS_OK);
    assert_int_equal(trellis_reader_next(reader, &s, &error), TRELLIS_FORMAT);
    assert_non_null(strstr(error.message, "upload:1:2:"));
    trellis_reader_close(reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_give_what_the_file_gives),
        cmocka_unit_test(a_corpus_keeps_what_was_added),
        cmocka_unit_test(all_parts_of_a_corpus_are_counted),
        cmocka_unit_test(values_of_one_are_read_back),
        cmocka_unit_test(bad_sequences_are_refused),
        cmocka_unit_test(bad_sources_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
