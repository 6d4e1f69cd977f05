/* fuzz_model.c - any bytes as a model file.
 *
 * They are tried as they are and with corrected header and checksums. A fuzzer would hardly find
 * eleven consistent sections from scratch, so the mutator knows what a file is made of: it begins
 * with sound models, changes their sections one by one, and repairs what holds them together.
 */
#include "base/random.h"
#include "fuzz/files.h"
#include "model/test_hostile.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* ---- valid models ---------------------------------------------------------------------------- */

static const char corpus[] =
    "the DT\ncat NN\nsleeps VB\n\na DT\ndog NN\ncan VB\n\ndogs NN\ncan VB\n";
static const char edges[] =
    "columns word\nnode word\nnode suffix(word,1)\nedge word\nstep start end\n";
static const char hmm[] =
    "trellis-text 1\nnote\ttype\thmm\nnote\tscheme-inside\tiobes\n"
    "note\tscheme-outside\tiob2\ntemplate\tcolumns word\ntemplate\tnode word\n"
    "label\tB-X\nlabel\tO\ncount-cap\t2\nstep\t-1\t\\start\tO\nstep\t-2\tO\tB-X\n"
    "step\t-0.5\tO\tO\tO\nforbid\tB-X\tB-X\nword\t-1\tO\tthe\nword\t-2\tB-X\tcan\n";
static struct tr_buffer sound[4];

/* Keeps the bytes of a model and closes it. */
static void keep(struct tr_buffer *bytes, trellis_status status, trellis_model *model,
                 const trellis_error *error)
{
    if (status) {
        fprintf(stderr, "%s\n", error->message);
        abort();
    }
    tr_buffer_add(bytes, (const char *)model->image.data, model->image.size);
    trellis_model_close(model);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    (void)count;
    (void)arguments;
    static const char *const orders[] = {"1", "2", "1"}, *const bits[] = {"32", "32", "16"};
    struct memory_file corpus_file = memory_file(corpus, sizeof corpus - 1);
    struct memory_file template_file = memory_file(edges, sizeof edges - 1);
    struct memory_file hmm_file = memory_file(hmm, sizeof hmm - 1);
    const char *path = corpus_file.path;
    trellis_error error = {0};
    trellis_model *model;
    trellis_options *options;
    for (size_t i = 0; i < TR_COUNT(orders); i++) {
        if (trellis_options_create(&options, &error) ||
            trellis_options_set(options, "features", template_file.path, &error) ||
            trellis_options_set(options, "epochs", "3", &error) ||
            trellis_options_set(options, "dictionary", i == 1 ? "learn" : "", &error) ||
            trellis_options_set(options, "bits", bits[i], &error) ||
            trellis_options_set(options, "dictionary-count", "1", &error) ||
            trellis_options_set(options, "order", orders[i], &error)) {
            abort();
        }
        trellis_status status = trellis_train_files(options, &path, 1, NULL, NULL, &model, &error);
        keep(&sound[i], status, model, &error);
        trellis_options_destroy(options);
        lseek(corpus_file.number, 0, SEEK_SET);
        lseek(template_file.number, 0, SEEK_SET);
    }
    trellis_status status = trellis_model_import(hmm_file.path, &model, &error);
    keep(&sound[3], status, model, &error);
    close(corpus_file.number);
    close(template_file.number);
    close(hmm_file.number);
    return 0;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static void try_bytes(const unsigned char *bytes, size_t size)
{
    trellis_model *model;
    trellis_error error;
    if (!is_large(bytes, size) && !open_bytes(bytes, size, &model, &error)) {
        exercise(model);
        trellis_model_close(model);
    }
}

static void repair_header(unsigned char *bytes, size_t size)
{
    static const unsigned char magic[] = {
        0x93, 'T', 'R', 'L', 'S', '\r', '\n', 0x1a, TR_IMAGE_VERSION, 0, 0, 0};
    if (size >= HEADER) {
        memcpy(bytes, magic, sizeof magic);
        set_u64_at(bytes, FILE_SIZE, size);
    }
}

static void try_repaired(const uint8_t *data, size_t size)
{
    unsigned char *bytes = malloc(size ? size : 1);
    if (size) {
        memcpy(bytes, data, size);
    }
    repair_header(bytes, size);
    repair_checksums(bytes, size);
    try_bytes(bytes, size);
    free(bytes);
}

/* ---- changes to sections --------------------------------------------------------------------- */

/* The sections of a file, each with its own bytes. */
struct section {
    char name[8];
    struct tr_buffer bytes;
};
struct sections {
    struct section at[MAX_SECTIONS];
    uint32_t count;
};

static void free_sections(struct sections *sections)
{
    for (uint32_t i = 0; i < sections->count; i++) {
        tr_buffer_free(&sections->at[i].bytes);
    }
}

/* Takes a file apart; false where it is not made of sections. */
static bool split(struct sections *sections, const unsigned char *data, size_t size)
{
    uint32_t count = sections_of(data, size);
    sections->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t begin, length;
        struct section *section = &sections->at[sections->count];
        if (section_at(data, size, i, &begin, &length)) {
            *section = (struct section){0};
            memcpy(section->name, data + HEADER + (size_t)i * ENTRY, sizeof section->name);
            tr_buffer_add(&section->bytes, (const char *)data + begin, length);
            sections->count++;
        }
    }
    return sections->count > 0;
}

/* Puts them together again, each at a multiple of 64 bytes; 0 where there is no room. */
static size_t join(const struct sections *sections, uint8_t *data, size_t max)
{
    size_t at = HEADER + (size_t)sections->count * ENTRY;
    if (at > max) {
        return 0;
    }
    memset(data, 0, max);
    for (uint32_t i = 0; i < sections->count; i++) {
        const struct section *section = &sections->at[i];
        unsigned char *entry = data + HEADER + (size_t)i * ENTRY;
        at = (at + 63) / 64 * 64;
        if (at > max || section->bytes.size > max - at) {
            return 0;
        }
        memcpy(entry, section->name, sizeof section->name);
        set_u64_at(entry, 8, at);
        set_u64_at(entry, 16, section->bytes.size);
        if (section->bytes.size) {
            memcpy(data + at, section->bytes.data, section->bytes.size);
        }
        at += section->bytes.size;
    }
    memcpy(data + SECTION_COUNT, &sections->count, sizeof sections->count);
    repair_header(data, at);
    repair_checksums(data, at);
    return at;
}

/* A number in a section becomes one that sizes and offsets are often wrong by. */
static void change_number(struct tr_buffer *bytes, struct tr_random *random)
{
    static const uint32_t extremes[] = {0,      1,          2,          0x7f,      0xff,
                                        0xffff, 0x7fffffff, 0x80000000, UINT32_MAX};
    if (bytes->size >= 4) {
        size_t at = tr_random_below(random, bytes->size / 4) * 4;
        uint32_t value = u32_at((unsigned char *)bytes->data, at);
        uint64_t choice = tr_random_below(random, TR_COUNT(extremes) + 4);
        value = choice < TR_COUNT(extremes) ? extremes[choice]
                : choice % 2                ? value + 1 + (uint32_t)tr_random_below(random, 3)
                                            : value - 1 - (uint32_t)tr_random_below(random, 3);
        memcpy(bytes->data + at, &value, sizeof value);
    }
}

/* The bytes of a section as libFuzzer would change them, longer ones included. */
static void change_bytes(struct tr_buffer *bytes, struct tr_random *random)
{
    size_t room = bytes->size + 1 + tr_random_below(random, 64);
    uint8_t *copy = calloc(room, 1);
    if (bytes->size) {
        memcpy(copy, bytes->data, bytes->size);
    }
    size_t size = LLVMFuzzerMutate(copy, bytes->size, room);
    bytes->size = 0;
    tr_buffer_add(bytes, (const char *)copy, size);
    free(copy);
}

/* Takes the section of that name of another sound model. */
static void take_from_another(struct section *section, struct tr_random *random)
{
    const struct tr_buffer *other = &sound[tr_random_below(random, TR_COUNT(sound))];
    struct sections donor;
    split(&donor, (const unsigned char *)other->data, other->size);
    for (uint32_t i = 0; i < donor.count; i++) {
        if (memcmp(donor.at[i].name, section->name, sizeof section->name) == 0) {
            section->bytes.size = 0;
            tr_buffer_add(&section->bytes, donor.at[i].bytes.data, donor.at[i].bytes.size);
        }
    }
    free_sections(&donor);
}

static void change(struct sections *sections, struct tr_random *random)
{
    uint32_t i = (uint32_t)tr_random_below(random, sections->count);
    struct section *section = &sections->at[i];
    switch (tr_random_below(random, 8)) {
    case 0: // leave it out
        tr_buffer_free(&section->bytes);
        sections->at[i] = sections->at[--sections->count];
        break;
    case 1: // cut it
        section->bytes.size = tr_random_below(random, section->bytes.size + 1);
        break;
    case 2:
        take_from_another(section, random);
        break;
    case 3:
    case 4:
        change_bytes(&section->bytes, random);
        break;
    default:
        change_number(&section->bytes, random);
    }
}

/* Adds checksums of blocks, which otherwise only large files have. */
static void add_sums(struct sections *sections)
{
    enum { SHIFT = 6 };
    size_t blocks = 0;
    if (sections->count < MAX_SECTIONS) {
        for (uint32_t i = 0; i < sections->count; i++) {
            blocks += (sections->at[i].bytes.size + 63) / 64;
        }
        struct section *sums = &sections->at[sections->count++];
        *sums = (struct section){.name = "SUMS"};
        tr_put_u32(&sums->bytes, SHIFT);
        tr_put_u32(&sums->bytes, 0);
        for (size_t k = 0; k < blocks; k++) {
            tr_put_u64(&sums->bytes, 0); // join() computes them
        }
    }
}

/* Changes one to four sections and repairs sizes, offsets and checksums. What is no model file
 * becomes one of the sound models first. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    struct tr_random random;
    struct sections sections;
    tr_random_seed(&random, seed);
    if (tr_random_below(&random, 20) == 0) {
        return LLVMFuzzerMutate(data, size, max); // header and table, too
    }
    if (!split(&sections, data, size)) {
        const struct tr_buffer *base = &sound[tr_random_below(&random, TR_COUNT(sound))];
        split(&sections, (const unsigned char *)base->data, base->size);
    }
    for (uint64_t changes = 1 + tr_random_below(&random, 4); changes > 0 && sections.count > 0;
         changes--) {
        change(&sections, &random);
    }
    if (tr_random_below(&random, 10) == 0) {
        add_sums(&sections);
    }
    size_t made = join(&sections, data, max);
    free_sections(&sections);
    return made ? made : LLVMFuzzerMutate(data, size, max);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_bytes(data, size);
    try_repaired(data, size);
    return 0;
}
