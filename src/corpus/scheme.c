/* scheme.c - label schemes, and conversions between them.
 *
 *                 He    reckons  the   deficit  soon   U.S.    Ltd.
 *     spans       [NP]  [VP]     [NP ........]         [NP]    [NP]
 *     iob1        I-NP  I-VP     I-NP  I-NP     O      I-NP    B-NP
 *     iob2        B-NP  B-VP     B-NP  I-NP     O      B-NP    B-NP
 *     iobes       S-NP  S-VP     B-NP  E-NP     O      S-NP    S-NP
 *     bilou       U-NP  U-VP     B-NP  L-NP     O      U-NP    U-NP
 *
 * A conversion reads spans by conlleval's rules, which give every sequence of labels a meaning,
 * legal or not, and writes them in the other scheme. The rules read all four schemes in the same
 * way.
 */
#include "base/memory.h"
#include "base/text.h"
#include "corpus/corpus.h"

static const char *const scheme_names[] = {"iob1", "iob2", "iobes", "bilou", "none"};

const char *tr_scheme_name(trellis_scheme scheme)
{
    return (unsigned)scheme < TRELLIS_NO_SCHEME ? scheme_names[scheme] : "none";
}

trellis_scheme trellis_scheme_from_name(const char *name)
{
    for (int i = 0; name && i < TRELLIS_NO_SCHEME; i++) {
        if (strcmp(name, scheme_names[i]) == 0) {
            return (trellis_scheme)i;
        }
    }
    return TRELLIS_NO_SCHEME;
}

bool tr_label_split(trellis_text label, char *letter, trellis_text *type)
{
    static const char letters[] = {'B', 'I', 'E', 'S', 'L', 'U'};
    if (label.size == 1 && label.data[0] == 'O') {
        *letter = 'O';
        *type = (trellis_text){label.data + 1, 0};
        return true;
    }
    if (label.size < 2 || label.data[1] != '-' || !memchr(letters, label.data[0], sizeof letters)) {
        *letter = 'B';
        *type = label;
        return false;
    }
    char c = label.data[0];
    *letter = c == 'L' ? 'E' : c == 'U' ? 'S' : c;
    *type = (trellis_text){label.data + 2, label.size - 2};
    return true;
}

bool tr_label_is_open(trellis_text label)
{
    return tr_text_is(label, "_") || (label.size && memchr(label.data, '|', label.size));
}

trellis_scheme tr_scheme_guess(const trellis_text *labels, size_t count)
{
    bool seen[256] = {false};
    for (size_t i = 0; i < count; i++) {
        char letter;
        trellis_text type;
        if (!tr_label_split(labels[i], &letter, &type)) {
            return TRELLIS_NO_SCHEME;
        }
        seen[(unsigned char)labels[i].data[0]] = true;
    }
    if (seen['E'] || seen['S']) {
        return TRELLIS_IOBES;
    }
    if (seen['L'] || seen['U']) {
        return TRELLIS_BILOU;
    }
    return seen['B'] ? TRELLIS_IOB2 : seen['I'] ? TRELLIS_IOB1 : TRELLIS_NO_SCHEME;
}

/* ---- conlleval's rules, with those for E and S that came later ------------------------------- */

bool tr_span_ends(char letter_before, trellis_text type_before, char letter, trellis_text type)
{
    switch (letter_before) {
    case 'O':
        return false;
    case 'E':
    case 'S':
        return true;
    default:
        return letter == 'B' || letter == 'S' || letter == 'O' || !tr_text_equal(type_before, type);
    }
}

bool tr_span_begins(char letter_before, trellis_text type_before, char letter, trellis_text type)
{
    switch (letter) {
    case 'O':
        return false;
    case 'B':
    case 'S':
        return true;
    default:
        return letter_before == 'O' || letter_before == 'E' || letter_before == 'S' ||
               !tr_text_equal(type_before, type);
    }
}

/* ---- conversion ------------------------------------------------------------------------------ */

/* A label, split. */
struct split_label {
    char letter;
    trellis_text type;
};

struct trellis_scheme_storage {
    TR_ARRAY(struct split_label) parts; // [length] as read
    TR_ARRAY(trellis_text) labels;      // [length] as written
    TR_ARRAY(char) bytes;               // of those labels
};

/* The letter of a token within a span, in the scheme. `touches`: a span of the same type ends just
 * before this one. */
static char letter_for(trellis_scheme scheme, bool begins, bool ends, bool touches)
{
    bool bilou = scheme == TRELLIS_BILOU;
    switch (scheme) {
    case TRELLIS_IOB1:
        return begins && touches ? 'B' : 'I';
    case TRELLIS_IOB2:
        return begins ? 'B' : 'I';
    default:
        if (begins && ends) {
            return bilou ? 'U' : 'S';
        }
        return begins ? 'B' : !ends ? 'I' : bilou ? 'L' : 'E';
    }
}

/* Splits all labels and makes room for the new ones, so that nothing moves while they are
 * written. */
static trellis_status read_parts(trellis_scheme_storage *storage, const trellis_text *labels,
                                 size_t length, trellis_error *error)
{
    size_t bytes = 0;
    if (!tr_reserve(&storage->parts, length) || !tr_reserve(&storage->labels, length)) {
        return tr_fail_memory(error);
    }
    for (size_t i = 0; i < length; i++) {
        struct split_label *part = &storage->parts.at[i];
        if (!tr_label_split(labels[i], &part->letter, &part->type)) {
            return tr_fail(
                error, TRELLIS_DATA,
                "the label '%.*s' is not in a span scheme: expected O, B-TYPE, I-TYPE or "
                "the like",
                TR_SHOW(labels[i]));
        }
        bytes += part->type.size + 2;
    }
    return tr_reserve(&storage->bytes, bytes) ? TRELLIS_OK : tr_fail_memory(error);
}

static void write_label(trellis_scheme_storage *storage, size_t i, char letter)
{
    trellis_text type = storage->parts.at[i].type;
    char *to = storage->bytes.at + storage->bytes.size;
    if (letter == 'O') {
        storage->labels.at[i] = TR_TEXT("O");
        return;
    }
    to[0] = letter;
    to[1] = '-';
    if (type.size) {
        memcpy(to + 2, type.data, type.size);
    }
    storage->labels.at[i] = (trellis_text){to, type.size + 2};
    storage->bytes.size += type.size + 2;
}

static void write_labels(trellis_scheme_storage *storage, trellis_scheme scheme, size_t length)
{
    static const struct split_label outside = {'O', {"", 0}};
    storage->bytes.size = 0;
    struct split_label before = outside;
    for (size_t i = 0; i < length; i++) {
        struct split_label part = storage->parts.at[i];
        struct split_label after = i + 1 < length ? storage->parts.at[i + 1] : outside;
        bool begins = tr_span_begins(before.letter, before.type, part.letter, part.type);
        bool ends = tr_span_ends(part.letter, part.type, after.letter, after.type);
        bool touches = before.letter != 'O' && tr_text_equal(before.type, part.type);
        char letter = part.letter == 'O' ? 'O' : letter_for(scheme, begins, ends, touches);
        write_label(storage, i, letter);
        before = part;
    }
}

/* Without a scheme to convert to, the labels stay as they are. */
static trellis_status keep_labels(trellis_scheme_storage *storage, const trellis_text *labels,
                                  size_t length, const trellis_text **ret_labels,
                                  trellis_error *error)
{
    if (!tr_reserve(&storage->labels, length)) {
        return tr_fail_memory(error);
    }
    if (length) {
        memcpy(storage->labels.at, labels, length * sizeof *labels);
    }
    *ret_labels = storage->labels.at;
    return TRELLIS_OK;
}

trellis_status trellis_scheme_convert(trellis_scheme from, trellis_scheme to,
                                      const trellis_text *labels, size_t length,
                                      trellis_scheme_storage **storage,
                                      const trellis_text **ret_labels, trellis_error *error)
{
    if (!TR_CLEAR(ret_labels) || (!labels && length > 0) || !storage) {
        return tr_fail_null(error, __func__);
    }
    (void)from; // all schemes are read by the same rules
    *ret_labels = NULL;
    if (!*storage) {
        *storage = tr_alloc(1, sizeof **storage);
    }
    if (!*storage) {
        return tr_fail_memory(error);
    }
    if ((unsigned)to >= TRELLIS_NO_SCHEME) {
        return keep_labels(*storage, labels, length, ret_labels, error);
    }
    trellis_status status = read_parts(*storage, labels, length, error);
    if (!status) {
        write_labels(*storage, to, length);
        *ret_labels = (*storage)->labels.at;
    }
    return status;
}

void trellis_scheme_storage_destroy(trellis_scheme_storage *storage)
{
    if (!storage) {
        return;
    }
    free(storage->parts.at);
    free(storage->labels.at);
    free(storage->bytes.at);
    free(storage);
}
