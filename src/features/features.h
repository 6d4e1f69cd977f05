/* features.h - the attributes of a sequence by a set of templates, as keys.
 *
 * trellis_features is a compiled set of templates with the word lists and clusters they need; it is
 * immutable once the training data has been counted, and shared by threads. An extractor is the
 * workspace of one thread: it is bound to the columns of an input, then run on each sequence.
 *
 *     cells --functions--> hashes [function][token] --templates--> keys of attributes
 *
 * This builds no strings. tr_extractor_text() builds the text of a single attribute, for the
 * attribute index of the training, for inspection and for `trellis features`.
 */
#ifndef TRELLIS_FEATURES_FEATURES_H
#define TRELLIS_FEATURES_FEATURES_H

#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"

/* The first line of a set whose keys are those of the strings that CRF++ or Wapiti would make; the
 * other lines are their templates and patterns as their models store them. */
#define TR_STRINGS_CRFPP "strings crf++"
#define TR_STRINGS_WAPITI "strings wapiti"
/* In place of Wapiti's patterns: every cell of a row is a string, as it is or with a u before
 * it. */
#define TR_STRINGS_CELLS "cells"
#define TR_STRINGS_NODE_CELLS "cells u"

/* Which transitions have weights of their own, independent of the observation. */
struct tr_step_choice {
    bool between; // label to label
    bool start;   // into the first label
    bool end;     // out of the last label
    bool alone;   // each label by itself, after any label
};
struct tr_step_choice tr_features_steps(const trellis_features *features);

/* What the names of attributes of whole segments begin with. */
#define TR_SEGMENT_PREFIX "segment "
/* Whether there are templates for (segment, type). */
bool tr_features_has_segments(const trellis_features *features);

/* Whether there are templates whose attributes have values. */
bool tr_features_has_reals(const trellis_features *features);

/* Whether there are templates that ask for the rest of the document. */
bool tr_features_has_context(const trellis_features *features);

/* Whether there are templates for (observation, label pair). */
bool tr_features_has_edges(const trellis_features *features);

/* Templates that depend on how often a word was seen in training need a pass over the data first:
 * count every sequence, then end counting. Without such templates both do nothing. */
bool tr_features_needs_counts(const trellis_features *features);
struct tr_extractor;
trellis_status tr_features_count(trellis_features *features, struct tr_extractor *extractor,
                                 const trellis_sequence *sequence, trellis_error *error);
trellis_status tr_features_end_count(trellis_features *features, trellis_error *error);
/* From here on unknown(x, n) means words never seen; during training rare words stand for them. To
 * be called once, after the training data has been read. */
trellis_status tr_features_end_training(trellis_features *features, trellis_error *error);
/* What is held of the words of the data and of lists, and what making tables of them takes. */
size_t tr_features_bytes(const trellis_features *features);
/* Whether a template uses unknown(). */
bool tr_features_has_unknown(const trellis_features *features);
/* Whether a template gives attributes to unknown words only. */
bool tr_features_for_unknown(const trellis_features *features, size_t index);

/* Templates with learned() need two passes over the training data: in the first every gold segment
 * (tokens s .. e) is learned, in the second all places of every sequence, each after
 * tr_extractor_run() with the number of the sequence. Words whose labels are open (--partial) are
 * not counted. */
bool tr_features_learns(const trellis_features *features);
trellis_status tr_features_learn_segment(trellis_features *features,
                                         const struct tr_extractor *extractor,
                                         const trellis_sequence *sequence, size_t s, size_t e,
                                         trellis_text type, trellis_error *error);
void tr_features_end_segments(trellis_features *features, size_t sequences);
trellis_status tr_features_learn_places(trellis_features *features,
                                        const struct tr_extractor *extractor,
                                        const trellis_sequence *sequence, bool partial,
                                        trellis_error *error);
trellis_status tr_features_end_places(trellis_features *features, trellis_error *error);
/* Which sequence of the training data comes next: it is told what was learned without the sequences
 * near it. Without this call an extractor tells what was learned from all of them. */
void tr_extractor_set_sequence(struct tr_extractor *extractor, size_t sequence);

/* A filter of segments (--filter): every sequence of the training data and each of its gold segments
 * is counted, then those segments are described whose words have their roles with at least this
 * share. */
trellis_status tr_features_begin_filter(trellis_features *features, trellis_error *error);
trellis_status tr_features_filter_sequence(trellis_features *features,
                                           const struct tr_extractor *extractor,
                                           const trellis_sequence *sequence, trellis_error *error);
trellis_status tr_features_filter_segment(trellis_features *features,
                                          const struct tr_extractor *extractor,
                                          const trellis_sequence *sequence, size_t s, size_t e,
                                          trellis_error *error);
trellis_status tr_features_end_filter(trellis_features *features, double least,
                                      trellis_error *error);
/* Whether the segment of tokens s .. e of the observation made last is described. */
bool tr_extractor_describes(const struct tr_extractor *extractor, size_t s, size_t e);

/* The compiled set as one block of bytes for the model file, and back. `data` must outlive what is
 * read from it (word lists and clusters stay where they are) and is not trusted: any bytes give a
 * usable set or an error. The block also holds the text of the templates. */
trellis_status tr_features_write(const trellis_features *features, struct tr_buffer *buffer,
                                 trellis_error *error);
trellis_status tr_features_read(const void *data, size_t size, trellis_features **ret_features,
                                trellis_error *error);
/* The templates as they were written, and a name for them. */
trellis_text tr_features_source(const trellis_features *features);
const char *tr_features_name(const trellis_features *features);
size_t tr_features_template_count(const trellis_features *features);
/* A template as text, without the values. */
trellis_text tr_features_template_text(const trellis_features *features, size_t index);
/* The template that an attribute with this text comes from; SIZE_MAX for a ready-made attribute. */
size_t tr_features_template_of(const trellis_features *features, bool edge, trellis_text attribute);

/* Whether it has no templates: attributes are given in the input. */
bool tr_features_is_none(const trellis_features *features);
/* Whether it has word lists, clusters or counted words beside its text. */
bool tr_features_has_resources(const trellis_features *features);

/* trellis_features_open() within the limits of the options. */
trellis_status tr_features_open(const char *preset_or_path, const trellis_options *options,
                                trellis_features **ret_features, trellis_error *error);
/* Compiles templates from a text that is not trusted: it cannot open files. */
trellis_status tr_features_parse(trellis_text source, const char *name,
                                 trellis_features **ret_features, trellis_error *error);

/* An empty set, for input that comes with ready-made attributes: no templates, steps between
 * labels. */
trellis_status tr_features_none(trellis_features **ret_features, trellis_error *error);

/* The attributes of a sequence of n tokens. Those of token i are
 * begin[i] .. begin[i+1]-1 of the arrays; the order within a token is that of the templates, then
 * that of the ready-made attributes. */
struct tr_seen {
    size_t *begin;      // [n + 1]
    uint64_t *low;      // [begin[n]] keys
    uint64_t *high;     // [begin[n]] the high halves; filled only for whole keys
    float *value;       // [begin[n]], or NULL where all are 1
    uint32_t *template; // [begin[n]] the template it comes from; UINT32_MAX - j for the token's
                        // ready-made attribute j; filled only for whole keys
};

struct tr_observation {
    size_t length;
    struct tr_seen node; // (observation, label)
    struct tr_seen edge; // (observation, label pair): the step into token i; empty for i = 0
    /* (segment, type): in the place of tokens, [length][max_segment] segments; number i * max_segment
     * + d - 1 is that of d tokens which ends at token i, and empty where it would begin before the
     * sequence. */
    struct tr_seen segment;
    size_t max_segment; // 0: segments are not asked for
};
enum tr_attribute_kind { TR_NODE_ATTRIBUTE, TR_EDGE_ATTRIBUTE, TR_SEGMENT_ATTRIBUTE };
enum { TR_ATTRIBUTE_KINDS = TR_SEGMENT_ATTRIBUTE + 1 };
static inline const struct tr_seen *tr_observed(const struct tr_observation *observation,
                                                enum tr_attribute_kind kind)
{
    return kind == TR_NODE_ATTRIBUTE   ? &observation->node
           : kind == TR_EDGE_ATTRIBUTE ? &observation->edge
                                       : &observation->segment;
}

/* `whole_keys`: with the high halves and template numbers, which only training needs. */
trellis_status tr_extractor_create(const trellis_features *features, bool whole_keys,
                                   struct tr_extractor **ret_extractor, trellis_error *error);
void tr_extractor_destroy(struct tr_extractor *extractor);
/* The steps that regular expressions may take on a sequence, in place of the default. */
void tr_extractor_limit(struct tr_extractor *extractor, uint64_t max_steps);

/* Asks for the attributes of segments of up to so many tokens; 0, as after creation: none. */
void tr_extractor_set_segments(struct tr_extractor *extractor, size_t max_segment);

/* Finds the columns that the templates name. `reader` may be NULL: then columns are taken by the
 * positions of the templates' own `columns` line, or by number. `label_column` is refused as an
 * observation; SIZE_MAX where there is none. */
/* Whether a template uses a column of the input, after tr_extractor_bind(). */
bool tr_extractor_uses(const struct tr_extractor *extractor, size_t column);
trellis_status tr_extractor_bind(struct tr_extractor *extractor, const trellis_reader *reader,
                                 size_t label_column, trellis_error *error);

/* The observation is valid until the next call. A sequence with fewer columns than the templates
 * need, or with a value that is not a finite number where one is needed, is an error with its
 * line. */
trellis_status tr_extractor_run(struct tr_extractor *extractor, const trellis_sequence *sequence,
                                const struct tr_observation **ret_observation,
                                trellis_error *error);

/* Appends the text of an attribute of the observation made last, such as "word[-1]=the"; `index` is
 * its place in the arrays, begin[token] <= index < begin[token + 1]; a segment's number takes the
 * place of the token. The extractor must have been
 * created for whole keys; nothing is appended otherwise. */
void tr_extractor_text(struct tr_extractor *extractor, const trellis_sequence *sequence,
                       enum tr_attribute_kind kind, size_t token, size_t index,
                       struct tr_buffer *buffer);

#endif
