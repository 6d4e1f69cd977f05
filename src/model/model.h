/* model.h - a model: a view of a checked image, with what is built from it when it is opened.
 *
 *     META  notes of the training: key, zero byte, value, zero byte, ...
 *     LABL  the labels, each ended by a zero byte
 *     GRPH  the plan of the graph       STEP  a weight for each of its grams
 *     FEAT  templates, word lists, clusters, embeddings
 *     NROW NKEY NTXT  node attributes   EROW EKEY ETXT  edge attributes
 *     NFIX EFIX  in place of NROW and EROW: their weights in 16 bits (bits.c)
 *     DICT  the tag dictionary, where there is one
 *     SEGM  the longest segment of each type, of a semi-Markov model: u32 [types] (graph/segments.h)
 *     WORD  hashes of the words seen in training, ascending, where there were any
 *     GAUS  the normal distributions of real-valued columns, where there are some
 *     NLOW SLOW  residuals: exact weight - float of NROW and STEP (HMM)
 *     UNKN  for unknown words: log of their probability, and log P(label) + weight of the label
 *           alone, in double
 */
#ifndef TRELLIS_MODEL_MODEL_H
#define TRELLIS_MODEL_MODEL_H

#include "dataset/gaussian.h"
#include "dataset/tag_dictionary.h"
#include "dataset/words.h"
#include "features/features.h"
#include "graph/graph.h"
#include "lattice/lattice.h"
#include "model/integrity.h"
#include "model/table.h"

struct tr_note {
    const char *key, *value;
};

/* What the type of a model (its note 'type') allows. */
struct tr_model_kind {
    const char *type; // "unknown" where the model does not say
    bool hmm;
    bool probabilistic; // scores are logarithms of probabilities up to a constant
    bool prunable;      // can be searched by a pruned graph
};

struct trellis_model {
    struct tr_image image;
    struct tr_integrity *integrity; // what of the image was compared with its checksums
    struct tr_model_kind kind;
    uint32_t label_count;
    trellis_text *labels;           // [label_count]
    TR_ARRAY(struct tr_note) notes; // slices of the image
    struct tr_graph_plan plan;
    struct tr_gram *grams;        // [plan.gram_count]
    uint16_t (*forbidden)[2];     // [plan.forbidden_count]
    const float *step_weights;    // [plan.gram_count]
    const float *step_residuals;  // [plan.gram_count] exact weight - step_weights, or NULL
    const double *unknown;        // [1 + label_count] of the section UNKN, or NULL
    struct tr_segments *segments; // of a semi-Markov model; NULL: it is not one
    struct tr_graph *graph;
    struct tr_steps *steps;
    trellis_features *features;
    struct tr_table node, edge;
    struct tr_tag_dictionary tag_dictionary;
    const uint64_t *words; // [word_count] hashes, see dataset/words.h
    size_t word_count;
    struct tr_gaussian gaussian;    // of real-valued columns; no columns: none
    trellis_scheme inside, outside; // labels are `inside`; what is handed out is `outside`
    bool local; // scores are normalised locally before decoding (lattice/local.c)
};

/* The notes that say so. */
#define TR_NOTE_NORMALISED "normalised"
#define TR_LOCALLY "locally"
#define TR_NOTE_PRUNED "pruned" // the threshold; of type crf only

/* What a model is made from. */
struct tr_model_part {
    const struct tr_attribute_index *index;
    const struct tr_rows *rows;
    const float *weights;   // [rows->size]
    const float *residuals; // [rows->size] for nodes, where there are step_residuals
};
struct tr_model_parts {
    const struct tr_intern *labels; // the first plan->labels of them
    const struct tr_graph_plan *plan;
    const float *step_weights;   // [plan->gram_count]
    const float *step_residuals; // [plan->gram_count] exact weight - step_weights, or NULL
    const double *unknown;       // [1 + plan->labels] of the section UNKN, or NULL
    const trellis_features *features;
    struct tr_model_part node, edge;
    const struct tr_buffer *notes;      // key, zero byte, value, zero byte, ...
    const struct tr_gaussian *gaussian; // NULL: there are no real-valued columns
    const struct tr_buffer
        *tag_dictionary;               // a block of tag_dictionary.h; NULL or empty: there is none
    const struct trellis_words *words; // seen in training; NULL or empty: not known
    struct tr_graph **graph; // of the plan: the model takes it over, *graph is NULL then; NULL: it
                             // builds its own
};
trellis_status tr_model_build(const struct tr_model_parts *parts, trellis_model **ret_model,
                              trellis_error *error);

/* The maximum number of transitions for a file of this size. A graph is built from a few numbers:
 * without a limit a small hostile file could ask for gigabytes. */
static inline size_t tr_model_max_steps(size_t file_size)
{
    return ((size_t)1 << 20) + 16 * (file_size < TR_MAX_STEPS ? file_size : TR_MAX_STEPS);
}

/* The model of an image that has all its sections; the writer's bytes are taken over, also on
 * failure. The graph is as in tr_model_parts. */
trellis_status tr_model_finish(struct tr_image_writer *writer, struct tr_graph **graph,
                               trellis_model **ret_model, trellis_error *error);
/* Takes the image over, also on failure. `path` is for messages and may be NULL. A `trusted` image
 * was just written, so that its large sections need not be verified before they are read. */
trellis_status tr_model_read(struct tr_image *image, const char *path, bool trusted,
                             struct tr_graph **graph, trellis_model **ret_model,
                             trellis_error *error);

/* The steps of a graph made from the plan of the model, or from one that forbids more, with its
 * weights. */
trellis_status tr_model_steps(const trellis_model *model, const struct tr_graph *graph,
                              struct tr_steps **ret_steps, trellis_error *error);

/* The weight of a gram with its residual. */
static inline double tr_model_exact_step(const trellis_model *model, size_t gram)
{
    double weight = (double)model->step_weights[gram];
    return model->step_residuals ? weight + (double)model->step_residuals[gram] : weight;
}
/* Whether each weight of an HMM is the logarithm of a single probability, as in one written by
 * hand. */
bool tr_model_is_by_hand(const trellis_model *model);

/* The key of the notes with the training curve, one for each iteration: its number, the objective,
 * the error rate on the training data, accuracy and F1 on the dev data; a dash where there is no
 * figure. */
#define TR_CURVE "curve"
static inline bool tr_note_is_curve(const struct tr_note *note)
{
    return strcmp(note->key, TR_CURVE) == 0;
}
/* The other notes as members of a JSON object. */
void tr_model_notes_json(const trellis_model *model, struct tr_buffer *out);

/* Adds a note to a buffer of notes. */
void tr_note_text(struct tr_buffer *notes, const char *key, const char *value);
void tr_note_format(struct tr_buffer *notes, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The label of a number as text; the start and the end of a sequence have names of their own. */
trellis_text tr_model_gram_label(const trellis_model *model, uint16_t label);

#endif
