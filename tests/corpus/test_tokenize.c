/* test_tokenize.c - running text: tokens, sentences, agreement with the bundled corpus, and
 * arbitrary bytes. */
#include "corpus/corpus_test.h"

#include "base/utf8.h"
#include "corpus/tokenize.h"

/* The tokens of a text, with a blank between them and " | " between sentences; the caller frees
 * it. */
static char *cut_by(enum tr_tokenizer tokenizer, trellis_text text)
{
    char *breaks = calloc(text.size + 1, 1);
    assert_non_null(breaks);
    tr_unicode_breaks(text, breaks);
    struct tr_prose prose = {.tokenizer = tokenizer, .breaks = breaks, .text = text};
    struct tr_token token = {.last = true};
    struct tr_buffer shown = {0};
    bool first = true;
    for (bool was_last = false; tr_prose_next(&prose, &token); was_last = token.last) {
        tr_buffer_string(&shown, first ? "" : was_last ? " | " : " ");
        tr_buffer_text(&shown, token.text);
        first = false;
    }
    assert_true(token.last);
    tr_buffer_char(&shown, '\0');
    assert_false(shown.failed);
    free(breaks);
    return shown.data;
}

static char *cut(trellis_text text)
{
    return cut_by(TR_TOKENIZE_ENGLISH, text);
}

static void check_cuts_by(enum tr_tokenizer tokenizer, const char *const (*cases)[2], size_t count)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++) {
        char *shown = cut_by(tokenizer, tr_text(cases[i][0]));
        if (strcmp(shown, cases[i][1]) != 0) {
            print_error("text      %s\nexpected  %s\nfound     %s\n", cases[i][0], cases[i][1],
                        shown);
            failed++;
        }
        free(shown);
    }
    assert_int_equal(failed, 0);
}

static void check_cuts(const char *const (*cases)[2], size_t count)
{
    check_cuts_by(TR_TOKENIZE_ENGLISH, cases, count);
}

static void romance(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"L'homme qu'il a vu aujourd'hui.", "L' homme qu' il a vu aujourd'hui ."},
        {"QU\u2019EN dit-on jusqu\u2019\u00E0 l\u2019an 2000 ?",
         "QU\u2019 EN dit -on jusqu\u2019 \u00E0 l\u2019 an 2000 ?"},
        {"Qu'a-t-il dit ? Est-ce vrai ?", "Qu' a -t-il dit ? | Est -ce vrai ?"},
        {"Un rendez-vous avec quelqu'un, c'est-\u00E0-dire O'Brien.",
         "Un rendez-vous avec quelqu'un , c'est-\u00E0-dire O'Brien ."},
        {"l'\u00AB Etat \u00BB d'\"ici\"", "l' \u00AB Etat \u00BB d' \" ici \""},
        {"10 000 euros, 1\u00A0500 mg/kg, 3,5 %, 12/05/2019",
         "10 000 euros , 1\u00A0500 mg / kg , 3,5 % , 12/05/2019"},
        {"\u00E0 10h30 ou 15h, n\u00B0 5, 25 \u00B0C",
         "\u00E0 10 h 30 ou 15 h , n\u00B0 5 , 25 \u00B0C"},
        {"M. J.-P. Dupont, etc. Il part. Elle reste.",
         "M. J.-P. Dupont , etc. Il part . | Elle reste ."},
        /* an abbreviation before a number, a title, an initial, and the same words at an end */
        {"Voir art. 5 et p.  7.", "Voir art. 5 et p. 7 ."},
        {"C'est de l'art. Il part.", "C' est de l' art . | Il part ."},
        {"Le n. est blanc.", "Le n . est blanc ."},
        {"Page 5n. a, vol. x", "Page 5n . a , vol . x"},
        {"Mme. Blanc et K. Vu. Le Dr. ", "Mme. Blanc et K. Vu . | Le Dr ."},
        {"Plan B.", "Plan B ."},
        {"Dell'arte, un'altra e all'una.", "Dell' arte , un' altra e all' una ."},
        {"autre(s) www.ici.fr a@b.fr", "autre(s) www.ici.fr a@b.fr"},
    };
    check_cuts_by(TR_TOKENIZE_ROMANCE, cases, TR_COUNT(cases));
}

static void other_tokenizers(void **state)
{
    (void)state;
    static const char *const unicode[][2] = {
        {"", ""},
        {"The quick (\u201Cbrown\u201D) fox can\u2019t jump 32.3 feet, right?",
         "The quick ( \u201C brown \u201D ) fox can\u2019t jump 32.3 feet , right ?"}, // of UAX #29
        {"Sie ging. Er blieb.", "Sie ging . | Er blieb ."},
        {"\u043E\u043D \u0436\u0438\u0432\u0451\u0442",
         "\u043E\u043D \u0436\u0438\u0432\u0451\u0442"},
        {"\u5B83\u3002\u4ED6", "\u5B83 \u3002 | \u4ED6"},
    };
    check_cuts_by(TR_TOKENIZE_UNICODE, unicode, TR_COUNT(unicode));
    static const char *const blanks[][2] = {
        {"", ""},
        {" a,b  c.\tD e\u00A0f ", "a,b c. D e f"},
    };
    check_cuts_by(TR_TOKENIZE_WHITESPACE, blanks, TR_COUNT(blanks));
}

/* Any bytes: every tokeniser drops blanks only, and ends. */
static void any_bytes(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int trial = 0; trial < 3000; trial++) {
        static const char alphabet[] = "aAlLqud'\xE2\x80\x99-. /(s)h0123\xC2\xB0\xA0\xFF\xE3\n!";
        char bytes[40];
        size_t size = (size_t)trial % sizeof bytes, kept;
        for (size_t i = 0; i < size; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = alphabet[(random >> 33) % (sizeof alphabet - 1)];
        }
        for (int tokenizer = 0; tokenizer <= TR_TOKENIZE_UNICODE; tokenizer++) {
            trellis_text text = {bytes, size};
            char breaks[sizeof bytes + 1] = {0};
            tr_unicode_breaks(text, breaks);
            struct tr_prose prose = {
                .tokenizer = (enum tr_tokenizer)tokenizer, .breaks = breaks, .text = text};
            struct tr_token token;
            kept = 0;
            while (tr_prose_next(&prose, &token)) {
                assert_true(token.text.size > 0);
                kept += token.text.size;
            }
            assert_true(kept <= size);
        }
    }
}

static void tokens(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {" \t\n ", ""},
        {"The cat sat.", "The cat sat ."},
        /* contractions */
        {"I don't, can't, won't.", "I do n't , ca n't , wo n't ."},
        {"it's we'll John's I'm they've he'd you're",
         "it 's we 'll John 's I 'm they 've he 'd you 're"},
        {"IT'S SHE'LL DON'T CANNOT", "IT 'S SHE 'LL DO N'T CAN NOT"},
        {"it\u2019s don\u2019t we\u2019ll", "it \u2019s do n\u2019t we \u2019ll"},
        {"shouldn't've, I'd've", "should n't 've , I 'd 've"},
        {"do n't it 's we 'll ca n't", "do n't it 's we 'll ca n't"},
        {"O'Brien's d'Huez, L'\u00C9quipe at two o'clock, ma'am",
         "O'Brien 's d'Huez , L'\u00C9quipe at two o'clock , ma'am"},
        {"the dogs' bowls, the 1990's and the '90s", "the dogs ' bowls , the 1990 's and the '90s"},
        {"get 'em, 'Tis \u2019til", "get 'em , 'Tis \u2019til"},
        {"my mother-in-law's U.S.'s", "my mother-in-law 's U.S. 's"},
        /* quotes and brackets */
        {"\"Well,\" he said.", "\" Well , \" he said ."},
        {"\u201CWell,\u201D he said, \u2018no\u2019.",
         "\u201C Well , \u201D he said , \u2018 no \u2019 ."},
        {"'Hello,' said 'he'", "' Hello , ' said ' he '"},
        {"``Penn'' and \u00ABGuillemets\u00BB", "`` Penn '' and \u00AB Guillemets \u00BB"},
        {"(see [1] and {x})", "( see [ 1 ] and { x } )"},
        /* dots and dashes */
        {"Well... he left\u2026 so", "Well ... he left \u2026 so"},
        {"this--that \u2014 a\u2014b, 1990\u20131995",
         "this -- that \u2014 a \u2014 b , 1990 \u2013 1995"},
        {"well-known 19-year-old X-ray, up - down", "well-known 19-year-old X-ray , up - down"},
        {"What?! Yes!!", "What ? ! | Yes ! !"},
        /* numbers */
        {"$60 30% \u00A32.4m \u20AC3", "$ 60 30 % \u00A3 2.4m \u20AC 3"},
        {"1,234.5 at 10:30 on 12/05/2019.", "1,234.5 at 10:30 on 12/05/2019 ."},
        {"won 3-1, -5 and .50, +2", "won 3-1 , -5 and .50 , +2"},
        {"one, two,three:four 1,2 and 1, 2", "one , two , three : four 1,2 and 1 , 2"},
        {"in 1990. 5 men", "in 1990 . | 5 men"},
        {"and/or AT&T, Merrow & Sons", "and/or AT&T , Merrow & Sons"},
        /* abbreviations */
        {"Mr. and Mrs. Smith of St. Ives", "Mr. and Mrs. Smith of St. Ives"},
        {"apples, etc., i.e. fruit (e.g. pears)", "apples , etc. , i.e. fruit ( e.g. pears )"},
        {"at 5 p.m. in the U.S. and the U.K.", "at 5 p.m. in the U.S. and the U.K."},
        {"John F. Kennedy and J. R. R. Tolkien", "John F. Kennedy and J. R. R. Tolkien"},
        {"So am I.", "So am I ."},
        {"\"It was plan B.\"", "\" It was plan B . \""},
        {"No. 5, but no.", "No. 5 , but no ."},
        {"Acme Inc. v. Smith Co. Ltd.", "Acme Inc. v. Smith Co. Ltd."},
        {"a U.S.-based, non-U.S. firm with a Ph.D.", "a U.S.-based , non-U.S. firm with a Ph.D."},
        {"Mr. \u00C9. Zola", "Mr. \u00C9. Zola"},
        /* addresses */
        {"See http://example.org/a,b?c=d&e=f#g, or www.example.org.",
         "See http://example.org/a,b?c=d&e=f#g , or www.example.org ."},
        {"(https://en.wikipedia.org/wiki/C_(x)), (ftp://a.b/)",
         "( https://en.wikipedia.org/wiki/C_(x) ) , ( ftp://a.b/ )"},
        {"Write to a.b+c@example.co.uk. <x@y.de>", "Write to a.b+c@example.co.uk . < x@y.de >"},
        {"www. http:// a@b @", "www . http : / / a @ b @"},
        /* beyond ASCII */
        {"Caf\u00E9, na\u00EFve; \u041C\u043E\u0441\u043A\u0432\u0430!",
         "Caf\u00E9 , na\u00EFve ; \u041C\u043E\u0441\u043A\u0432\u0430 !"},
        {"cafe\u0301\u00A0noir,\u3000fin", "cafe\u0301 noir , fin"},
        {"Nice\U0001F600\U0001F600 ok\U0001F44D\U0001F3FD",
         "Nice \U0001F600 \U0001F600 ok \U0001F44D\U0001F3FD"},
        {"\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7 \U0001F468\u200D\U0001F469\u200D\U0001F467 \u2764\uFE0F!",
         "\U0001F1E9\U0001F1EA \U0001F1EB\U0001F1F7 \U0001F468\u200D\U0001F469\u200D\U0001F467 \u2764\uFE0F !"},
        {"\u00BFQu\u00E9? \u00A1No!", "\u00BF Qu\u00E9 ? | \u00A1 No !"},
        {"a\xFF"
         "b \xC3.",
         "a\xFF"
         "b \xC3 ."},
    };
    check_cuts(cases, TR_COUNT(cases));
}

static void sentences(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"He came. She left.", "He came . | She left ."},
        {"He came. she left.", "He came . she left ."},
        {"Why? Because! 3 men ran.", "Why ? | Because ! | 3 men ran ."},
        {"\"Why?\" he said. \"So.\" She left.", "\" Why ? \" he said . | \" So . \" | She left ."},
        {"\u201CGo.\u201D \u2018Now.\u2019 (It was late.) \u00ABOui.\u00BB",
         "\u201C Go . \u201D | \u2018 Now . \u2019 | ( It was late . ) | \u00AB Oui . \u00BB"},
        {"Mr. Smith met Dr. Jones. Col. Ives left.",
         "Mr. Smith met Dr. Jones . | Col. Ives left ."},
        {"It is in the U.S. The war is over.", "It is in the U.S. | The war is over ."},
        {"The U.S. Army left on Jan. 5 at 9 a.m. Monday.",
         "The U.S. Army left on Jan. 5 at 9 a.m. Monday ."},
        {"Pears, etc. It's late. Acme Inc. It failed.",
         "Pears , etc. | It 's late . | Acme Inc. | It failed ."},
        {"(Pears, etc.) \"But no.\"", "( Pears , etc. ) | \" But no . \""},
        {"Plan B. The end. John F. Kennedy.", "Plan B . | The end . | John F. Kennedy ."},
        {"A. I. Smith met A. Jones. No. I won't.",
         "A. I. Smith met A. Jones . | No . | I wo n't ."},
        {"Well... Then he left... and so on.", "Well ... | Then he left ... and so on ."},
        {"What?! No!!! Yes.", "What ? ! | No ! ! ! | Yes ."},
        {"It fell. $5 was lost. (See there.) [1] is it.",
         "It fell . | $ 5 was lost . | ( See there . ) | [ 1 ] is it ."},
        {"Yahoo!'s site. Go to a.b.Next one.", "Yahoo ! 's site . | Go to a.b.Next one ."},
        {"\" They like it . \" He left .", "\" They like it . \" | He left ."},
        {"He left . \" They like it . \"", "He left . | \" They like it . \""},
        {"`` So . '' He left . ( Yes . ) No .", "`` So . '' | He left . | ( Yes . ) | No ."},
        {"\u00C9mile vint. \u00C9t\u00E9 vint. \u05D0 \u05D1. \u05D2.",
         "\u00C9mile vint . | \u00C9t\u00E9 vint . | \u05D0 \u05D1 . | \u05D2 ."},
        {"No end", "No end"},
        {"... . .", "... . ."},
    };
    check_cuts(cases, TR_COUNT(cases));
}

static void lines_and_paragraphs(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        /* a line break is a blank, a blank line is an end */
        {"one\ntwo\n\nthree\n", "1: one two\n4: three\n"},
        {"\n \n\t\none\r\ntwo\r\n \r\nthree", "4: one two\n7: three\n"},
        /* a line that ends with . ! ? ends a sentence, whatever comes */
        {"It rains.\nso what?\nyes!\"\n(no.)\nend\n",
         "1: It rains .\n2: so what ?\n3: yes ! \"\n4: ( no . )\n5: end\n"},
        {"pre-cut , too . \"\nand on\n", "1: pre-cut , too . \"\n2: and on\n"},
        {"at 5 p.m.\nplan B.\nx\u2026\ny", "1: at 5 p.m.\n2: plan B .\n3: x \u2026\n4: y\n"},
        /* ... but not after a title */
        {"I saw Mr.\nSmith, i.e.\nhim.  \nYes.", "1: I saw Mr. Smith , i.e. him .\n4: Yes .\n"},
        {"(Dr.)\n\nYes", "1: ( Dr. )\n3: Yes\n"},
        /* a sentence is where its first word is */
        {"One is\nhere. Two is\n\there. Three\nis too.\nFour\n",
         "1: One is here .\n2: Two is here .\n3: Three is too .\n5: Four\n"},
        {"a.  \n  B. The\nend", "1: a .\n2: B .\n2: The end\n"},
        {"\xEF\xBB\xBFOne. Two.", "1: One .\n1: Two .\n"},
    };
    for (size_t i = 0; i < TR_COUNT(cases); i++) {
        check_read(cases[i][0], strlen(cases[i][0]), "format=text", cases[i][1]);
    }
    check_read(BYTES("a\xFF. B\n"), "format=text invalid-utf8=keep", "1: a\xFF .\n1: B\n");
}

/* ---- agreement with data/english ------------------------------------------------------------- */

static bool is_any(trellis_text word, const char *list)
{
    char padded[16];
    return word.size < 8 && snprintf(padded, sizeof padded, " %.*s ", TR_SHOW(word)) > 0 &&
           strstr(list, padded);
}

/* Words with normal spacing. */
static void write_out(struct tr_buffer *to, const trellis_sequence *s)
{
    bool quoted = false, open = true;
    for (size_t i = 0; i < s->length; i++) {
        trellis_text word = s->cells[i * s->columns];
        bool quote = tr_text_is(word, "\"");
        bool closes = quote ? quoted
                            : is_any(word, " . , ; : ? ! ) % n't 's 'll 're 'm 've 'd N'T 'S ");
        if (!open && !closes) {
            tr_buffer_char(to, ' ');
        }
        tr_buffer_text(to, word);
        open = quote ? !quoted : is_any(word, " $ \u00A3 \u20AC ( ");
        quoted ^= quote;
    }
}

static void join(struct tr_buffer *to, const trellis_sequence *s)
{
    for (size_t i = 0; i < s->length; i++) {
        tr_buffer_string(to, i ? " " : "");
        tr_buffer_text(to, s->cells[i * s->columns]);
    }
}

/* How many sentences of a file are restored as one sentence from the text that `write` makes of
 * them. */
static void agreement(const char *path, void (*write)(struct tr_buffer *, const trellis_sequence *),
                      const char *how, double least)
{
    trellis_reader *reader;
    const trellis_sequence *sequence;
    size_t same = 0, all = 0;
    assert_int_equal(trellis_reader_open(path, NULL, &reader, NULL), TRELLIS_OK);
    while (trellis_reader_next(reader, &sequence, NULL) == TRELLIS_OK) {
        struct tr_buffer text = {0}, expected = {0};
        write(&text, sequence);
        join(&expected, sequence);
        tr_buffer_char(&expected, '\0');
        char *found = cut((trellis_text){text.data, text.size});
        all++;
        if (strcmp(found, expected.data) == 0) {
            same++;
        } else {
            print_message("expected  %s\nfound     %s\n", expected.data, found);
        }
        free(found);
        tr_buffer_free(&text);
        tr_buffer_free(&expected);
    }
    trellis_reader_close(reader);
    print_message("%s, %s: %zu of %zu sentences, %.2f %%\n", path, how, same, all,
                  100.0 * (double)same / (double)all);
    assert_true(all > 0 && (double)same >= least * (double)all);
}

static void agrees_with_the_corpus(void **state)
{
    (void)state;
    agreement("data/english/test.conll", write_out, "written out", 0.97);
    agreement("data/english/train.conll", write_out, "written out", 0.97);
    agreement("data/english/test.conll", join, "already cut", 0.97);
}

/* The whole test set as one line after the other, and as one line. */
static void agrees_on_sentences(void **state)
{
    (void)state;
    const char separators[] = {'\n', ' '};
    for (size_t k = 0; k < TR_COUNT(separators); k++) {
        trellis_reader *reader;
        const trellis_sequence *sequence;
        struct tr_buffer text = {0};
        size_t all = 0, found = 0;
        assert_int_equal(trellis_reader_open("data/english/test.conll", NULL, &reader, NULL),
                         TRELLIS_OK);
        for (; trellis_reader_next(reader, &sequence, NULL) == TRELLIS_OK; all++) {
            write_out(&text, sequence);
            tr_buffer_char(&text, separators[k]);
        }
        trellis_reader_close(reader);
        char *path = make_file(text.data, text.size, "");
        char *shown = show_file(path, "format=text");
        for (char *at = shown; (at = strchr(at, '\n')); at++) {
            found++;
        }
        print_message("%zu sentences, read back as %zu from %s\n", all, found,
                      k ? "one line" : "lines");
        assert_in_range(found, all - all / 33, all + all / 33);
        free(shown);
        drop_file(path);
        tr_buffer_free(&text);
    }
}

/* ---- any bytes ------------------------------------------------------------------------------- */

/* Tokens are in order, none is empty or has a blank at its ends, and only blanks are left out. */
static void check_any(enum tr_tokenizer tokenizer, trellis_text text)
{
    char *breaks = calloc(text.size + 1, 1);
    assert_non_null(breaks);
    if (tokenizer == TR_TOKENIZE_UNICODE) {
        tr_unicode_breaks(text, breaks);
    }
    struct tr_prose prose = {.tokenizer = tokenizer, .breaks = breaks, .text = text};
    struct tr_token token = {.last = true};
    size_t at = 0;
    while (tr_prose_next(&prose, &token)) {
        size_t begin = (size_t)(token.text.data - text.data);
        assert_true(token.text.size > 0 && begin >= at && prose.at == begin + token.text.size);
        while (at < begin) {
            int32_t code = tr_utf8_next(text, &at);
            assert_true((code >= '\t' && code <= '\r') || tr_utf8_class(code) == TR_SPACE);
        }
        at = prose.at;
    }
    assert_true(token.last);
    tr_prose_ends_line(tokenizer, text);
    free(breaks);
}

static const enum tr_tokenizer tokenizers[] = {TR_TOKENIZE_ENGLISH, TR_TOKENIZE_ROMANCE,
                                               TR_TOKENIZE_WHITESPACE, TR_TOKENIZE_UNICODE};

static const char *const parts[] = {
    " ",        "\n",         ".",      "...",
    "!",        "?",          "\"",     "'",
    "''",       "``",         "\u2019", "\u201D",
    ")",        "(",          "-",      "--",
    ",",        ":",          "/",      "&",
    "@",        "$",          "%",      "http://",
    "www.",     "a",          "B",      "s",
    "n't",      "ll",         "7",      "42",
    "Mr",       "U.S",        "cannot", "The",
    "etc",      "\u00E9",     "\u0301", "\U0001F600",
    "\u200D",   "\U0001F1E9", "\xC3",   "\xFF",
    "\xF0\x9F", "\u00A0",     "l'",     "h1",
    "1h",       "-le",        "(s)",    "c'est-à-dire",
    "n°",
};

static uint64_t next_random(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return *random >> 20;
}

/* Random parts, or random non-zero bytes, in a block of exactly that size, so that a read beyond it
 * is detected. */
static trellis_text make_any(uint64_t *random, size_t count, bool whole)
{
    struct tr_buffer text = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t value = next_random(random);
        if (whole) {
            tr_buffer_string(&text, parts[value % TR_COUNT(parts)]);
        } else {
            tr_buffer_char(&text, (char)(value % 255 + 1));
        }
    }
    char *exact = malloc(text.size);
    memcpy(exact, text.data, text.size);
    tr_buffer_free(&text);
    return (trellis_text){exact, text.size};
}

static void any_bytes_are_accepted(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (int round = 0; round < 40000; round++) {
        trellis_text text = make_any(&random, 30, round % 2);
        for (size_t i = 0; i < TR_COUNT(tokenizers); i++) {
            check_any(tokenizers[i], text);
        }
        free((char *)text.data);
    }
}

/* The characters of a text other than blanks. */
static void add_marks(struct tr_buffer *to, trellis_text text)
{
    for (size_t at = 0, begin = 0; at < text.size; begin = at) {
        int32_t code = tr_utf8_next(text, &at);
        if (!(code >= '\t' && code <= '\r') && tr_utf8_class(code) != TR_SPACE) {
            tr_buffer_add(to, text.data + begin, at - begin);
        }
    }
}

/* The reader loses nothing at the ends of paragraphs and sentences, and its line numbers
 * increase. */
static void files_are_read_completely(void **state)
{
    (void)state;
    uint64_t random = 1234567891011u;
    trellis_options *options = make_options("format=text invalid-utf8=keep");
    for (int round = 0; round < 400; round++) {
        trellis_text text = make_any(&random, 2000, round % 2);
        struct tr_buffer expected = {0}, found = {0};
        char *path = make_file(text.data, text.size, "");
        trellis_reader *reader;
        const trellis_sequence *sequence;
        uint64_t line = 1;
        assert_int_equal(trellis_reader_open(path, options, &reader, NULL), TRELLIS_OK);
        while (trellis_reader_next(reader, &sequence, NULL) == TRELLIS_OK) {
            assert_true(sequence->line >= line && sequence->length > 0);
            line = sequence->line;
            for (size_t i = 0; i < sequence->length; i++) {
                tr_buffer_text(&found, sequence->cells[i]);
            }
        }
        add_marks(&expected, text);
        assert_int_equal(found.size, expected.size);
        assert_memory_equal(found.data, expected.data, found.size);
        trellis_reader_close(reader);
        drop_file(path);
        tr_buffer_free(&expected);
        tr_buffer_free(&found);
        free((char *)text.data);
    }
    trellis_options_destroy(options);
}

/* A megabyte of text on which a careless tokenizer would take quadratic time and exceed the time
 * limit of the tests. */
static void time_is_linear(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "a",       "'s",   "a's", "a.",  "a%",         "'",      ".",    ")",    ".)",
        "www.",    "a://", "a@",  "B. ", "No. ",       "\"",     "I.\"", "(",    "' a",
        "\u2019a", " ",    "-",   "n't", "\U0001F1E9", "\u0301", "A.B",  "a@b.", "B.\u201C",
        "a/",      "l'",   "h1",  "1h1", "-le",        "100 ",   "l'a-", "a/-a", "c'est-"};
    enum { SIZE = 1 << 20 };
    char *data = malloc(SIZE);
    for (size_t i = 0; i < TR_COUNT(pieces); i++) {
        size_t length = strlen(pieces[i]), size = SIZE - SIZE % length;
        for (size_t at = 0; at < size; at += length) {
            memcpy(data + at, pieces[i], length);
        }
        for (size_t j = 0; j < TR_COUNT(tokenizers); j++) {
            check_any(tokenizers[j], (trellis_text){data, size});
        }
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(romance),
        cmocka_unit_test(other_tokenizers),
        cmocka_unit_test(any_bytes),
        cmocka_unit_test(tokens),
        cmocka_unit_test(sentences),
        cmocka_unit_test(lines_and_paragraphs),
        cmocka_unit_test(agrees_with_the_corpus),
        cmocka_unit_test(agrees_on_sentences),
        cmocka_unit_test(any_bytes_are_accepted),
        cmocka_unit_test(files_are_read_completely),
        cmocka_unit_test(time_is_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
