/* test_extremes.c - checkpoints of every learner with the offset and size of each section, and the
 * numbers of the header, at extreme values with valid checksums: an error with a sentence, or a
 * training that ends, and no allocation larger than training and file justify. What is in the
 * sections is for test_checkpoint.c to damage.
 */
#include "support/failing.h"

#include "model/test_hostile.h"
#include "train/naive.h"
#include "train/ways.h"

enum { BY_BYTE = 64 }; // what one allocation may ask for, for each byte of the checkpoint

static size_t tried, refused;

/* Trains, and says which was the largest allocation. */
static trellis_status train_counted(const char *path, const char *settings, size_t *ret_largest,
                                    trellis_error *error)
{
    trellis_options *options = make_options(settings);
    trellis_model *model = NULL;
    failing_from(0, false);
    trellis_status status = trellis_train_files(options, &path, 1, NULL, NULL, &model, error);
    *ret_largest = atomic_load(&largest);
    trellis_model_close(model);
    trellis_options_destroy(options);
    return status;
}

struct trial {
    char settings[1400];  // that go on from the checkpoint
    char path[600];       // of the corpus
    unsigned char *bytes; // of a sound checkpoint
    size_t size, largest; // the largest allocation that goes on from it
};

static void try_damaged(const struct trial *trial, unsigned char *bytes)
{
    trellis_error error = {0};
    size_t allocation;
    repair_checksums(bytes, trial->size);
    put_file("checkpoint", bytes, trial->size);
    trellis_status status = train_counted(trial->path, trial->settings, &allocation, &error);
    if (allocation > trial->largest + BY_BYTE * trial->size) {
        fail_msg("%s: an allocation of %zu bytes for a checkpoint of %zu", trial->settings,
                 allocation, trial->size);
    }
    assert_true(!status || (error.status == status && error.message[0]));
    tried++;
    refused += status != TRELLIS_OK;
}

/* The 8 bytes at a place of the header or the table, set to extremes. */
static void place_extremes(const struct trial *trial, size_t at)
{
    const uint64_t extremes[] = {0,
                                 1,
                                 64,
                                 trial->size - 1,
                                 trial->size,
                                 trial->size + 1,
                                 1u << 31,
                                 UINT32_MAX,
                                 1ull << 63,
                                 UINT64_MAX,
                                 (uint64_t)0 - trial->size,
                                 u64_at(trial->bytes, at) + 1,
                                 u64_at(trial->bytes, at) - 1};
    unsigned char *bad = malloc(trial->size);
    for (size_t i = 0; i < TR_COUNT(extremes); i++) {
        memcpy(bad, trial->bytes, trial->size);
        set_u64_at(bad, at, extremes[i]);
        try_damaged(trial, bad);
    }
    free(bad);
}

/* True where the learner writes checkpoints. */
static bool try_way(const char *way)
{
    struct trial trial;
    char first[1300];
    trellis_error error = {0};
    snprintf(trial.path, sizeof trial.path, "%s", path_of("tiny.txt"));
    snprintf(first, sizeof first,
             "format=crfsuite epochs=3 threads=1 gap=0 warm-up=0 %s checkpoint=%s", way,
             path_of("checkpoint"));
    snprintf(trial.settings, sizeof trial.settings, "%s resume=yes every=1000", first);
    unlink(path_of("checkpoint"));
    train_counted(trial.path, first, &trial.largest, &error);
    if (access(path_of("checkpoint"), F_OK)) {
        return false;
    }
    trial.bytes = (unsigned char *)get_file(path_of("checkpoint"), &trial.size);
    size_t allocation;
    assert_ok(train_counted(trial.path, trial.settings, &allocation, &error), error);
    trial.largest = allocation > trial.largest ? allocation : trial.largest;
    for (size_t at = 0; at < TABLE_SUM; at += 8) {
        place_extremes(&trial, at);
    }
    for (uint32_t i = 0; i < sections_of(trial.bytes, trial.size); i++) {
        place_extremes(&trial, HEADER + (size_t)i * ENTRY + 8);
        place_extremes(&trial, HEADER + (size_t)i * ENTRY + 16);
    }
    free(trial.bytes);
    return true;
}

static void test_table(void **state)
{
    (void)state;
    char way[100];
    size_t ways = 0;
    put_text("tiny.txt", "A\tx\ty\nB\tx\n\nB\ty\nA\tx\n\n");
    for (size_t i = 0; way_at(i, way); i++) {
        ways += try_way(way);
    }
    assert_true(ways > 10);
    assert_true(refused > tried / 2);
}

int main(void)
{
    if (access("/dev/shm", W_OK) == 0) { // thousands of checkpoints
        setenv("TRELLIS_TMP", "/dev/shm", 1);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
    int status = cmocka_run_group_tests(tests, group_setup, group_teardown);
    printf("%zu checkpoints with an extreme number, %zu refused\n", tried, refused);
    return status;
}
