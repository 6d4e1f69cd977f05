/* decode.c - from a sequence to its best labels: scores, restrictions, search, and what to do where
 * no labelling is possible. */
#include "lattice/decode.h"

#include <math.h>

#include "base/memory.h"

/* In the place of minus infinity, where something impossible has to be taken. */
#define NEARLY_IMPOSSIBLE (-1000.0f)

static trellis_status decode_once(struct tr_decoder *decoder, const struct tr_decode_calls *calls,
                                  void *user, bool by_dictionary, trellis_error *error)
{
    trellis_status status = calls->fill(user, decoder->lattice, error);
    if (!status && by_dictionary) {
        status = calls->restrict_words(user, decoder->lattice, error);
    }
    if (!status && decoder->local) {
        status = tr_lattice_normalise(decoder->lattice, decoder->steps, error);
    }
    if (!status && calls->restrict_given) { // after normalising: it conditions what is known
        status = calls->restrict_given(user, decoder->lattice, error);
    }
    return status ? status : calls->search(user, decoder->lattice, decoder->steps, error);
}

/* Transitions that are impossible made merely very improbable. */
static trellis_status relax_steps(struct tr_decoder *decoder, trellis_error *error)
{
    size_t count = decoder->graph->features;
    float *weights = tr_alloc(count, sizeof *weights);
    trellis_status status = weights ? TRELLIS_OK : tr_fail_memory(error);
    if (!status && !decoder->relaxed) {
        status = tr_steps_create(decoder->graph, NULL, &decoder->relaxed, error);
    }
    for (size_t i = 0; !status && i < count; i++) {
        weights[i] = fmaxf(decoder->step_weights[i], NEARLY_IMPOSSIBLE);
    }
    if (!status) {
        tr_steps_set(decoder->relaxed, weights);
    }
    free(weights);
    return status;
}

/* Under an HMM all labellings of a sequence may have probability 0, because of a word or of a
 * transition. */
static trellis_status decode_impossible(struct tr_decoder *decoder, size_t length,
                                        const struct tr_decode_calls *calls, void *user,
                                        trellis_error *error)
{
    trellis_status status = relax_steps(decoder, error);
    if (!status) {
        status = calls->fill(user, decoder->lattice, error);
    }
    size_t count = status ? 0 : length * decoder->graph->width;
    float *scores = count ? tr_lattice_nodes(decoder->lattice) : NULL;
    for (size_t k = 0; k < count; k++) {
        scores[k] = fmaxf(scores[k], NEARLY_IMPOSSIBLE);
    }
    if (!status && calls->restrict_given) {
        status = calls->restrict_given(user, decoder->lattice, error);
    }
    return status ? status : calls->search(user, decoder->lattice, decoder->relaxed, error);
}

trellis_status tr_decode(struct tr_decoder *decoder, size_t length,
                         const struct tr_decode_calls *calls, void *user, bool *ret_impossible,
                         trellis_error *error)
{
    bool by_dictionary = calls->restrict_words;
    *ret_impossible = false;
    trellis_status status = decode_once(decoder, calls, user, by_dictionary, error);
    if (status == TRELLIS_DATA && by_dictionary) {
        status = decode_once(decoder, calls, user, false, error);
    }
    if (status == TRELLIS_DATA && decoder->generative) {
        status = decode_impossible(decoder, length, calls, user, error);
        *ret_impossible = !status;
    }
    return status;
}

void tr_decoder_free(struct tr_decoder *decoder)
{
    tr_steps_destroy(decoder->relaxed);
    decoder->relaxed = NULL;
}
