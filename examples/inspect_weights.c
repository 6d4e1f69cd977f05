/* inspect_weights.c - looks into templates and a model in memory: what they see, notes, weights.
 *
 *     cc inspect_weights.c -ltrellis && ./a.out
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <trellis.h>

/* A model written by hand; trellis_model_export() writes the same form. */
static const char text[] = "trellis-text\t1\n"
                           "note\ttype\tcrf\n"
                           "template\tcolumns word\n"
                           "template\tnode word\n"
                           "template\tstep start end\n"
                           "label\tO\n"
                           "label\tB-LOC\n"
                           "step\t0.5\tO\tO\n"
                           "step\t-1\t\\start\tB-LOC\n"
                           "word\t2\tB-LOC\tRome\n"
                           "word\t1.5\tO\tthe\n";

/* A sink that collects bytes. */
struct bytes {
    char *data;
    size_t size;
};

static trellis_status collect(void *user, const char *data, size_t size)
{
    struct bytes *bytes = user;
    char *grown = realloc(bytes->data, bytes->size + size);
    if (!grown) {
        return TRELLIS_MEMORY;
    }
    memcpy(grown + bytes->size, data, size);
    bytes->data = grown;
    bytes->size += size;
    return TRELLIS_OK;
}

static trellis_status print(void *user, const char *data, size_t size)
{
    return fwrite(data, 1, size, user) == size ? TRELLIS_OK : TRELLIS_IO;
}

/* What templates see in a word; the list that they name is given as bytes. */
static trellis_status print_attributes(trellis_error *error)
{
    static const char templates[] = "columns word\nnode word\nnode inlist(word,\"cities.txt\")\n";
    trellis_resource cities = {"cities.txt", "Rome\nParis\n", 11};
    trellis_text cell = {"Rome", 4};
    trellis_sequence sequence = {
        .struct_size = sizeof sequence, .length = 1, .columns = 1, .cells = &cell, .weight = 1};
    trellis_features *features;
    trellis_status status = trellis_features_parse((trellis_text){templates, strlen(templates)},
                                                   NULL, &cities, 1, &features, error);
    if (!status) {
        status = trellis_features_print(features, NULL, &sequence, print, stdout, error);
    }
    trellis_features_destroy(features);
    return status;
}

static void print_notes(const trellis_model *model)
{
    const char *key, *value;
    printf("%zu notes\n", trellis_model_note_count(model));
    for (size_t i = 0; trellis_model_note_at(model, i, &key, &value); i++) {
        printf("%s: %s\n", key, value);
    }
}

static trellis_status print_weights(const trellis_model *model, trellis_error *error)
{
    trellis_weight_iterator *iterator;
    const trellis_weight *weight;
    trellis_status status = trellis_weight_iterator_create(model, &iterator, error);
    while (!status && (weight = trellis_weight_iterator_next(iterator))) {
        printf("%6.2f  %-14.*s", weight->weight, (int)weight->attribute.size,
               weight->attribute.data);
        for (size_t i = 0; i < weight->label_count; i++) {
            printf(" %.*s", (int)weight->labels[i].size, weight->labels[i].data);
        }
        printf("\n");
    }
    trellis_weight_iterator_destroy(iterator);
    return status;
}

/* The weight of one attribute for every label. */
static void print_attribute(const trellis_model *model, const char *name)
{
    size_t number = trellis_model_find_attribute(model, false, (trellis_text){name, strlen(name)});
    trellis_text found = trellis_model_attribute(model, false, number);
    for (int32_t c = 0; c < (int32_t)trellis_model_label_count(model); c++) {
        trellis_text label = trellis_model_label(model, (size_t)c);
        printf("%.*s for %.*s: %.2f\n", (int)found.size, found.data, (int)label.size, label.data,
               trellis_model_weight(model, number, &c, 1));
    }
}

static trellis_status inspect(trellis_error *error)
{
    struct bytes bytes = {0};
    trellis_model *imported = NULL, *model = NULL;
    trellis_status status = trellis_model_import_bytes(text, strlen(text), "model", &imported,
                                                       error);
    if (!status) {
        status = trellis_model_write(imported, collect, &bytes, error);
    }
    if (!status) {
        status = trellis_model_open_bytes(bytes.data, bytes.size, TRELLIS_BORROW, &model, error);
    }
    if (!status) {
        printf("a model of %zu bytes with %zu attributes\n", trellis_model_size(model),
               trellis_model_attribute_count(model, false));
        print_notes(model);
        status = print_weights(model, error);
    }
    if (!status) {
        print_attribute(model, "word[0]=Rome");
        bool has = trellis_model_find_label(model, (trellis_text){"I-LOC", 5}) != SIZE_MAX;
        printf("it has %s label I-LOC\n", has ? "a" : "no");
    }
    trellis_model_close(model); // before the bytes that it borrows
    trellis_model_close(imported);
    free(bytes.data);
    return status;
}

int main(void)
{
    trellis_error error = {0};
    trellis_status status = print_attributes(&error);
    if (!status) {
        status = inspect(&error);
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    }
    return status ? 1 : 0;
}
