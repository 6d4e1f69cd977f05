/* input.c - reads a file, or bytes in memory, line by line: plain, gzip or Zstandard.
 *
 *     file --refill()--> raw bytes --inflate/zstd--> buffer --lines-->
 *
 * The buffer holds [0, used); the lines returned so far end at `at`. What is before `held` may be
 * overwritten; while lines are held, `held` stays where the first of them begins.
 */
#include "base/input.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/text.h"

enum { RAW_SIZE = 1 << 17, REFILL_SIZE = 1 << 18, MAX_REFILL = 1 << 26 };
/* Decoded bytes below which a high ratio is no reason to refuse: logs and test data compress well. */
enum { MIN_EXPANDED = 1 << 26 };
/* What a line of a file read as a whole counts beside its bytes, about what is kept of a short one. */
enum { LINE_COST = 32 };

#define NULL_DEVICE makedev(1, 3)

enum compression { PLAIN, GZIP, ZSTD };

struct tr_input {
    char *path;
    int file;          // -1: the bytes below
    uint64_t file_at;  // bytes of the file before what is read next
    uint64_t file_end; // where it ends at the latest
    const char *bytes; // borrowed
    size_t bytes_at, bytes_size;
    enum compression kind;
    bool at_end;         // of the decoded bytes
    bool raw_end;        // of the file
    bool between_frames; // compressed input may end here
    unsigned char *raw;  // [RAW_SIZE] as read, for compressed input
    size_t raw_at, raw_used;
    z_stream gzip;
    ZSTD_DStream *zstd;
    char *buffer;
    size_t capacity, used, at, held;
    uint64_t line;
    struct tr_limits limits;
    size_t ahead; // bytes that a refill adds at most while lines are taken; 0: as many as fit
    bool stream;
    size_t line_cost;          // what each line counts beside its bytes
    uint64_t raw_total, total; // bytes read, and decoded
    /* Why no more could be read ahead, once nothing else is left to take. */
    trellis_status failure_status;
    trellis_error failure;
};

void tr_input_close(struct tr_input *input)
{
    if (!input) {
        return;
    }
    if (input->kind == GZIP) {
        inflateEnd(&input->gzip);
    }
    ZSTD_freeDStream(input->zstd);
    if (input->file > 0) {
        close(input->file);
    }
    free(input->raw);
    free(input->buffer);
    free(input->path);
    free(input);
}

/* Reads up to `room` bytes; *ret_size is 0 at the end of the file. */
static trellis_status read_some(struct tr_input *input, void *to, size_t room, size_t *ret_size,
                                trellis_error *error)
{
    if (input->file < 0) {
        size_t left = input->bytes_size - input->bytes_at;
        *ret_size = left < room ? left : room;
        if (*ret_size) {
            memcpy(to, input->bytes + input->bytes_at, *ret_size);
        }
        input->bytes_at += *ret_size;
        return TRELLIS_OK;
    }
    uint64_t left = input->file_end - input->file_at;
    for (;;) {
        ssize_t n = read(input->file, to, room < left ? room : (size_t)left);
        if (n >= 0) {
            *ret_size = (size_t)n;
            input->file_at += (uint64_t)n;
            return TRELLIS_OK;
        }
        if (errno != EINTR) {
            return tr_fail_system(error, "read", input->path);
        }
    }
}

static trellis_status corrupt(struct tr_input *input, const char *what, trellis_error *error)
{
    return tr_fail_at(error, TRELLIS_FORMAT, tr_input_place(input), "the %s data is corrupt: %s",
                      input->kind == GZIP ? "gzip" : "zstd", what);
}

/* Decompresses from raw into [to, to + room); *ret_made is the number of bytes written. */
static trellis_status decode(struct tr_input *input, char *to, size_t room, size_t *ret_made,
                             trellis_error *error)
{
    unsigned char *from = input->raw + input->raw_at;
    size_t left = input->raw_used - input->raw_at;
    if (input->kind == GZIP) {
        input->gzip.next_in = from;
        input->gzip.avail_in = (uInt)left;
        input->gzip.next_out = (unsigned char *)to;
        input->gzip.avail_out = (uInt)room;
        int code = inflate(&input->gzip, Z_NO_FLUSH);
        input->raw_at += left - input->gzip.avail_in;
        *ret_made = room - input->gzip.avail_out;
        if (code == Z_MEM_ERROR) {
            return tr_fail_memory(error);
        }
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
            return corrupt(input, input->gzip.msg ? input->gzip.msg : "bad stream", error);
        }
        input->between_frames = code == Z_STREAM_END;
        if (code == Z_STREAM_END) {
            inflateReset(&input->gzip); // a .gz file may be several files concatenated
        }
        return TRELLIS_OK;
    }
    ZSTD_inBuffer in = {from, left, 0};
    ZSTD_outBuffer out = {to, room, 0};
    size_t code = ZSTD_decompressStream(input->zstd, &out, &in);
    input->raw_at += in.pos;
    *ret_made = out.pos;
    if (ZSTD_isError(code)) {
        return corrupt(input, ZSTD_getErrorName(code), error);
    }
    input->between_frames = code == 0;
    return TRELLIS_OK;
}

void tr_input_set_limits(struct tr_input *input, const struct tr_limits *limits, bool stream)
{
    input->limits = *limits;
    input->stream = stream;
    /* What is made of the bytes takes memory as well. */
    if (limits->memory && limits->memory / 4 < limits->sequence_bytes) {
        input->limits.sequence_bytes = limits->memory / 4;
    }
    if (limits->memory && limits->memory / 2 < limits->file_bytes) {
        input->limits.file_bytes = limits->memory / 2;
    }
}

/* Refuses to go on where a limit is exceeded. */
static trellis_status check_limits(const struct tr_input *input, trellis_error *error)
{
    const struct tr_limits *limits = &input->limits;
    uint64_t lines = input->line_cost * input->line;
    if (!input->stream && input->total + lines > limits->file_bytes) {
        return tr_fail(error, TRELLIS_LIMIT, "%s: more than %llu bytes%s (--max-file%s)",
                       input->path, (unsigned long long)limits->file_bytes,
                       lines ? " with 32 for each line" : "", limits->memory ? ", --memory" : "");
    }
    if (input->kind != PLAIN && input->total > MIN_EXPANDED &&
        input->total / limits->ratio > input->raw_total) {
        return tr_fail(error, TRELLIS_LIMIT,
                       "%s: compressed data that becomes more than %llu times as large "
                       "(--max-ratio)",
                       input->path, (unsigned long long)limits->ratio);
    }
    if (input->stream && input->used - input->held > limits->sequence_bytes + REFILL_SIZE) {
        return tr_fail_at(error, TRELLIS_LIMIT, tr_input_place(input),
                          "a sequence of more than %llu bytes (--max-sequence%s)",
                          (unsigned long long)limits->sequence_bytes,
                          limits->memory ? ", --memory" : "");
    }
    return TRELLIS_OK;
}

/* Appends at least one byte to the buffer, or sets at_end. */
static trellis_status refill(struct tr_input *input, trellis_error *error)
{
    trellis_status limited = check_limits(input, error);
    if (limited) {
        return limited;
    }
    if (input->held > 0 && input->held >= input->used / 2) {
        memmove(input->buffer, input->buffer + input->held, input->used - input->held);
        input->used -= input->held;
        input->at -= input->held;
        input->held = 0;
    }
    size_t more = input->ahead ? input->ahead : REFILL_SIZE, made = 0;
    if (!tr_make_room(input->buffer, input->capacity, input->used + more)) {
        return tr_fail_memory(error);
    }
    size_t room = input->ahead ? input->ahead : input->capacity - input->used;
    room = room < MAX_REFILL ? room : MAX_REFILL;
    while (made == 0 && !input->at_end) {
        trellis_status status;
        if (input->kind == PLAIN) {
            status = read_some(input, input->buffer + input->used, room, &made, error);
            input->at_end = made == 0;
        } else {
            if (input->raw_at == input->raw_used && !input->raw_end) {
                input->raw_at = 0;
                status = read_some(input, input->raw, RAW_SIZE, &input->raw_used, error);
                if (status) {
                    return status;
                }
                input->raw_end = input->raw_used == 0;
                input->raw_total += input->raw_used;
            }
            if (input->raw_end && input->between_frames) {
                input->at_end = true;
                break;
            }
            status = decode(input, input->buffer + input->used, room, &made, error);
            if (!status && input->raw_end && made == 0 && !input->between_frames) {
                return corrupt(input, "unexpected end of file", error);
            }
        }
        if (status) {
            return status;
        }
    }
    input->used += made;
    input->total += made;
    return TRELLIS_OK;
}

static const unsigned char gzip_magic[] = {0x1F, 0x8B}, zstd_magic[] = {0x28, 0xB5, 0x2F, 0xFD};

/* Whether the bytes read so far are a prefix of a magic number: a line of two letters typed by a
 * user must not wait for more. */
static bool begins_like(const unsigned char *bytes, size_t count, const unsigned char *magic,
                        size_t size)
{
    return memcmp(bytes, magic, count < size ? count : size) == 0;
}

static bool undecided(const unsigned char *bytes, size_t count)
{
    return count < sizeof zstd_magic && (begins_like(bytes, count, gzip_magic, sizeof gzip_magic) ||
                                         begins_like(bytes, count, zstd_magic, sizeof zstd_magic));
}

/* Detects the compression by the first bytes and sets up the decoder. */
static trellis_status detect_compression(struct tr_input *input, trellis_error *error)
{
    input->raw = tr_alloc(RAW_SIZE, 1);
    if (!input->raw) {
        return tr_fail_memory(error);
    }
    size_t n = 1;
    while (n && undecided(input->raw, input->raw_used)) {
        trellis_status status = read_some(input, input->raw + input->raw_used,
                                          RAW_SIZE - input->raw_used, &n, error);
        if (status) {
            return status;
        }
        input->raw_used += n;
    }
    const unsigned char *bytes = input->raw;
    size_t count = input->raw_used;
    input->raw_total = count;
    if (count >= sizeof gzip_magic && begins_like(bytes, count, gzip_magic, sizeof gzip_magic)) {
        if (inflateInit2(&input->gzip, 15 + 16) != Z_OK) {
            return tr_fail_memory(error);
        }
        input->kind = GZIP;
    } else if (count >= sizeof zstd_magic &&
               begins_like(bytes, count, zstd_magic, sizeof zstd_magic)) {
        input->zstd = ZSTD_createDStream();
        if (!input->zstd) {
            return tr_fail_memory(error);
        }
        ZSTD_DCtx_setParameter(input->zstd, ZSTD_d_windowLogMax, 27);
        input->kind = ZSTD;
    } else {
        if (!tr_make_room(input->buffer, input->capacity, RAW_SIZE)) {
            return tr_fail_memory(error);
        }
        memcpy(input->buffer, input->raw, input->raw_used);
        input->used = input->raw_used;
        input->total = input->raw_used;
        free(input->raw);
        input->raw = NULL;
    }
    return TRELLIS_OK;
}

/* Until a caller sets others, the limits are those of a file that is read as a whole. */
static trellis_status begin(struct tr_input *input, trellis_error *error)
{
    input->file_end = UINT64_MAX;
    trellis_status status = tr_limits_resolve(NULL, &input->limits, error);
    return status ? status : detect_compression(input, error);
}

/* Why a file cannot be read, if it cannot: one without an end would be read for ever. */
static const char *obstacle(int file)
{
    struct stat about;
    if (fstat(file, &about) != 0) {
        return NULL;
    }
    bool endless = S_ISBLK(about.st_mode) ||
                   (S_ISCHR(about.st_mode) && about.st_rdev != NULL_DEVICE && !isatty(file));
    return S_ISDIR(about.st_mode) ? "it is a directory" : endless ? "it is a device" : NULL;
}

trellis_status tr_input_open(const char *path, struct tr_input **ret_input, trellis_error *error)
{
    *ret_input = NULL;
    struct tr_input *input = tr_alloc(1, sizeof *input);
    if (!input) {
        return tr_fail_memory(error);
    }
    bool standard = strcmp(path, "-") == 0;
    input->path = standard ? tr_copy_text("standard input", 14) : tr_copy_text(path, strlen(path));
    input->file = standard ? 0 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const char *why = input->file < 0 ? NULL : obstacle(input->file);
    trellis_status status = TRELLIS_OK;
    if (!input->path) {
        status = tr_fail_memory(error);
    } else if (input->file < 0) {
        status = tr_fail_system(error, "read", path);
    } else if (why) {
        status = tr_fail(error, TRELLIS_IO, "cannot read %s: %s", input->path, why);
    } else {
        status = begin(input, error);
    }
    if (status) {
        tr_input_close(input);
        return status;
    }
    *ret_input = input;
    return TRELLIS_OK;
}

trellis_status tr_input_open_file(const char *path, const trellis_options *options,
                                  struct tr_input **ret_input, trellis_error *error)
{
    struct tr_limits limits = {0};
    *ret_input = NULL;
    trellis_status status = tr_limits_resolve(options, &limits, error);
    if (!status) {
        status = tr_input_open(path, ret_input, error);
    }
    if (!status) {
        tr_input_set_limits(*ret_input, &limits, false);
        (*ret_input)->line_cost = LINE_COST;
    }
    return status;
}

trellis_status tr_input_open_bytes(const void *data, size_t size, const char *name,
                                   struct tr_input **ret_input, trellis_error *error)
{
    *ret_input = NULL;
    struct tr_input *input = tr_alloc(1, sizeof *input);
    if (!input) {
        return tr_fail_memory(error);
    }
    input->file = -1;
    input->bytes = data;
    input->bytes_size = size;
    input->path = tr_copy_text(name, strlen(name));
    trellis_status status = input->path ? begin(input, error) : tr_fail_memory(error);
    if (status) {
        tr_input_close(input);
        return status;
    }
    *ret_input = input;
    return TRELLIS_OK;
}

/* Finds the next line from `at` on; on TRELLIS_OK it is [*begin, *begin + *size). */
static trellis_status next_line(struct tr_input *input, size_t *begin, size_t *size,
                                trellis_error *error)
{
    size_t searched = 0;
    for (;;) {
        size_t left = input->used - input->at;
        char *from = input->buffer ? input->buffer + input->at : NULL;
        char *end = left > searched ? memchr(from + searched, '\n', left - searched) : NULL;
        if (!end && !input->at_end) {
            searched = left;
            trellis_status status = refill(input, error);
            if (status) {
                return status;
            }
            continue;
        }
        if (!end && left == 0) {
            return TRELLIS_END;
        }
        size_t length = end ? (size_t)(end - from) : left;
        *begin = input->at;
        *size = length > 0 && from[length - 1] == '\r' ? length - 1 : length;
        input->at += length + (end ? 1 : 0);
        input->line++;
        return TRELLIS_OK;
    }
}

trellis_status tr_input_line(struct tr_input *input, trellis_text *ret_line, trellis_error *error)
{
    tr_input_release(input);
    size_t begin, size;
    trellis_status status = next_line(input, &begin, &size, error);
    if (status == TRELLIS_OK) {
        *ret_line = (trellis_text){input->buffer + begin, size};
    }
    return status;
}

trellis_status tr_input_hold(struct tr_input *input, size_t *ret_offset, size_t *ret_size,
                             trellis_error *error)
{
    size_t begin;
    trellis_status status = next_line(input, &begin, ret_size, error);
    if (status == TRELLIS_OK) {
        *ret_offset = begin - input->held;
    }
    return status;
}

const char *tr_input_base(const struct tr_input *input)
{
    return input->buffer + input->held;
}

void tr_input_release(struct tr_input *input)
{
    input->held = input->at;
}

size_t tr_input_held(const struct tr_input *input)
{
    return input->at - input->held;
}

struct tr_place tr_input_place(const struct tr_input *input)
{
    return (struct tr_place){.file = input->path, .line = input->line};
}

/* ---- parts of a file ------------------------------------------------------------------------- */

uint64_t tr_input_size(const struct tr_input *input)
{
    struct stat about;
    bool known = input->kind == PLAIN && input->file > 0 && fstat(input->file, &about) == 0 &&
                 S_ISREG(about.st_mode);
    return known ? (uint64_t)about.st_size : 0;
}

uint64_t tr_input_offset(const struct tr_input *input)
{
    return input->file_at - (input->used - input->at);
}

trellis_status tr_input_seek(struct tr_input *input, uint64_t begin, uint64_t end, uint64_t line,
                             trellis_error *error)
{
    if (begin > INT64_MAX || lseek(input->file, (off_t)begin, SEEK_SET) < 0) {
        return tr_fail_system(error, "read", input->path);
    }
    input->used = input->at = input->held = 0;
    input->at_end = false;
    input->file_at = begin;
    input->file_end = end > begin ? end : begin;
    input->line = line;
    return TRELLIS_OK;
}

/* ---- lines for another input ----------------------------------------------------------------- */

trellis_status tr_input_open_empty(const char *name, struct tr_input **ret_input,
                                   trellis_error *error)
{
    struct tr_input *input = tr_alloc(1, sizeof *input);
    *ret_input = input;
    if (!input) {
        return tr_fail_memory(error);
    }
    input->file = -1;
    input->at_end = true;
    input->path = tr_copy_text(name, strlen(name));
    if (!input->path) {
        tr_input_close(input);
        *ret_input = NULL;
        return tr_fail_memory(error);
    }
    return TRELLIS_OK;
}

/* The number of line ends; counted in bytes first, of which a register holds many. */
static uint64_t count_lines(const char *text, size_t size)
{
    enum { STEP = 240 };
    uint64_t count = 0;
    while (size > 0) {
        size_t step = size < STEP ? size : STEP;
        unsigned char found = 0;
        for (size_t i = 0; i < step; i++) {
            found = (unsigned char)(found + (text[i] == '\n'));
        }
        count += found;
        text += step;
        size -= step;
    }
    return count;
}

static bool is_blank(const char *line, const char *end)
{
    end -= end > line && end[-1] == '\r';
    while (line < end && (*line == ' ' || *line == '\t')) {
        line++;
    }
    return line == end;
}

/* Where the line begins that ends at `end`. */
static const char *line_begin(const char *text, const char *end)
{
    const char *before = end > text ? memrchr(text, '\n', (size_t)(end - text)) : NULL;
    return before ? before + 1 : text;
}

/* The size of the lines up to and with the last blank one that begins at or after `from`; 0 if
 * there is none. */
static size_t whole_size(const char *text, size_t from, size_t size, char comment)
{
    const char *line = line_begin(text, text + size); // not complete
    while (line > text + from) {
        const char *end = line - 1;
        line = line_begin(text, end);
        const char *before = line > text && comment ? line_begin(text, line - 1) : NULL;
        bool ends = !comment || (before && *before != comment && !is_blank(before, line - 1));
        if (line >= text + from && ends && is_blank(line, end)) {
            return (size_t)(end + 1 - text);
        }
    }
    return 0;
}

/* Reads until `size` bytes are there, or no more are. The place of an error is behind the lines
 * that are complete. */
static void read_ahead(struct tr_input *input, size_t size)
{
    size_t counted = 0; // bytes from `at` on
    uint64_t line = input->line;
    while (input->used - input->at < size && !input->at_end && !input->failure_status) {
        size_t left = input->used - input->at;
        if (left > counted) { // else there may be no buffer yet
            input->line += count_lines(input->buffer + input->at + counted, left - counted);
        }
        counted = left;
        input->ahead = size - left < REFILL_SIZE ? size - left : REFILL_SIZE;
        input->failure_status = refill(input, &input->failure);
    }
    input->ahead = 0;
    input->line = line;
}

/* How much can be taken: 0 if all that is left is an incomplete sequence before a failure. */
static size_t find_whole(struct tr_input *input, size_t size, char comment)
{
    for (size_t from = 0;; size *= 2) {
        read_ahead(input, size);
        size_t left = input->used - input->at;
        const char *text = left ? input->buffer + input->at : "";
        if (left <= size && input->at_end) {
            return left;
        }
        size_t within = left < size ? left : size;
        size_t whole = left ? whole_size(text, from, within, comment) : 0;
        if (whole || left < size) {
            return whole;
        }
        from = (size_t)(line_begin(text, text + within) - text);
    }
}

/* Goes on in the buffer of `other`, with what was not read yet. */
static bool change_buffer(struct tr_input *input, size_t from, struct tr_input *other)
{
    size_t left = input->used - from;
    if (!tr_make_room(other->buffer, other->capacity, left)) {
        return false;
    }
    if (left) {
        memcpy(other->buffer, input->buffer + from, left);
    }
    char *buffer = input->buffer;
    size_t capacity = input->capacity;
    input->buffer = other->buffer;
    input->capacity = other->capacity;
    input->at = input->held = 0;
    input->used = left;
    other->buffer = buffer;
    other->capacity = capacity;
    return true;
}

/* The lines are read into the buffer of `to`, which is in the cache of the thread that will split
 * them, and not copied; only what is behind them is. */
trellis_status tr_input_take(struct tr_input *input, size_t size, char comment, struct tr_input *to,
                             trellis_error *error)
{
    to->at = to->held = to->used = 0;
    if (!change_buffer(input, input->at, to)) {
        return tr_fail_memory(error);
    }
    size_t whole = find_whole(input, size, comment);
    if (whole == 0) {
        if (input->failure_status && error) {
            *error = input->failure;
        }
        return input->failure_status ? input->failure_status : TRELLIS_END;
    }
    if (!change_buffer(input, whole, to)) {
        return tr_fail_memory(error);
    }
    to->used = whole;
    to->line = input->line;
    input->line += count_lines(to->buffer, whole);
    return TRELLIS_OK;
}

const char *tr_input_path(const struct tr_input *input)
{
    return input->path;
}

trellis_status tr_input_slurp(const char *path, size_t max, char **ret_data, size_t *ret_size,
                              trellis_error *error)
{
    *ret_data = NULL;
    struct tr_input *input;
    trellis_status status = tr_input_open(path, &input, error);
    if (status) {
        return status;
    }
    while (!status && !input->at_end) {
        status = input->used > max
                     ? tr_fail(error, TRELLIS_LIMIT, "%s: more than %zu bytes", path, max)
                     : refill(input, error);
    }
    if (!status && !tr_make_room(input->buffer, input->capacity, input->used + 1)) {
        status = tr_fail_memory(error);
    }
    if (!status) {
        input->buffer[input->used] = '\0';
        *ret_size = input->used;
        *ret_data = input->buffer;
        input->buffer = NULL;
    }
    tr_input_close(input);
    return status;
}
