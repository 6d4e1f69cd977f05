/* dataset_memory.c - what a corpus and its vocabulary take of memory, and giving it back. */
#include "dataset/dataset.h"

static void clear_occurrences(struct tr_occurrences *occurrences)
{
    occurrences->begin.size = occurrences->attribute.size = occurrences->value.size = 0;
}

#define DROP(array) (free((array).at), memset(&(array), 0, sizeof(array)))

static void occurrences_free(struct tr_occurrences *occurrences)
{
    DROP(occurrences->begin);
    DROP(occurrences->attribute);
    DROP(occurrences->value);
}

void tr_dataset_drop_tokens(struct tr_dataset *dataset)
{
    DROP(dataset->sequence);
    DROP(dataset->gold);
    DROP(dataset->weight);
    DROP(dataset->entry);
    DROP(dataset->open_begin);
    DROP(dataset->open);
    DROP(dataset->real);
    occurrences_free(&dataset->node);
    occurrences_free(&dataset->edge);
    occurrences_free(&dataset->segment);
}

/* New open labels rely on zeros, so their lists are freed. */
void tr_dataset_clear(struct tr_dataset *dataset)
{
    DROP(dataset->open_begin);
    DROP(dataset->open);
    clear_occurrences(&dataset->node);
    clear_occurrences(&dataset->edge);
    clear_occurrences(&dataset->segment);
    dataset->sequence.size = dataset->gold.size = dataset->weight.size = 0;
    dataset->entry.size = dataset->real.size = 0;
    dataset->sequences = dataset->tokens = 0;
}

void tr_dataset_free(struct tr_dataset *dataset)
{
    tr_dataset_drop_tokens(dataset);
    tr_intern_free(&dataset->labels);
    *dataset = (struct tr_dataset){0};
}

void tr_vocabulary_close(struct tr_vocabulary *vocabulary)
{
    tr_attribute_index_close(&vocabulary->node.index);
    tr_attribute_index_close(&vocabulary->edge.index);
}

static void pack_if_large(struct tr_attribute_index *index)
{
    enum { LARGE = 1 << 20 };
    if (index->bytes.size >= LARGE) {
        tr_attribute_index_pack(index);
    }
}

void tr_vocabulary_pack(struct tr_vocabulary *vocabulary)
{
    pack_if_large(&vocabulary->node.index);
    pack_if_large(&vocabulary->edge.index);
}

trellis_status tr_vocabulary_unpack(struct tr_vocabulary *vocabulary, trellis_error *error)
{
    return tr_attribute_index_unpack(&vocabulary->node.index) &&
                   tr_attribute_index_unpack(&vocabulary->edge.index)
               ? TRELLIS_OK
               : tr_fail_memory(error);
}

void tr_vocabulary_free(struct tr_vocabulary *vocabulary)
{
    tr_attribute_index_free(&vocabulary->node.index);
    tr_attribute_index_free(&vocabulary->edge.index);
    tr_rows_destroy(vocabulary->node.rows);
    tr_rows_destroy(vocabulary->edge.rows);
    *vocabulary = (struct tr_vocabulary){0};
}

static size_t occurrences_bytes(const struct tr_occurrences *occurrences)
{
    return 4 * (occurrences->begin.capacity + occurrences->attribute.capacity +
                occurrences->value.capacity);
}

size_t tr_dataset_bytes(const struct tr_dataset *dataset)
{
    return occurrences_bytes(&dataset->node) + occurrences_bytes(&dataset->edge) +
           occurrences_bytes(&dataset->segment) + 4 * dataset->sequence.capacity +
           2 * dataset->gold.capacity + 4 * dataset->weight.capacity + 4 * dataset->entry.capacity +
           8 * dataset->real.capacity + 4 * dataset->open_begin.capacity +
           2 * dataset->open.capacity;
}

static size_t attributes_bytes(const struct tr_attributes *attributes)
{
    const struct tr_attribute_index *d = &attributes->index;
    size_t bytes = d->entries.capacity * sizeof *d->entries.at + d->bytes.capacity +
                   8 * d->high.capacity + 4 * d->slot_count;
    if (attributes->rows) {
        bytes += 8 * ((size_t)attributes->rows->attributes + 1) +
                 4 * tr_rows_pairs(attributes->rows) +
                 8 * attributes->rows->dense * attributes->rows->mask_words +
                 4 * attributes->rows->shared;
    }
    return bytes;
}

size_t tr_vocabulary_bytes(const struct tr_vocabulary *vocabulary)
{
    return attributes_bytes(&vocabulary->node) + attributes_bytes(&vocabulary->edge);
}

/* Measured: 54 to 65 bytes an attribute where most have few labels. */
size_t tr_vocabulary_arrange_bytes(const struct tr_vocabulary *vocabulary)
{
    return 64 * (vocabulary->node.index.entries.size + vocabulary->edge.index.entries.size);
}
