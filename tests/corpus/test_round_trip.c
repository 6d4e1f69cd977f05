/* test_round_trip.c - properties of random sequences in every format: what a writer accepts, a
 * reader gives back cell by cell, and what it gave back is written to the same bytes. A writer
 * refuses only what the format cannot represent.
 *
 * ROUND_TRIP_CASES says how many sequences; a failure names the seed of its sequence.
 */
#include "base/random.h"
#include "corpus/corpus_test.h"

enum { MAX_LENGTH = 5, MAX_COLUMNS = 3, MAX_ATTRIBUTES = 12, TEXTS = 64 };

/* A sequence with room for all it may have. */
struct random_sequence {
    struct tr_random random;
    char bytes[TEXTS][40];
    size_t used;
    trellis_text cells[MAX_LENGTH * MAX_COLUMNS], labels[MAX_LENGTH];
    trellis_attribute attributes[MAX_ATTRIBUTES];
    size_t begin[MAX_LENGTH + 1];
    trellis_sequence sequence;
};

struct format {
    const char *name, *options;
    size_t columns;       // at most, without the label; 0: attributes instead
    const char *empty;    // what an empty text becomes
    bool weights;         // it has weights of sequences
    const char *excluded; // characters that it cannot represent; it may refuse empty texts, too
};
static const struct format formats[] = {
    {"columns", "format=columns separator=tab", 3, "", false, "\t\r\n"},
    {"conllu", "format=conllu", 1, "_", false, "\t\r\n"},
    {"wordtag", "format=wordtag", 1, "", false, "\r\n"},
    {"crfsuite", "format=crfsuite", 0, "_", true, "\t\r\n"},
    {"jsonl", "format=jsonl", 3, "", true, ""},
    {"jsonl", "format=jsonl", 0, "", true, ""},
};

/* ---- random sequences ------------------------------------------------------------------------ */

/* Half of the texts are plain, the others have what formats give a meaning. */
static trellis_text any_text(struct random_sequence *s)
{
    static const char *const pieces[] = {"a",         "B",
                                         "z9",        "the",
                                         "\xc3\xa9",  "\xf0\x9f\x98\x80",
                                         "\xc2\xa0",  " ",
                                         "\t",        "/",
                                         "\\",        ":",
                                         "\"",        "@",
                                         "@weight:2", "#",
                                         "_",         "1-2",
                                         "1",         "{",
                                         "}",         "\r",
                                         "\n",        "\x01",
                                         "\x7f",      "\xe2\x80\xa8",
                                         "=",         "BOS",
                                         "-",         ".",
                                         ",",         "[",
                                         "]",         "\\n",
                                         "\\\\",      "\\:",
                                         "\\/",       "null",
                                         "<",         "&"};
    enum { PLAIN = 6 };
    char *begin = s->bytes[s->used++], *end = begin;
    bool plain = tr_random_below(&s->random, 2);
    uint64_t count = tr_random_below(&s->random, 20) ? 1 + tr_random_below(&s->random, 3) : 0;
    for (uint64_t i = 0; i < count; i++) {
        end = stpcpy(end, pieces[tr_random_below(&s->random, plain ? PLAIN : TR_COUNT(pieces))]);
    }
    return (trellis_text){begin, (size_t)(end - begin)};
}

static double any_value(struct random_sequence *s)
{
    static const double values[] = {1, 1, 1, 0, -2, 0.1, 1e300, -1e-300, 123456789.125, 3e8};
    uint64_t choice = tr_random_below(&s->random, TR_COUNT(values) + 3);
    return choice < TR_COUNT(values) ? values[choice] : tr_random_real(&s->random) - 0.5;
}

static void make(struct random_sequence *s, const struct format *format, uint64_t seed)
{
    *s = (struct random_sequence){.sequence = {.struct_size = sizeof(trellis_sequence)}};
    tr_random_seed(&s->random, seed);
    trellis_sequence *sequence = &s->sequence;
    sequence->length = 1 + tr_random_below(&s->random, MAX_LENGTH);
    sequence->columns = format->columns ? 1 + tr_random_below(&s->random, format->columns) : 0;
    sequence->weight = format->weights && tr_random_below(&s->random, 4) == 0 ? 0.25 : 1;
    sequence->labels = s->labels;
    size_t attributes = 0;
    for (size_t i = 0; i < sequence->length; i++) {
        s->labels[i] = any_text(s);
        for (size_t c = 0; c < sequence->columns; c++) {
            s->cells[i * sequence->columns + c] = any_text(s);
        }
        uint64_t more = format->columns ? 0 : tr_random_below(&s->random, 3);
        for (s->begin[i] = attributes; more > 0 && attributes < MAX_ATTRIBUTES; more--) {
            s->attributes[attributes++] = (trellis_attribute){any_text(s), any_value(s)};
        }
    }
    s->begin[sequence->length] = attributes;
    if (format->columns) {
        sequence->cells = s->cells;
    } else {
        sequence->attributes = s->attributes;
        sequence->attribute_begin = s->begin;
    }
}

/* ---- what a format can represent ------------------------------------------------------------- */

static bool is_plain(trellis_text text)
{
    bool plain = text.size > 0;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        plain = plain && (c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'z'));
        plain = plain && c != '\\' && c != '[' && c != ']' && c != '_' && c != '^';
    }
    return plain;
}

static bool has_any(trellis_text text, const char *characters)
{
    bool found = false;
    for (size_t i = 0; i < text.size; i++) {
        found = found || (text.data[i] && strchr(characters, text.data[i]));
    }
    return found;
}

/* Whether a test holds for one text of the sequence, or for all. */
static void examine(const trellis_sequence *s, const char *excluded, bool *plain, bool *impossible)
{
    *plain = true;
    *impossible = false;
    size_t begin = s->attribute_begin ? s->attribute_begin[0] : 0;
    size_t attributes = s->attribute_begin ? s->attribute_begin[s->length] - begin : 0;
    size_t cells = s->length * s->columns, count = s->length + cells + attributes;
    for (size_t i = 0; i < count; i++) {
        trellis_text text = i < s->length           ? s->labels[i]
                            : i < s->length + cells ? s->cells[i - s->length]
                                                    : s->attributes[i - s->length - cells].name;
        *plain = *plain && is_plain(text);
        *impossible = *impossible || has_any(text, excluded);
    }
}

/* ---- there and back -------------------------------------------------------------------------- */

static trellis_status write_one(const trellis_sequence *sequence, const trellis_options *options,
                                struct tr_buffer *written)
{
    trellis_writer *writer;
    assert_int_equal(trellis_writer_create(options, to_buffer, written, &writer, NULL), TRELLIS_OK);
    trellis_status status = trellis_writer_put(writer, sequence, NULL, NULL);
    assert_int_equal(trellis_writer_finish(writer, NULL), TRELLIS_OK);
    trellis_writer_destroy(writer);
    return status;
}

static bool same_text(trellis_text written, trellis_text read, const char *empty)
{
    written = written.size ? written : tr_text(empty);
    return written.size == read.size &&
           (read.size == 0 || memcmp(written.data, read.data, read.size) == 0);
}

static bool same_attributes(const trellis_sequence *written, const trellis_sequence *read)
{
    bool same = true;
    for (size_t i = 0; same && i <= written->length; i++) {
        same = written->attribute_begin[i] == read->attribute_begin[i];
    }
    for (size_t a = 0; same && a < written->attribute_begin[written->length]; a++) {
        same = same_text(written->attributes[a].name, read->attributes[a].name, "") &&
               written->attributes[a].value == read->attributes[a].value;
    }
    return same;
}

/* Words in the column that the format has them in, the other columns in theirs. */
static bool same_sequence(const struct format *format, const trellis_sequence *written,
                          const trellis_sequence *read)
{
    bool same = read->length == written->length && read->labels && read->weight == written->weight;
    size_t shift = strcmp(format->name, "conllu") == 0;
    same = same && read->columns >= written->columns + shift;
    for (size_t i = 0; same && i < written->length; i++) {
        same = same_text(written->labels[i], read->labels[i], format->empty);
        for (size_t c = 0; same && c < written->columns; c++) {
            same = same_text(written->cells[i * written->columns + c],
                             read->cells[i * read->columns + c + shift], format->empty);
        }
    }
    return same && (!written->attribute_begin || same_attributes(written, read));
}

/* The message is empty where all is well. */
static void read_back(const struct format *format, const trellis_sequence *sequence,
                      const trellis_options *options, const struct tr_buffer *written,
                      char message[1200])
{
    trellis_source source = {
        .struct_size = sizeof source, .data = written->data, .data_size = written->size};
    trellis_reader *reader;
    const trellis_sequence *read;
    trellis_error error = {0};
    struct tr_buffer again = {0};
    *message = '\0';
    assert_int_equal(trellis_reader_open_source(&source, options, &reader, NULL), TRELLIS_OK);
    if (trellis_reader_next(reader, &read, &error)) {
        snprintf(message, 1200, "cannot be read: %s", error.message);
    } else if (!same_sequence(format, sequence, read)) {
        snprintf(message, 1200, "was read as something else");
    } else if (write_one(read, options, &again) || again.size != written->size ||
               memcmp(again.data, written->data, again.size) != 0) {
        snprintf(message, 1200, "was not written as it was read");
    } else if (trellis_reader_next(reader, &read, &error) != TRELLIS_END) {
        snprintf(message, 1200, "has become two sequences");
    }
    trellis_reader_close(reader);
    tr_buffer_free(&again);
}

static void try_format(const struct format *format, uint64_t seeds, size_t *accepted)
{
    trellis_options *options = make_options(format->options);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct random_sequence s;
        struct tr_buffer written = {0};
        char message[1200];
        bool plain, impossible;
        make(&s, format, seed);
        examine(&s.sequence, format->excluded, &plain, &impossible);
        trellis_status status = write_one(&s.sequence, options, &written);
        if ((status && plain) || (!status && impossible)) {
            fail_msg("%s: status %d of seed %llu", format->name, status, (unsigned long long)seed);
        }
        if (!status) {
            read_back(format, &s.sequence, options, &written, message);
            if (*message) {
                fail_msg("%s: what was written for seed %llu %s:\n%.*s", format->name,
                         (unsigned long long)seed, message, (int)written.size, written.data);
            }
            ++*accepted;
        }
        tr_buffer_free(&written);
    }
    trellis_options_destroy(options);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    const char *cases = getenv("ROUND_TRIP_CASES");
    uint64_t seeds = (cases ? strtoull(cases, NULL, 10) : 12000) / TR_COUNT(formats);
    size_t accepted = 0;
    for (size_t i = 0; i < TR_COUNT(formats); i++) {
        size_t before = accepted;
        try_format(&formats[i], seeds, &accepted);
        assert_true(accepted - before > seeds / 10);
    }
    print_message("%zu sequences written, read and written again\n", accepted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
