/* results.c - the results file of a search, from which it can be resumed.
 *
 *     {"task": "..."}
 *     {"share": 0.25, "settings": {"l2": "0.5"}, "score": 0.93, "seconds": 1.2}
 *
 * A line is written by one call and synced before the search continues. A last line that a crash
 * left incomplete is removed when the file is opened again. The task identifies the data and the
 * fixed options; a file of another task is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "corpus/json.h"
#include "search/search.h"

enum { MAX_BYTES = 1 << 28 };

/* ---- earlier results --------------------------------------------------------------------- */

/* Whether these are the settings of a trial; allocates nothing. */
static bool is_of(const char *settings, const trellis_search *search, const struct tr_trial *trial)
{
    bool same = true;
    for (size_t i = 0; same && i < search->space.axes.size; i++) {
        size_t name = strlen(search->names[i]), value = strlen(trial->values[i]);
        same = strncmp(settings, search->names[i], name) == 0 && settings[name] == '=' &&
               strncmp(settings + name + 1, trial->values[i], value) == 0 &&
               settings[name + 1 + value] == '\n';
        settings += same ? name + value + 2 : 0;
    }
    return same && !*settings;
}

bool tr_results_find(const trellis_search *search, const struct tr_trial *trial, double share,
                     double *ret_score, double *ret_seconds)
{
    bool found = false;
    for (size_t i = 0; !found && i < search->results.size; i++) {
        const struct tr_result *result = &search->results.at[i];
        found = is_of(result->settings, search, trial) && fabs(result->share - share) < 1e-9;
        *ret_score = result->score;
        *ret_seconds = result->seconds;
    }
    return found;
}

/* One line; *ret_fits is false where it is not a result. */
static trellis_status read_result(trellis_search *search, const json_t *line, bool *ret_fits,
                                  trellis_error *error)
{
    const json_t *settings = json_object_get(line, "settings");
    const json_t *score = json_object_get(line, "score");
    struct tr_result result = {.share = json_number_value(json_object_get(line, "share")),
                               .score = json_is_number(score) ? json_number_value(score) : NAN,
                               .seconds = json_number_value(json_object_get(line, "seconds"))};
    struct tr_buffer text = {0};
    *ret_fits = json_is_object(settings);
    for (size_t i = 0; *ret_fits && i < search->space.axes.size; i++) {
        const char *value = json_string_value(json_object_get(settings, search->names[i]));
        *ret_fits = value != NULL;
        tr_buffer_format(&text, "%s=%s\n", search->names[i], value ? value : "");
    }
    tr_buffer_char(&text, '\0');
    result.settings = text.data;
    if (*ret_fits && !text.failed && tr_push(&search->results, result)) {
        return TRELLIS_OK;
    }
    tr_buffer_free(&text);
    return *ret_fits ? tr_fail_memory(error) : TRELLIS_OK;
}

/* Reads a complete line; the first one has the task. */
static trellis_status read_line(trellis_search *search, trellis_text text, size_t number,
                                const char *task, trellis_error *error)
{
    struct tr_place place = {.file = search->path, .line = number};
    json_error_t wrong;
    bool memory, fits = true;
    json_t *line = tr_json_load(text, 0, &wrong, &memory);
    const char *named_task = json_string_value(json_object_get(line, "task"));
    trellis_status status = TRELLIS_OK;
    if (!memory) {
        status = tr_fail_memory(error);
    } else if (!line || (number == 1 && !named_task)) {
        status = tr_fail_at(error, TRELLIS_FORMAT, place, "this is not a results file of a search");
    } else if (number == 1 && strcmp(named_task, task) != 0) {
        status = tr_fail_at(error, TRELLIS_DATA, place,
                            "these are the results of another search: %.300s; "
                            "use another file to start from scratch",
                            named_task);
    } else if (number > 1) {
        status = read_result(search, line, &fits, error);
    }
    json_decref(line);
    return status || fits
               ? status
               : tr_fail_at(error, TRELLIS_FORMAT, place, "this score belongs to other settings");
}

/* ---- the file -------------------------------------------------------------------------------- */

static trellis_status append(trellis_search *search, const struct tr_buffer *line,
                             trellis_error *error)
{
    if (line->failed) {
        return tr_fail_memory(error);
    }
    for (size_t done = 0; done < line->size;) {
        ssize_t n = write(search->file, line->data + done, line->size - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return tr_fail_system(error, "write", search->path);
        }
        done += (size_t)n;
    }
    if (fsync(search->file) != 0 && errno != EINVAL && errno != EROFS) {
        return tr_fail_system(error, "write", search->path);
    }
    return TRELLIS_OK;
}

/* The contents of the file, to be freed. */
static trellis_status read_all(const trellis_search *search, char **ret_data, size_t *ret_size,
                               trellis_error *error)
{
    struct stat info;
    *ret_data = NULL;
    *ret_size = 0;
    if (fstat(search->file, &info) != 0) {
        return tr_fail_system(error, "read", search->path);
    }
    if (!S_ISREG(info.st_mode) || info.st_size > MAX_BYTES) {
        return tr_fail(error, TRELLIS_IO, "%s: this is not a file of results of a search",
                       search->path);
    }
    char *data = tr_alloc((size_t)info.st_size + 1, 1);
    if (!data) {
        return tr_fail_memory(error);
    }
    size_t size = 0;
    ssize_t n = 1;
    while (n > 0 && size < (size_t)info.st_size) {
        n = pread(search->file, data + size, (size_t)info.st_size - size, (off_t)size);
        size += n > 0 ? (size_t)n : 0;
    }
    if (n < 0) {
        free(data);
        return tr_fail_system(error, "read", search->path);
    }
    *ret_data = data;
    *ret_size = size;
    return TRELLIS_OK;
}

/* Reads the lines that are complete and cuts off one that is not. */
static trellis_status take_up(trellis_search *search, const char *task, size_t *ret_lines,
                              trellis_error *error)
{
    char *data;
    size_t size, begin = 0;
    trellis_status status = read_all(search, &data, &size, error);
    while (!status) {
        const char *end = begin < size ? memchr(data + begin, '\n', size - begin) : NULL;
        if (!end) {
            break;
        }
        size_t n = (size_t)(end - data) - begin;
        status = read_line(search, (trellis_text){data + begin, n}, ++*ret_lines, task, error);
        begin += n + 1;
    }
    if (!status && begin < size && ftruncate(search->file, (off_t)begin) != 0) {
        status = tr_fail_system(error, "write", search->path);
    }
    free(data);
    return status;
}

trellis_status trellis_search_keep(trellis_search *search, const char *path, const char *task,
                                   trellis_error *error)
{
    if (!search || !path || !task) {
        return tr_fail_null(error, __func__);
    }
    size_t lines = 0;
    search->path = tr_copy_text(path, strlen(path));
    if (!search->path) {
        return tr_fail_memory(error);
    }
    search->file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (search->file < 0) {
        return tr_fail_system(error, "write", path);
    }
    trellis_status status = take_up(search, task, &lines, error);
    if (!status && lines == 0) {
        struct tr_buffer line = {0};
        tr_buffer_string(&line, "{\"task\": ");
        tr_buffer_json(&line, tr_text(task));
        tr_buffer_string(&line, "}\n");
        status = append(search, &line, error);
        tr_buffer_free(&line);
    }
    return status;
}

trellis_status tr_results_add(trellis_search *search, const struct tr_trial *trial, double share,
                              double score, double seconds, trellis_error *error)
{
    struct tr_buffer line = {0};
    if (search->file < 0) {
        return TRELLIS_OK;
    }
    tr_buffer_string(&line, "{\"share\": ");
    tr_buffer_real(&line, share);
    tr_buffer_string(&line, ", \"settings\": {");
    for (size_t i = 0; i < search->space.axes.size; i++) {
        tr_buffer_string(&line, i ? ", " : "");
        tr_buffer_json(&line, tr_text(search->names[i]));
        tr_buffer_string(&line, ": ");
        tr_buffer_json(&line, tr_text(trial->values[i]));
    }
    tr_buffer_string(&line, "}, \"score\": ");
    tr_buffer_real(&line, score);
    tr_buffer_string(&line, ", \"seconds\": ");
    tr_buffer_real(&line, seconds);
    tr_buffer_string(&line, "}\n");
    trellis_status status = append(search, &line, error);
    tr_buffer_free(&line);
    return status;
}

void tr_results_free(trellis_search *search)
{
    for (size_t i = 0; i < search->results.size; i++) {
        free(search->results.at[i].settings);
    }
    free(search->results.at);
    free(search->path);
    if (search->file >= 0) {
        close(search->file);
    }
}
