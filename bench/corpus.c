/* corpus.c - how fast sequences of ready-made attributes are added to a corpus in memory, on one thread.
 *
 *   corpus FILE    in CRFsuite's format, as `trellis features` writes it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <trellis.h>

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *copy(const void *data, size_t size)
{
    void *memory = malloc(size ? size : 1);
    if (!memory) {
        abort();
    }
    return size ? memcpy(memory, data, size) : memory;
}

/* A copy with texts of its own, as a program would have them. */
static trellis_sequence keep(const trellis_sequence *read)
{
    trellis_sequence s = *read;
    size_t n = s.length, count = s.attribute_begin[n];
    trellis_attribute *attributes = copy(s.attributes, count * sizeof *attributes);
    trellis_text *labels = copy(s.labels, n * sizeof *labels);
    for (size_t k = 0; k < count; k++) {
        attributes[k].name.data = copy(attributes[k].name.data, attributes[k].name.size);
    }
    for (size_t i = 0; i < n; i++) {
        labels[i].data = copy(labels[i].data, labels[i].size);
    }
    s.attributes = attributes;
    s.labels = labels;
    s.attribute_begin = copy(s.attribute_begin, (n + 1) * sizeof *s.attribute_begin);
    s.rows = NULL;
    return s;
}

int main(int argc, char **argv)
{
    enum { MAX_SEQUENCES = 1 << 17 };
    static trellis_sequence sequences[MAX_SEQUENCES];
    size_t count = 0, occurrences = 0;
    trellis_options *options = NULL;
    trellis_reader *reader = NULL;
    trellis_corpus *corpus = NULL;
    const trellis_sequence *read;
    trellis_error error;
    if (argc != 2) {
        return 2;
    }
    trellis_status status = trellis_options_create(&options, &error);
    if (!status) {
        status = trellis_options_set(options, "format", "crfsuite", &error);
    }
    if (!status) {
        status = trellis_reader_open(argv[1], options, &reader, &error);
    }
    while (!status && count < MAX_SEQUENCES &&
           !(status = trellis_reader_next(reader, &read, &error))) {
        sequences[count++] = keep(read);
        occurrences += read->attribute_begin[read->length];
    }
    status = status == TRELLIS_END ? TRELLIS_OK : status;
    double begin = seconds();
    if (!status) {
        status = trellis_corpus_create(&corpus, &error);
    }
    for (size_t k = 0; !status && k < count; k++) {
        status = trellis_corpus_add(corpus, &sequences[k], &error);
    }
    double taken = seconds() - begin;
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("%zu tokens, %zu attributes added in %.3f s: %.0f tokens/s, %.1f MB\n",
               trellis_corpus_tokens(corpus), occurrences, taken,
               (double)trellis_corpus_tokens(corpus) / taken,
               (double)trellis_corpus_bytes(corpus) / 1e6);
    }
    trellis_corpus_destroy(corpus);
    trellis_reader_close(reader);
    trellis_options_destroy(options);
    return status ? 1 : 0;
}
