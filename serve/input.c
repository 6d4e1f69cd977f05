/* input.c - the sequences of a request, read from JSON and laid out for a model. */
#include "input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "failure.h"

static trellis_text json_text(const json_t *string)
{
    return (trellis_text){json_string_value(string), json_string_length(string)};
}

static trellis_status fail_memory(trellis_error *error)
{
    return fail(error, TRELLIS_MEMORY, "out of memory");
}

/* Makes an array of elements of `size` bytes at least `count` long; what is in it stays. */
static bool reserve(void *array, size_t *room, size_t count, size_t size)
{
    void **at = array;
    if (count <= *room) {
        return true;
    }
    size_t wanted = *room ? *room : 64;
    while (wanted < count) {
        wanted *= 2;
    }
    void *larger = wanted > SIZE_MAX / 2 / size ? NULL : realloc(*at, wanted * size);
    if (!larger) {
        return false;
    }
    *at = larger;
    *room = wanted;
    return true;
}

/* ---- settings -------------------------------------------------------------------------------- */

static trellis_status set_decode(struct settings *settings, const json_t *value,
                                 trellis_error *error)
{
    const char *name = json_string_value(value);
    if (!name || (strcmp(name, "viterbi") != 0 && strcmp(name, "posterior") != 0)) {
        return fail(error, TRELLIS_OPTION, "\"decode\" must be \"viterbi\" or \"posterior\"");
    }
    snprintf(settings->decoding.decode, sizeof settings->decoding.decode, "%s", name);
    return TRELLIS_OK;
}

static trellis_status set_threshold(struct settings *settings, const json_t *value,
                                    trellis_error *error)
{
    double threshold = json_number_value(value);
    if (!json_is_number(value) || !(threshold >= 0 && threshold <= 1)) {
        return fail(error, TRELLIS_OPTION, "\"threshold\" must be a number from 0 to 1");
    }
    settings->decoding.threshold = threshold;
    return TRELLIS_OK;
}

static trellis_status set_flag(bool *flag, const char *name, const json_t *value,
                               trellis_error *error)
{
    *flag = json_is_true(value);
    return json_is_boolean(value)
               ? TRELLIS_OK
               : fail(error, TRELLIS_OPTION, "\"%s\" must be true or false", name);
}

static trellis_status set_marginals(struct settings *settings, const json_t *value,
                                    trellis_error *error)
{
    return set_flag(&settings->marginals, "marginals", value, error);
}

static trellis_status set_all_marginals(struct settings *settings, const json_t *value,
                                        trellis_error *error)
{
    return set_flag(&settings->all_marginals, "all_marginals", value, error);
}

static trellis_status set_count(size_t *count, const char *name, size_t max, const json_t *value,
                                trellis_error *error)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || (uint64_t)number > max) {
        return fail(error, TRELLIS_OPTION, "\"%s\" must be an integer from 1 to %zu", name, max);
    }
    *count = (size_t)number;
    return TRELLIS_OK;
}

static trellis_status set_nbest(struct settings *settings, const json_t *value,
                                trellis_error *error)
{
    return set_count(&settings->nbest, "nbest", MAX_NBEST, value, error);
}

static trellis_status set_top(struct settings *settings, const json_t *value, trellis_error *error)
{
    return set_count(&settings->top, "top", MAX_TOP, value, error);
}

static trellis_status set_model(struct settings *settings, const json_t *value,
                                trellis_error *error)
{
    settings->model = json_text(value);
    return json_is_string(value) && settings->model.size > 0
               ? TRELLIS_OK
               : fail(error, TRELLIS_OPTION, "\"model\" must be the name of a model");
}

static const struct setting {
    const char *name;
    unsigned bit;
    trellis_status (*set)(struct settings *settings, const json_t *value, trellis_error *error);
} all_settings[] = {
    {"model", ~0U, set_model},
    {"decode", SETTING_DECODE, set_decode},
    {"threshold", SETTING_THRESHOLD, set_threshold},
    {"marginals", SETTING_MARGINALS, set_marginals},
    {"all_marginals", SETTING_ALL_MARGINALS, set_all_marginals},
    {"nbest", SETTING_NBEST, set_nbest},
    {"top", SETTING_TOP, set_top},
};
enum { SETTING_COUNT = sizeof all_settings / sizeof *all_settings };

static const struct setting *find_setting(const char *name, unsigned accepted)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(all_settings[i].name, name) == 0) {
            return all_settings[i].bit & (accepted | 1U << 31) ? &all_settings[i] : NULL;
        }
    }
    return NULL;
}

static bool is_sequence_member(const char *name)
{
    return strcmp(name, "text") == 0 || strcmp(name, "tokens") == 0 ||
           strcmp(name, "attributes") == 0;
}

static trellis_status fail_member(const char *name, unsigned accepted, trellis_error *error)
{
    trellis_suggestion suggestion = {.struct_size = sizeof suggestion, .asked = name};
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        if (find_setting(all_settings[i].name, accepted)) {
            trellis_suggest(&suggestion, all_settings[i].name);
        }
    }
    bool near = suggestion.nearest;
    return fail(error, TRELLIS_OPTION, "\"%.100s\" is not a member of such a request%s%s%s", name,
                near ? "; did you mean \"" : "", near ? suggestion.nearest : "", near ? "\"?" : "");
}

/* Settings that contradict each other, as in `trellis tag`. */
static trellis_status check_settings(const struct settings *settings, trellis_error *error)
{
    bool ranked = settings->nbest > 1;
    if (ranked && settings->decoding.decode[0] &&
        strcmp(settings->decoding.decode, "viterbi") != 0) {
        return fail(error, TRELLIS_OPTION, "\"nbest\" needs \"decode\": \"viterbi\"");
    }
    if (ranked && settings->decoding.threshold > 0) {
        return fail(error, TRELLIS_OPTION, "\"nbest\" cannot be combined with \"threshold\"");
    }
    return TRELLIS_OK;
}

static trellis_status read_settings(struct input *input, unsigned accepted, trellis_error *error)
{
    const char *name;
    json_t *value;
    trellis_status status = TRELLIS_OK;
    input->settings.nbest = 1;
    json_object_foreach(input->root, name, value)
    {
        const struct setting *setting = find_setting(name, accepted);
        bool column = !input->list && (is_sequence_member(name) || json_is_array(value));
        if (setting && !status) {
            status = setting->set(&input->settings, value, error);
        } else if (!status && !column && strcmp(name, "sequences") != 0) {
            status = fail_member(name, accepted, error);
        }
    }
    return status ? status : check_settings(&input->settings, error);
}

trellis_status input_open(struct input *input, const struct text *body, unsigned accepted,
                          size_t max_tokens, trellis_error *error)
{
    json_error_t wrong = {0};
    *input = (struct input){.max_tokens = max_tokens};
    input->root = json_loadb(body->data ? body->data : "", body->size, JSON_REJECT_DUPLICATES,
                             &wrong);
    if (!input->root) {
        return fail(error, TRELLIS_FORMAT, "line %d, column %d: bad JSON: %s", wrong.line,
                    wrong.column, wrong.text);
    }
    if (!json_is_object(input->root)) {
        return fail(error, TRELLIS_FORMAT, "expected a JSON object");
    }
    input->list = json_object_get(input->root, "sequences");
    if (input->list && !json_is_array(input->list)) {
        return fail(error, TRELLIS_FORMAT, "\"sequences\" must be an array");
    }
    return read_settings(input, accepted, error);
}

void input_close(struct input *input)
{
    trellis_reader_close(input->prose.reader);
    trellis_options_destroy(input->prose.options);
    free(input->prose.offsets);
    free(input->cells.at);
    free(input->attributes.at);
    free(input->attributes.begin);
    json_decref(input->root);
    *input = (struct input){0};
}

/* ---- columns --------------------------------------------------------------------------------- */

size_t word_column(const struct snapshot *snapshot)
{
    static const char *const names[] = {"word", "form", "token", "tokens", "text"};
    for (size_t i = 0; i < snapshot->columns; i++) {
        const char *name = snapshot_column_name(snapshot, i);
        for (size_t k = 0; name && k < sizeof names / sizeof *names; k++) {
            if (strcasecmp(name, names[k]) == 0) {
                return i;
            }
        }
    }
    return 0;
}

trellis_status check_columns(const struct snapshot *snapshot, uint64_t given, trellis_error *error)
{
    uint64_t missing = snapshot->used & ~given;
    if (!missing) {
        return TRELLIS_OK;
    }
    size_t column = (size_t)__builtin_ctzll(missing);
    const char *name = snapshot_column_name(snapshot, column);
    return fail(error, TRELLIS_DATA,
                "column %zu%s%s%s of the training data is missing, and the templates of the model "
                "'%s' use it",
                column + 1, name ? " (" : "", name ? name : "", name ? ")" : "", snapshot->name);
}

static trellis_status check_attributes(const struct input *input, bool given, trellis_error *error)
{
    if (input->snapshot->attributes && !given) {
        return fail(error, TRELLIS_DATA,
                    "the model '%s' was trained on ready-made attributes: send \"attributes\"",
                    input->snapshot->name);
    }
    if (given && input->snapshot->used) {
        return fail(error, TRELLIS_DATA,
                    "the model '%s' makes its attributes from columns: send \"tokens\"",
                    input->snapshot->name);
    }
    return TRELLIS_OK;
}

static trellis_status count_tokens(struct input *input, size_t length, trellis_error *error)
{
    input->tokens += length;
    return input->tokens <= input->max_tokens
               ? TRELLIS_OK
               : fail(error, TRELLIS_LIMIT, "more than %zu tokens in one request",
                      input->max_tokens);
}

/* Room for the sequence, with columns that are all empty. */
static trellis_status begin_cells(struct input *input, size_t length, size_t columns,
                                  trellis_error *error)
{
    trellis_status status = count_tokens(input, length, error);
    if (status) {
        return status;
    }
    if (!reserve(&input->cells.at, &input->cells.room, length * columns + 1,
                 sizeof *input->cells.at)) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < length * columns; i++) {
        input->cells.at[i] = (trellis_text){"", 0};
    }
    input->sequence = (trellis_sequence){.struct_size = sizeof input->sequence,
                                         .length = length,
                                         .columns = columns,
                                         .cells = columns ? input->cells.at : NULL,
                                         .weight = 1};
    return TRELLIS_OK;
}

/* The index of a column that has a name: where the model has columns of that name, among those;
 * otherwise the next one. */
static trellis_status place_column(const struct input *input, const char *name, size_t next,
                                   size_t *ret_index, trellis_error *error)
{
    const struct snapshot *snapshot = input->snapshot;
    *ret_index = next;
    for (size_t i = 0; snapshot->column_names && i < snapshot->columns; i++) {
        const char *known = snapshot_column_name(snapshot, i);
        if (known && strcasecmp(known, name) == 0) {
            *ret_index = i;
            return TRELLIS_OK;
        }
    }
    if (snapshot->column_names) {
        return fail(error, TRELLIS_DATA, "the model '%s' was not trained on a column \"%.100s\"",
                    snapshot->name, name);
    }
    return next < MAX_COLUMNS ? TRELLIS_OK
                              : fail(error, TRELLIS_LIMIT, "more than %d columns", MAX_COLUMNS);
}

/* Copies an array of strings to column `index`. */
static trellis_status fill_column(struct input *input, size_t index, const char *name,
                                  const json_t *array, trellis_error *error)
{
    size_t length = input->sequence.length;
    if (!json_is_array(array) || json_array_size(array) != length) {
        return fail(error, TRELLIS_FORMAT, "\"%.100s\" must be an array of %zu strings", name,
                    length);
    }
    for (size_t i = 0; i < length; i++) {
        const json_t *cell = json_array_get(array, i);
        if (!json_is_string(cell)) {
            return fail(error, TRELLIS_FORMAT, "\"%.100s\"[%zu] is not a string", name, i);
        }
        input->cells.at[i * input->sequence.columns + index] = json_text(cell);
    }
    return TRELLIS_OK;
}

/* ---- sequences of columns -------------------------------------------------------------------- */

/* Whether a member of a sequence is a column besides the tokens. */
static bool is_column(const struct input *input, const char *name)
{
    return !is_sequence_member(name) && strcmp(name, "labels") != 0 &&
           (input->list || !find_setting(name, ~0U)) && strcmp(name, "id") != 0;
}

/* The columns of a sequence: where each member goes, and their names. */
static trellis_status place_columns(struct input *input, json_t *object, uint64_t *ret_given,
                                    trellis_error *error)
{
    const char *name;
    json_t *value;
    size_t word = word_column(input->snapshot), next = 1, index = 0;
    trellis_status status = TRELLIS_OK;
    const char *own = snapshot_column_name(input->snapshot, word);
    input->columns = (struct column_list){.count = word + 1};
    input->columns.names[word] = own ? own : "word";
    *ret_given = 1ULL << word;
    json_object_foreach(object, name, value)
    {
        if (status || !is_column(input, name)) {
            continue;
        }
        status = place_column(input, name, next++, &index, error);
        if (!status && *ret_given >> index & 1) {
            status = fail(error, TRELLIS_DATA, "\"tokens\" and \"%.100s\" are the same column",
                          name);
        }
        if (!status) {
            *ret_given |= 1ULL << index;
            input->columns.names[index] = name;
            input->columns.count = index < input->columns.count ? input->columns.count : index + 1;
        }
    }
    return status;
}

/* {"tokens": ["He", "reckons"], "pos": ["PRP", "VBZ"]} */
static trellis_status take_named(struct input *input, json_t *object, const json_t *tokens,
                                 trellis_error *error)
{
    const char *name;
    json_t *value;
    uint64_t given;
    trellis_status status = place_columns(input, object, &given, error);
    if (!status) {
        status = check_columns(input->snapshot, given, error);
    }
    if (!status) {
        status = begin_cells(input, json_array_size(tokens), input->columns.count, error);
    }
    if (!status) {
        status = fill_column(input, word_column(input->snapshot), "tokens", tokens, error);
    }
    for (size_t i = 0; !status && i < input->columns.count; i++) {
        name = input->columns.names[i];
        value = name && i != word_column(input->snapshot) ? json_object_get(object, name) : NULL;
        status = value ? fill_column(input, i, name, value, error) : TRELLIS_OK;
    }
    return status;
}

/* {"tokens": [["He", "PRP"], ["reckons", "VBZ"]]}: columns by their position. */
static trellis_status take_rows(struct input *input, const json_t *tokens, trellis_error *error)
{
    size_t length = json_array_size(tokens);
    size_t columns = json_array_size(json_array_get(tokens, 0));
    if (columns < 1 || columns > MAX_COLUMNS) {
        return fail(error, TRELLIS_FORMAT, "\"tokens\"[0] must have 1 to %d cells", MAX_COLUMNS);
    }
    uint64_t given = columns == MAX_COLUMNS ? ~0ULL : (1ULL << columns) - 1;
    trellis_status status = check_columns(input->snapshot, given, error);
    if (!status) {
        status = begin_cells(input, length, columns, error);
    }
    input->columns = (struct column_list){.count = columns};
    for (size_t i = 0; i < columns; i++) {
        input->columns.names[i] = snapshot_column_name(input->snapshot, i);
    }
    for (size_t i = 0; !status && i < length; i++) {
        const json_t *row = json_array_get(tokens, i);
        if (!json_is_array(row) || json_array_size(row) != columns) {
            status = fail(error, TRELLIS_FORMAT, "\"tokens\"[%zu] must be an array of %zu strings",
                          i, columns);
        }
        for (size_t k = 0; !status && k < columns; k++) {
            const json_t *cell = json_array_get(row, k);
            input->cells.at[i * columns + k] = json_text(cell);
            status = json_is_string(cell) ? TRELLIS_OK
                                          : fail(error, TRELLIS_FORMAT,
                                                 "\"tokens\"[%zu][%zu] is not a string", i, k);
        }
    }
    return status;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static trellis_status add_attribute(struct input *input, trellis_text name, const json_t *value,
                                    trellis_error *error)
{
    double number = value ? json_number_value(value) : 1;
    if (!name.data || (value && !json_is_number(value)) || !isfinite(number)) {
        return fail(error, TRELLIS_FORMAT,
                    "an attribute is \"NAME\", [\"NAME\", NUMBER] or \"NAME\": NUMBER");
    }
    if (!reserve(&input->attributes.at, &input->attributes.room, input->attributes.size + 1,
                 sizeof *input->attributes.at)) {
        return fail_memory(error);
    }
    input->attributes.at[input->attributes.size++] = (trellis_attribute){name, number};
    return TRELLIS_OK;
}

/* The attributes of one token: {"w=the": 0.5}, or [["w=the", 0.5], "cap"]. */
static trellis_status add_attributes(struct input *input, json_t *token, trellis_error *error)
{
    const char *name;
    json_t *value;
    size_t i;
    trellis_status status = TRELLIS_OK;
    json_object_foreach(token, name, value)
    {
        status = status ? status
                        : add_attribute(input, (trellis_text){name, strlen(name)}, value, error);
    }
    json_array_foreach(token, i, value)
    {
        bool pair = json_array_size(value) == 2;
        const json_t *text = pair ? json_array_get(value, 0) : value;
        status = status ? status
                        : add_attribute(input, json_text(text),
                                        pair ? json_array_get(value, 1) : NULL, error);
    }
    return json_is_array(token) || json_is_object(token)
               ? status
               : fail(error, TRELLIS_FORMAT,
                      "the attributes of a token must be an array or an object");
}

static trellis_status take_attributes(struct input *input, const json_t *tokens,
                                      const json_t *attributes, trellis_error *error)
{
    size_t length = json_array_size(attributes);
    if (!json_is_array(attributes) || (tokens && json_array_size(tokens) != length)) {
        return fail(error, TRELLIS_FORMAT,
                    "\"attributes\" must be an array with an element for each token");
    }
    trellis_status status = begin_cells(input, length, tokens ? 1 : 0, error);
    input->columns = (struct column_list){.names = {"word"}, .count = tokens ? 1 : 0};
    if (!status && tokens) {
        status = fill_column(input, 0, "tokens", tokens, error);
    }
    if (!status && !reserve(&input->attributes.begin, &input->attributes.begin_room, length + 1,
                            sizeof *input->attributes.begin)) {
        status = fail_memory(error);
    }
    input->attributes.size = 0;
    for (size_t i = 0; !status && i < length; i++) {
        input->attributes.begin[i] = input->attributes.size;
        status = add_attributes(input, json_array_get(attributes, i), error);
        input->attributes.begin[i + 1] = input->attributes.size;
    }
    if (!status && length > 0 && !input->attributes.at) {
        status = add_attribute(input, (trellis_text){"", 0}, NULL, error); // so that it is there
    }
    input->sequence.attributes = input->attributes.at;
    input->sequence.attribute_begin = length > 0 ? input->attributes.begin : NULL;
    return status;
}

/* ---- running text ---------------------------------------------------------------------------- */

static trellis_status open_prose(struct input *input, const json_t *text, trellis_error *error)
{
    size_t word = word_column(input->snapshot);
    trellis_status status = json_is_string(text)
                                ? check_columns(input->snapshot, 1ULL << word, error)
                                : fail(error, TRELLIS_FORMAT, "\"text\" must be a string");
    if (!status && !input->prose.options) {
        status = trellis_options_copy(input->snapshot->limits, &input->prose.options, error);
    }
    if (!status) {
        status = trellis_options_set(input->prose.options, "format", "text", error);
    }
    if (!status) {
        input->prose.text = json_text(text);
        input->prose.byte = input->prose.character = 0;
        trellis_source source = {.struct_size = sizeof source,
                                 .data = input->prose.text.data,
                                 .data_size = input->prose.text.size,
                                 .name = "text"};
        status = trellis_reader_open_source(&source, input->prose.options, &input->prose.reader,
                                            error);
    }
    return status;
}

/* Moves on to byte `to` and counts the characters on the way. */
static size_t walk_to(struct input *input, size_t to)
{
    for (size_t at = input->prose.byte; at < to; at++) {
        input->prose.character += (input->prose.text.data[at] & 0xC0) != 0x80;
    }
    input->prose.byte = to;
    return input->prose.character;
}

/* Tokens are slices of the text in its order, and only blanks are left out between them. */
static trellis_status find_offsets(struct input *input, const trellis_sequence *sequence,
                                   trellis_error *error)
{
    if (!reserve(&input->prose.offsets, &input->prose.room, 2 * sequence->length + 1,
                 sizeof *input->prose.offsets)) {
        return fail_memory(error);
    }
    for (size_t i = 0; i < sequence->length; i++) {
        trellis_text token = sequence->cells[i], text = input->prose.text;
        const char *found = memmem(text.data + input->prose.byte, text.size - input->prose.byte,
                                   token.data, token.size);
        if (!found) {
            return fail(error, TRELLIS_DATA, "a token is not in the text");
        }
        size_t begin = (size_t)(found - text.data);
        input->prose.offsets[2 * i] = walk_to(input, begin);
        input->prose.offsets[2 * i + 1] = walk_to(input, begin + token.size);
    }
    input->offsets = input->prose.offsets;
    return TRELLIS_OK;
}

/* The next sentence of the text; TRELLIS_END after the last. */
static trellis_status next_sentence(struct input *input, trellis_error *error)
{
    const trellis_sequence *sentence;
    size_t word = word_column(input->snapshot);
    trellis_status status = trellis_reader_next(input->prose.reader, &sentence, error);
    if (status) {
        trellis_reader_close(input->prose.reader);
        input->prose.reader = NULL;
        return status;
    }
    status = begin_cells(input, sentence->length, word + 1, error);
    if (!status) {
        const char *own = snapshot_column_name(input->snapshot, word);
        input->columns = (struct column_list){.count = word + 1};
        input->columns.names[word] = own ? own : "word";
        for (size_t i = 0; i < sentence->length; i++) {
            input->cells.at[i * (word + 1) + word] = sentence->cells[i];
        }
        status = find_offsets(input, sentence, error);
    }
    return status;
}

/* ---- one after the other --------------------------------------------------------------------- */

static trellis_status take(struct input *input, json_t *object, trellis_error *error)
{
    const json_t *text = json_object_get(object, "text");
    const json_t *tokens = json_object_get(object, "tokens");
    const json_t *attributes = json_object_get(object, "attributes");
    trellis_status status = check_attributes(input, attributes, error);
    if (status) {
        return status;
    }
    if (text && (tokens || attributes)) {
        return fail(error, TRELLIS_FORMAT, "a sequence has \"text\" or \"tokens\", not both");
    }
    if (text) {
        return open_prose(input, text, error);
    }
    if (attributes) {
        return take_attributes(input, tokens, attributes, error);
    }
    if (!json_is_array(tokens)) {
        return fail(error, TRELLIS_FORMAT,
                    "a sequence needs \"tokens\" (an array), \"text\" or "
                    "\"attributes\"");
    }
    return json_is_array(json_array_get(tokens, 0)) ? take_rows(input, tokens, error)
                                                    : take_named(input, object, tokens, error);
}

/* Says which of several sequences is at fault. */
static trellis_status name_element(const struct input *input, trellis_status status,
                                   trellis_error *error)
{
    char message[sizeof error->message];
    if (status && status != TRELLIS_END && input->list) {
        memcpy(message, error->message, sizeof message);
        snprintf(error->message, sizeof error->message, "sequences[%zu]: %.950s", input->element,
                 message);
    }
    return status;
}

trellis_status input_next(struct input *input, trellis_error *error)
{
    size_t count = input->list ? json_array_size(input->list) : 1;
    trellis_status status = TRELLIS_END;
    input->offsets = NULL;
    if (input->prose.reader) {
        status = next_sentence(input, error);
    }
    while (status == TRELLIS_END && input->next < count) {
        input->element = input->next++;
        json_t *object = input->list ? json_array_get(input->list, input->element) : input->root;
        status = json_is_object(object) ? take(input, object, error)
                                        : fail(error, TRELLIS_FORMAT, "expected a JSON object");
        if (!status && input->prose.reader) {
            status = next_sentence(input, error);
        }
    }
    return name_element(input, status, error);
}
