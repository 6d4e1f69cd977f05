/* features.c - sets of templates: opening, queries, printing, destruction. */
#include "features/compiled.h"

#include <stdio.h>
#include <unistd.h>

#include "base/input.h"
#include "corpus/corpus.h"

/* ---- opening --------------------------------------------------------------------------------- */

static trellis_status fail_unknown(const char *name, trellis_error *error)
{
    char presets[200] = "";
    size_t used = 0;
    const char *preset;
    for (size_t i = 0; (preset = trellis_preset_name(i)) && used + strlen(preset) < 190; i++) {
        used += (size_t)snprintf(presets + used, sizeof presets - used, " %s", preset);
    }
    return tr_fail(error, TRELLIS_IO, "there is no template file '%.300s'; the presets are%s", name,
                   presets);
}

static trellis_status open_file(const char *path, const trellis_options *options,
                                trellis_features **ret_features, trellis_error *error)
{
    if (strcmp(path, "-") != 0 && access(path, F_OK) != 0) {
        return fail_unknown(path, error);
    }
    char *source = NULL;
    size_t size = 0;
    trellis_status status = tr_input_slurp(path, TR_MAX_SOURCE, &source, &size, error);
    if (status) {
        return status;
    }
    const char *slash = strrchr(path, '/');
    char *folder = slash ? tr_copy_text(path, slash == path ? 1 : (size_t)(slash - path))
                         : tr_copy_text("", 0);
    if (!folder) {
        free(source);
        return tr_fail_memory(error);
    }
    struct tr_resource_supply supply = {.from = TR_FILES, .folder = folder, .options = options};
    status = tr_features_compile(path, source, size, &supply, ret_features, error);
    free(folder);
    return status;
}

trellis_status trellis_features_open(const char *preset_or_path, trellis_features **ret_features,
                                     trellis_error *error)
{
    if (!TR_CLEAR(ret_features) || !preset_or_path) {
        return tr_fail_null(error, __func__);
    }
    return tr_features_open(preset_or_path, NULL, ret_features, error);
}

trellis_status tr_features_open(const char *preset_or_path, const trellis_options *options,
                                trellis_features **ret_features, trellis_error *error)
{
    *ret_features = NULL;
    const char *preset = trellis_preset_text(preset_or_path);
    return preset ? tr_features_parse(tr_text(preset), preset_or_path, ret_features, error)
                  : open_file(preset_or_path, options, ret_features, error);
}

/* Compiles a copy of the text. */
static trellis_status parse(trellis_text source, const char *name,
                            const struct tr_resource_supply *supply,
                            trellis_features **ret_features, trellis_error *error)
{
    *ret_features = NULL;
    if (source.size > TR_MAX_SOURCE) {
        return tr_fail(error, TRELLIS_LIMIT, "%s: more than %d bytes of templates", name,
                       TR_MAX_SOURCE);
    }
    char *copy = tr_copy_text(source.data, source.size);
    return copy ? tr_features_compile(name, copy, source.size, supply, ret_features, error)
                : tr_fail_memory(error);
}

trellis_status tr_features_parse(trellis_text source, const char *name,
                                 trellis_features **ret_features, trellis_error *error)
{
    struct tr_resource_supply supply = {.from = TR_NO_RESOURCES};
    return parse(source, name, &supply, ret_features, error);
}

trellis_status trellis_features_parse(trellis_text templates, const char *name,
                                      const trellis_resource *resources, size_t resource_count,
                                      trellis_features **ret_features, trellis_error *error)
{
    if (!TR_CLEAR(ret_features) || (!resources && resource_count > 0)) {
        return tr_fail_null(error, __func__);
    }
    struct tr_resource_supply supply = {
        .from = TR_GIVEN, .given = resources, .given_count = resource_count};
    return parse(templates, name ? name : "templates", &supply, ret_features, error);
}

trellis_status tr_features_none(trellis_features **ret_features, trellis_error *error)
{
    return tr_features_parse(TR_TEXT("step\n"), "none", ret_features, error);
}

bool tr_features_is_none(const trellis_features *features)
{
    return features->parts.size == 0 && !features->strings;
}

void trellis_features_destroy(trellis_features *features)
{
    if (!features) {
        return;
    }
    tr_extractor_destroy(features->printer);
    for (size_t i = 0; i < features->columns.size; i++) {
        free(features->columns.at[i].name);
    }
    for (size_t i = 0; i < features->resources.size; i++) {
        tr_resource_free(&features->resources.at[i]);
    }
    for (size_t i = 0; i < features->counters.size; i++) {
        tr_counter_free(&features->counters.at[i]);
    }
    for (size_t i = 0; i < features->learned.size; i++) {
        tr_learned_names_free(&features->learned.at[i]);
    }
    for (size_t i = 0; i < features->regexes.size; i++) {
        pcre2_code_free(features->regexes.at[i]);
    }
    free(features->columns.at);
    free(features->views.at);
    free(features->parts.at);
    free(features->templates.at);
    free(features->resources.at);
    free(features->counters.at);
    free(features->learned.at);
    tr_role_counter_free(features);
    free(features->regexes.at);
    free(features->literal_keys.at);
    free(features->literal_spans.at);
    tr_intern_free(&features->regex_texts);
    tr_intern_free(&features->literals);
    tr_intern_free(&features->texts);
    free(features->name);
    free(features->source);
    free(features);
}

/* ---- questions ------------------------------------------------------------------------------- */

struct tr_step_choice tr_features_steps(const trellis_features *features)
{
    return features->steps;
}

bool tr_features_has_edges(const trellis_features *features)
{
    for (size_t i = 0; i < features->templates.size; i++) {
        if (features->templates.at[i].edge) {
            return true;
        }
    }
    return features->cells == TR_CELLS;
}

bool tr_features_has_reals(const trellis_features *features)
{
    for (size_t i = 0; i < features->templates.size; i++) {
        if (features->templates.at[i].factors > 0) {
            return true;
        }
    }
    return false;
}

bool tr_features_has_segments(const trellis_features *features)
{
    return features->has_segments;
}

bool tr_features_has_resources(const trellis_features *features)
{
    return features->resources.size > 0;
}

trellis_text tr_features_source(const trellis_features *features)
{
    return (trellis_text){features->source, features->source_size};
}

const char *tr_features_name(const trellis_features *features)
{
    return features->name;
}

size_t tr_features_template_count(const trellis_features *features)
{
    return features->templates.size;
}

trellis_text tr_features_template_text(const trellis_features *features, size_t index)
{
    trellis_text text = tr_intern_text(&features->texts, features->templates.at[index].text);
    return (trellis_text){text.data + 1, text.size - 1}; // without the letter of its kind
}

/* What attributes of a template begin with, and whether this one does. */
static bool comes_from(const trellis_features *features, size_t index, trellis_text attribute,
                       size_t *ret_size)
{
    trellis_text text = tr_features_template_text(features, index);
    bool native = features->dialect == TR_NATIVE;
    const char *macro = native || !text.size ? NULL : memchr(text.data, '%', text.size);
    size_t size = *ret_size = macro ? (size_t)(macro - text.data) : text.size;
    return size <= attribute.size && memcmp(text.data, attribute.data, size) == 0 &&
           (!native || size == attribute.size || attribute.data[size] == '=');
}

size_t tr_features_template_of(const trellis_features *features, bool edge, trellis_text attribute)
{
    size_t best = SIZE_MAX, longest = 0, size;
    for (size_t i = 0; i < features->templates.size; i++) {
        if (features->templates.at[i].edge == edge && comes_from(features, i, attribute, &size) &&
            (best == SIZE_MAX || size > longest)) {
            best = i;
            longest = size;
        }
    }
    return best;
}

/* A condition, not turned round, that the word be unknown. */
bool tr_features_for_unknown(const trellis_features *features, size_t index)
{
    const struct tr_template *template = &features->templates.at[index];
    bool found = false;
    for (uint32_t k = 0; k < template->conditions; k++) {
        const struct tr_template_part *part =
            &features->parts.at[template->parts + template->mixed + k];
        found = found || (!part->negated && part->view != TR_NONE &&
                          features->views.at[part->view].operation == TR_OP_UNKNOWN);
    }
    return found;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* CRFsuite's format separates by tabs and has the value after a colon. */
static void add_escaped(struct tr_buffer *line, const struct tr_buffer *text)
{
    for (size_t i = 0; i < text->size; i++) {
        if (text->data[i] == ':' || text->data[i] == '\\') {
            tr_buffer_char(line, '\\');
        }
        tr_buffer_char(line, text->data[i]);
    }
}

/* What is being printed, and the buffers for it. */
struct printout {
    struct tr_extractor *extractor;
    const trellis_sequence *sequence;
    const struct tr_observation *observation;
    struct tr_buffer line, text; // text: of one attribute
};

/* The attributes of a token, or of a segment. */
static void print_attributes(struct printout *printout, enum tr_attribute_kind kind, size_t token)
{
    const struct tr_seen *seen = tr_observed(printout->observation, kind);
    struct tr_buffer *line = &printout->line, *text = &printout->text;
    for (size_t k = seen->begin[token]; k < seen->begin[token + 1]; k++) {
        text->size = 0;
        tr_extractor_text(printout->extractor, printout->sequence, kind, token, k, text);
        tr_buffer_string(line, kind == TR_EDGE_ATTRIBUTE ? "\tedge " : "\t");
        add_escaped(line, text);
        if (seen->value && seen->value[k] != 1) {
            tr_buffer_char(line, ':');
            tr_buffer_real(line, (double)seen->value[k]);
        }
    }
}

/* The gold segments of a sequence with their attributes, a line each; B-, I-, E- and S- are read as
 * they stand. */
static void print_segments(struct printout *printout)
{
    const trellis_sequence *sequence = printout->sequence;
    size_t longest = printout->observation->max_segment;
    char letter, before = 'O';
    trellis_text type, type_before = {"", 0};
    for (size_t s = 0; longest && sequence->labels && s < sequence->length; s++) {
        tr_label_split(sequence->labels[s], &letter, &type);
        bool begins = tr_span_begins(before, type_before, letter, type);
        before = letter;
        type_before = type;
        size_t e = s;
        while (begins && e + 1 < sequence->length) {
            char next;
            trellis_text type_next;
            tr_label_split(sequence->labels[e + 1], &next, &type_next);
            if (tr_span_ends(e == s ? letter : before, type, next, type_next)) {
                break;
            }
            before = next;
            e++;
        }
        before = letter;
        if (begins && e - s < longest) {
            tr_buffer_format(&printout->line, "segment %zu-%zu ", s + 1, e + 1);
            tr_buffer_text(&printout->line, type);
            print_attributes(printout, TR_SEGMENT_ATTRIBUTE, e * longest + (e - s));
            tr_buffer_char(&printout->line, '\n');
        }
    }
}

/* Makes the extractor that prints, and binds it to the reader. */
static trellis_status prepare_printer(trellis_features *features, const trellis_reader *reader,
                                      trellis_error *error)
{
    trellis_status status = TRELLIS_OK;
    if (!features->printer) {
        status = tr_extractor_create(features, true, &features->printer, error);
        if (!status) {
            tr_extractor_set_segments(features->printer, TR_MAX_SPAN);
        }
    }
    size_t label = reader ? trellis_reader_label_column(reader) : SIZE_MAX;
    return status ? status : tr_extractor_bind(features->printer, reader, label, error);
}

trellis_status trellis_features_print(trellis_features *features, const trellis_reader *reader,
                                      const trellis_sequence *given, trellis_sink sink, void *user,
                                      trellis_error *error)
{
    if (!features || !given || !sink) {
        return tr_fail_null(error, __func__);
    }
    trellis_sequence sequence;
    struct printout printout = {.sequence = &sequence};
    trellis_status status = tr_sequence_take(given, &sequence, error);
    if (!status) {
        status = prepare_printer(features, reader, error);
    }
    if (!status) {
        printout.extractor = features->printer;
        status = tr_extractor_run(features->printer, &sequence, &printout.observation, error);
    }
    for (size_t i = 0; !status && i < sequence.length; i++) {
        tr_buffer_text(&printout.line, sequence.labels ? sequence.labels[i] : TR_TEXT("_"));
        print_attributes(&printout, TR_NODE_ATTRIBUTE, i);
        print_attributes(&printout, TR_EDGE_ATTRIBUTE, i);
        tr_buffer_char(&printout.line, '\n');
    }
    if (!status) {
        print_segments(&printout);
    }
    if (!status) {
        tr_buffer_char(&printout.line, '\n');
        status = printout.text.failed ? tr_fail_memory(error)
                                      : tr_buffer_flush(&printout.line, sink, user, error);
    }
    tr_buffer_free(&printout.line);
    tr_buffer_free(&printout.text);
    return status;
}

bool tr_features_has_context(const trellis_features *features)
{
    for (size_t i = 0; i < features->views.size; i++) {
        enum tr_operation operation = features->views.at[i].operation;
        if (operation == TR_OP_WRITTEN || operation == TR_OP_JOINED ||
            operation == TR_OP_ELSEWHERE) {
            return true;
        }
    }
    return false;
}

size_t trellis_features_context(const trellis_features *features)
{
    enum { DEFAULT_WINDOW = 25 };
    return features && tr_features_has_context(features) ? DEFAULT_WINDOW : 0;
}
