/* test_corpora.c - the corpora in data/ are what data/README.md says. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/intern.h"

static const char *const splits[] = {"train", "dev", "test"};

/* Reads data/<folder>/<split>.conll sequence by sequence, with as many columns as it has. */
struct corpus {
    char path[100];
    trellis_options *options;
    trellis_reader *reader;
    const trellis_sequence *sequence;
};

static struct corpus open_corpus(const char *folder, const char *split)
{
    struct corpus corpus = {0};
    trellis_error error = {0};
    snprintf(corpus.path, sizeof corpus.path, "data/%s/%s.conll", folder, split);
    trellis_status status = trellis_options_create(&corpus.options, &error);
    status = status ? status : trellis_options_set(corpus.options, "separator", "tab", &error);
    status = status ? status
                    : trellis_reader_open(corpus.path, corpus.options, &corpus.reader, &error);
    if (status) {
        fail_msg("%s", error.message);
    }
    return corpus;
}

static bool next(struct corpus *corpus)
{
    trellis_error error = {0};
    trellis_status status = trellis_reader_next(corpus->reader, &corpus->sequence, &error);
    if (status && status != TRELLIS_END) {
        fail_msg("%s", error.message);
    }
    return !status;
}

static void close_corpus(struct corpus *corpus)
{
    trellis_reader_close(corpus->reader);
    trellis_options_destroy(corpus->options);
}

static trellis_text cell(const trellis_sequence *sequence, size_t token, size_t column)
{
    return sequence->cells[token * sequence->columns + column];
}

/* Fails with the place and what stands there. */
static void blame(const struct corpus *corpus, size_t token, size_t column, const char *what)
{
    fail_msg("%s:%d: '%.*s' %s", corpus->path, (int)(corpus->sequence->line + token),
             TR_SHOW(cell(corpus->sequence, token, column)), what);
}

/* ---- data/english ---------------------------------------------------------------------------- */

static bool is_one_of(trellis_text text, const char *const *list)
{
    while (*list && !tr_text_is(text, *list)) {
        list++;
    }
    return *list;
}

static bool is_upos(trellis_text tag)
{
    static const char *const tags[] = {"ADJ",   "ADP",   "ADV", "AUX",  "CCONJ", "DET",
                                       "INTJ",  "NOUN",  "NUM", "PART", "PRON",  "PROPN",
                                       "PUNCT", "SCONJ", "SYM", "VERB", "X",     NULL};
    return is_one_of(tag, tags);
}

static bool is_entity(trellis_text label)
{
    static const char *const labels[] = {"O",     "B-PER", "I-PER",  "B-ORG",  "I-ORG",
                                         "B-LOC", "I-LOC", "B-MISC", "I-MISC", NULL};
    return is_one_of(label, labels);
}

static bool same_type(trellis_text a, trellis_text b)
{
    return a.size == b.size && memcmp(a.data + 1, b.data + 1, a.size - 1) == 0;
}

/* O, B-type, or I-type after B-type or I-type of the same type. */
static void check_iob2(const struct corpus *corpus, size_t token, size_t column)
{
    trellis_text label = cell(corpus->sequence, token, column);
    if (tr_text_is(label, "O")) {
        return;
    }
    if (label.size < 3 || (label.data[0] != 'B' && label.data[0] != 'I') || label.data[1] != '-') {
        blame(corpus, token, column, "is no IOB2 label");
    }
    if (label.data[0] == 'I' &&
        (token == 0 || !same_type(label, cell(corpus->sequence, token - 1, column)))) {
        blame(corpus, token, column, "continues no span");
    }
}

static void english_is_well_labelled(void **state)
{
    (void)state;
    size_t sentences = 0, tokens = 0, entities = 0;
    for (size_t s = 0; s < TR_COUNT(splits); s++) {
        struct corpus corpus = open_corpus("english", splits[s]);
        while (next(&corpus)) {
            assert_int_equal(corpus.sequence->columns, 4);
            sentences++;
            for (size_t i = 0; i < corpus.sequence->length; i++, tokens++) {
                for (size_t c = 0; c < 4; c++) {
                    if (cell(corpus.sequence, i, c).size == 0) {
                        blame(&corpus, i, c, "is empty");
                    }
                }
                if (!is_upos(cell(corpus.sequence, i, 1))) {
                    blame(&corpus, i, 1, "is no UPOS tag");
                }
                check_iob2(&corpus, i, 2);
                check_iob2(&corpus, i, 3);
                if (!is_entity(cell(corpus.sequence, i, 3))) {
                    blame(&corpus, i, 3, "is no kind of entity");
                }
                entities += cell(corpus.sequence, i, 3).data[0] == 'B';
            }
        }
        close_corpus(&corpus);
    }
    assert_true(sentences >= 400);
    assert_true(tokens >= 5000);
    assert_true(entities >= 100);
}

/* A sentence of the test in the training data would flatter. */
static void no_sentence_is_in_two_splits(void **state)
{
    (void)state;
    struct tr_intern seen = {0};
    struct tr_buffer words = {0};
    size_t split_of[10000];
    for (size_t s = 0; s < TR_COUNT(splits); s++) {
        struct corpus corpus = open_corpus("english", splits[s]);
        while (next(&corpus)) {
            words.size = 0;
            for (size_t i = 0; i < corpus.sequence->length; i++) {
                tr_buffer_text(&words, cell(corpus.sequence, i, 0));
                tr_buffer_char(&words, ' ');
            }
            size_t known = tr_intern_count(&seen);
            uint32_t number = tr_intern_add(&seen, (trellis_text){words.data, words.size});
            assert_true(number < TR_COUNT(split_of));
            if (number == known) {
                split_of[number] = s;
            } else if (split_of[number] != s) {
                fail_msg("%s:%d: '%.*s' is in %s too", corpus.path, (int)corpus.sequence->line,
                         (int)words.size, words.data, splits[split_of[number]]);
            }
        }
        close_corpus(&corpus);
    }
    tr_buffer_free(&words);
    tr_intern_free(&seen);
}

/* ---- data/acronyms --------------------------------------------------------------------------- */

/* The next sequence spells the expansion, and its I characters the acronym. */
static void check_acronym(struct corpus *corpus, const char *acronym, const char *expansion)
{
    assert_true(next(corpus));
    const trellis_sequence *sequence = corpus->sequence;
    assert_int_equal(sequence->columns, 2);
    size_t letter = 0, at = 0;
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text character = cell(sequence, i, 0), label = cell(sequence, i, 1);
        if (!tr_text_is(label, "I") && !tr_text_is(label, "O")) {
            blame(corpus, i, 1, "is neither I nor O");
        }
        assert_int_equal(character.size, 1); // the list is ASCII
        char expected = expansion[at] == ' ' ? '_' : (char)tolower(expansion[at]);
        if (character.data[0] != expected) {
            blame(corpus, i, 0, "does not spell the expansion");
        }
        at++;
        if (label.data[0] == 'I' && character.data[0] != tolower(acronym[letter++])) {
            blame(corpus, i, 0, "does not spell the acronym");
        }
    }
    if (expansion[at] || acronym[letter]) {
        fail_msg("%s:%d: '%s' (%s) is cut short", corpus->path, (int)sequence->line, expansion,
                 acronym);
    }
}

/* Line i of the list, from 0, is in dev where i ends in 8, in test where it ends in 9. */
static void acronyms_are_what_the_list_says(void **state)
{
    (void)state;
    struct corpus corpora[3];
    for (size_t s = 0; s < 3; s++) {
        corpora[s] = open_corpus("acronyms", splits[s]);
    }
    FILE *list = fopen("data/acronyms/acronyms.tsv", "r");
    assert_non_null(list);
    char line[1000];
    size_t count = 0;
    for (; fgets(line, sizeof line, list); count++) {
        line[strcspn(line, "\n")] = '\0';
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        *tab = '\0';
        size_t split = count % 10 == 8 ? 1 : count % 10 == 9 ? 2 : 0;
        check_acronym(&corpora[split], line, tab + 1);
    }
    fclose(list);
    assert_true(count >= 500);
    for (size_t s = 0; s < 3; s++) {
        assert_false(next(&corpora[s])); // no more than the list has
        close_corpus(&corpora[s]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(english_is_well_labelled),
        cmocka_unit_test(no_sentence_is_in_two_splits),
        cmocka_unit_test(acronyms_are_what_the_list_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
