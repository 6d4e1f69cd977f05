/* Every function of the template language against results worked out by hand. */
#include "features/helper.h"

#include "base/utf8.h"

static void test_case(void **state)
{
    (void)state;
    check_word("lower(word)", "McDonald", "lower(word[0])=mcdonald");
    check_word("upper(word)", "straße-é", "upper(word[0])=STRAẞE-É");
    check_word("lower(word)", "ÉCOLE", "lower(word[0])=école");
    check_word("upper(lower(word))", "aBc", "upper(lower(word[0]))=ABC");
}

static void test_affixes(void **state)
{
    (void)state;
    check_word("prefix(word,1..4)", "cat",
               "prefix(word[0],1)=c ; prefix(word[0],2)=ca ; prefix(word[0],3)=cat");
    check_word("suffix(word,1..4)", "cat",
               "suffix(word[0],1)=t ; suffix(word[0],2)=at ; suffix(word[0],3)=cat");
    check_word("suffix(word,1 3)", "going", "suffix(word[0],1)=g ; suffix(word[0],3)=ing");
    check_word("prefix(word,2)", "été", "prefix(word[0],2)=ét");
    check_word("suffix(word,2)", "été", "suffix(word[0],2)=té");
    check_word("suffix(word,1)", "ok😀", "suffix(word[0],1)=😀");
    check_word("prefix(word,2)", "e\xCC\x81t", "prefix(word[0],2)=e\xCC\x81"); // a combining accent
    check_word("prefix(word,1)", "\xFFx", "prefix(word[0],1)=\xFF");           // not UTF-8
    check_word("suffix(word,1)", "x\xC3", "suffix(word[0],1)=\xC3");
    check_word("prefix(lower(word),2)", "ABC", "prefix(lower(word[0]),2)=ab");
}

static void test_shapes(void **state)
{
    (void)state;
    check_word("shape(word)", "McDonald's-9", "shape(word[0])=XxXxxxxx'x-d");
    check_word("shortshape(word)", "McDonald's-9", "shortshape(word[0])=XxXx'x-d");
    check_word("shortshape(word)", "1,234.56%", "shortshape(word[0])=d,d.d%");
    check_word("shape(word)", "Été東", "shape(word[0])=Xxxo");
    check_word("shape(word)", "E\xCC\x81t",
               "shape(word[0])=Xx"); // the accent belongs to its letter
    check_word("shape(word)", "😀", "shape(word[0])=😀");
    check_word("shape(word)", "a\xFFz", "shape(word[0])=xx");
}

static void test_other_texts(void **state)
{
    (void)state;
    check_word("length(word)", "été", "length(word[0])=3");
    check_word("length(word)", "\xFF\xFE", "length(word[0])=2");
    check_word("digits(word)", "A-320/12", "digits(word[0])=A-000/00");
    check_word("digits(word)", "٣x", "digits(word[0])=0x");
    check_word("suffix(digits(word),2)", "A-321", "suffix(digits(word[0]),2)=00");
}

/* The word passes `yes` and fails `no`, both lists of test names separated by blanks. */
static void check_tests(const char *word, const char *yes)
{
    static const char *const tests[] = {"isupper",  "allcaps",   "capitalised", "mixedcase",
                                        "hasdigit", "alldigits", "hashyphen",   "haspunct",
                                        "allpunct", "isnumber"};
    char text[1000] = "columns word\n", expected[1000] = "";
    for (size_t i = 0; i < TR_COUNT(tests); i++) {
        char padded[100], passed[300];
        snprintf(padded, sizeof padded, " %s ", tests[i]);
        snprintf(passed, sizeof passed, " %s ", yes);
        snprintf(text + strlen(text), sizeof text - strlen(text), "node %s(word)\n", tests[i]);
        if (strstr(passed, padded)) {
            snprintf(expected + strlen(expected), sizeof expected - strlen(expected),
                     "%s%s(word[0])", expected[0] ? " ; " : "", tests[i]);
        }
    }
    check(text, word, 0, expected);
}

static void test_tests(void **state)
{
    (void)state;
    check_tests("word", "");
    check_tests("Word", "isupper capitalised");
    check_tests("W", "isupper allcaps");
    check_tests("U.S.", "isupper allcaps haspunct");
    check_tests("McDonald", "isupper mixedcase");
    check_tests("iPhone", "mixedcase");
    check_tests("École", "isupper capitalised");
    check_tests("ÉCOLE", "isupper allcaps");
    check_tests("1999", "hasdigit alldigits isnumber");
    check_tests("1,234.5", "hasdigit haspunct isnumber");
    check_tests("12%", "hasdigit haspunct isnumber");
    check_tests("-.5", "hasdigit hashyphen haspunct isnumber");
    check_tests("+3", "hasdigit haspunct isnumber");
    check_tests("3.", "hasdigit haspunct");
    check_tests("3..4", "hasdigit haspunct");
    check_tests(",3", "hasdigit haspunct");
    check_tests("%", "haspunct allpunct");
    check_tests("-", "hashyphen haspunct allpunct");
    check_tests("well-known", "hashyphen haspunct");
    check_tests("non‑break", "hashyphen haspunct"); // U+2011
    check_tests("$", "haspunct allpunct");
    check_tests("東", "");
    check_tests("\xFF", "");
}

static void test_regexes(void **state)
{
    (void)state;
    check_word("match(word,/[0-9]+/)", "ab12cd", "match(word[0],/[0-9]+/)=12");
    check_word("match(word,/[0-9]+/)", "abcd", "");
    check_word("match(word,/^(.)x/)", "éx", "match(word[0],/^(.)x/)=é");
    check_word("match(word,/^(a)?b/)", "b", "match(word[0],/^(a)?b/)=b"); // group 1 took no part
    check_word("match(word, /a\\/b/)", "a/b", "match(word[0],/a\\/b/)=a/b");
    check_word("test(word,/^\\p{Lu}/)", "École", "test(word[0],/^\\p{Lu}/)");
    check_word("test(word,/^\\p{Lu}/)", "école", "");
    check_word("test(word,/b/)",
               "a\xFF"
               "b",
               "test(word[0],/b/)"); // around a stray byte
    check_word("test(word,/#/) # a comment", "#", "test(word[0],/#/)");
    /* An expression with exponential running time gives no match within the limit. */
    check_word("test(word,/^(a+)+$/)", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "");
}

static void test_positions(void **state)
{
    (void)state;
    const char *text = "columns word\nnode first\nnode last\nnode position\nnode bias\n";
    check(text, "a\nb\nc", 0, "first ; position=0 ; bias");
    check(text, "a\nb\nc", 1, "position=1 ; bias");
    check(text, "a\nb\nc", 2, "last ; position=2 ; bias");
    check(text, "a", 0, "first ; last ; position=0 ; bias");
    const char *long_one = "a\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na";
    check("node position", long_one, 4, "position=4");
    check("node position", long_one, 5, "position=5-9");
    check("node position", long_one, 19, "position=10-19");
    check("node position", long_one, 20, "position=20+");
    check("node first[-1]\nnode last[1]\nnode bos\nnode eos", "a\nb\nc", 1, "first[-1] ; last[1]");
    check("node position[-1]", "a\nb", 1, "position[-1]=0");
}

static void test_help(void **state)
{
    (void)state;
    assert_non_null(strstr(trellis_features_help(), "shortshape(x)\n"));
    assert_null(strstr(trellis_features_help(), "%t"));
    assert_int_equal(tr_function_find(TR_TEXT("")), TR_OP_COUNT);
}

/* ---- long cells ------------------------------------------------------------------------------ */

/* All functions that every column can have, and the tests; `whole` of a long cell must give what it
 * gives of the two ends of it. */
static const char all_functions[] =
    "columns word\nnode lower(word)\nnode upper(word)\nnode digits(word)\n"
    "node prefix(lower(word),1..4)\nnode suffix(upper(word),1..4)\nnode shape(word)\n"
    "node shortshape(word)\nnode length(word)\nnode match(word,/[0-9]+/)\n"
    "node match(word,/.{3}$/)\nnode test(word,/^a.*z$/)\nnode isupper(word)\n"
    "node allcaps(word)\nnode hasdigit(word)\nnode hashyphen(word)\nnode haspunct(word)\n"
    "node isnumber(word)\nstep start end\n";

static void functions_see_the_ends_of_a_long_cell(void **state)
{
    (void)state;
    static const char *const middles[] = {"é", "\xF0\x9F\x98\x80", "\x80", "ab", "-9A"};
    trellis_features *features;
    assert_int_equal(trellis_features_parse(tr_text(all_functions), NULL, NULL, 0, &features, NULL),
                     TRELLIS_OK);
    size_t size = 3 << 20, from_plain = 0;
    char *cell = malloc(size), *ends = malloc(2 * TR_SEEN_BYTES);
    for (size_t m = 0; m < TR_COUNT(middles); m++) {
        size_t n = strlen(middles[m]);
        for (size_t i = 0; i < size; i++) {
            cell[i] = i <= m ? 'a' : middles[m][(i - m - 1) % n];
        }
        cell[size - 1] = 'z';
        struct tr_evaluation whole = {0}, part = {0};
        assert_true(tr_evaluation_begin(&whole, features) && tr_evaluation_begin(&part, features));
        trellis_text long_cell = {cell, size}, seen = tr_seen_of_cell(&whole, long_cell);
        /* No character is cut, and no more than one is missing at each side of the cut. */
        assert_in_range(seen.size, 2 * TR_SEEN_BYTES - 6, 2 * TR_SEEN_BYTES);
        size_t first = TR_SEEN_BYTES - 3;
        assert_memory_equal(seen.data, cell, first);
        assert_memory_equal(seen.data + seen.size - first, cell + size - first, first);
        bool is_utf8 = m != 2;
        assert_true(!is_utf8 ||
                    tr_utf8_invalid((trellis_text){seen.data, seen.size - 8}) > seen.size - 12);
        memcpy(ends, seen.data, seen.size);
        trellis_text short_cell = {ends, seen.size};
        for (uint32_t v = 0; v < features->views.size; v++) {
            trellis_text a = {0}, b = {0};
            bool has = tr_view_text(&whole, v, long_cell, &a);
            assert_int_equal(has, tr_view_text(&part, v, short_cell, &b));
            if (features->views.at[v].operation == TR_OP_COLUMN) {
                assert_int_equal(a.size, size); // the cell itself is whole
                from_plain++;
                continue;
            }
            assert_true(!has || (a.size == b.size && memcmp(a.data, b.data, a.size) == 0));
        }
        for (size_t i = 0; i < TR_COUNT(whole.scratch); i++) { // upper case may be longer
            assert_true(whole.scratch[i].size <= 4 * TR_SEEN_BYTES);
        }
        tr_evaluation_end(&whole);
        tr_evaluation_end(&part);
    }
    assert_int_equal(from_plain, TR_COUNT(middles));
    free(cell);
    free(ends);
    trellis_features_destroy(features);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case),
        cmocka_unit_test(test_affixes),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_other_texts),
        cmocka_unit_test(test_tests),
        cmocka_unit_test(test_regexes),
        cmocka_unit_test(test_positions),
        cmocka_unit_test(test_help),
        cmocka_unit_test(functions_see_the_ends_of_a_long_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
