/* ranks.c - the ranks of trellis-mpi: the processes that mpirun has started.
 *
 *     agree      every rank tells rank 0 how it fares, and hears from it who failed first
 *     exchange   every rank sends to all others and receives from them, in pieces
 *
 * Nothing blocks: requests are tested until they are done, so that a rank that waits too long for
 * another can say which, and end them all. Between two tests it gives the processor away, because the
 * one that it waits for may need it, and after a while it sleeps.
 */
#include "ranks.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "message.h"

enum { TAG_STATE = 1, TAG_VERDICT, TAG_DATA };
enum { PIECE = 1 << 28 };        // bytes of a message: MPI counts them in an int
enum { DEFAULT_PATIENCE = 600 }; // seconds

/* How a rank fares. One that has ended has nothing more to do with the others. */
struct state {
    int rank, status;
    bool ended;
    trellis_error error;
};

static struct {
    trellis_ranks given;
    double patience;     // seconds to wait for another rank
    bool failed;         // all ranks know it
    char last[1000];     // the last message that was not printed
    double waited, sent; // seconds and bytes, for TRELLIS_MPI_REPORT
    uint64_t agreed, exchanges;
} process;

/* ---- waiting --------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* A long message travels in pieces that both sides must ask for, so sleeping would make it slow. */
static void rest(double waited)
{
    struct timespec pause = {.tv_nsec = 200000};
    if (waited < 0.05) {
        sched_yield();
    } else {
        nanosleep(&pause, NULL);
    }
}

/* Ends all ranks: there is one that does not answer. An mpirun that ends a job forgets what it has not
 * passed on yet, so it gets time for the message. */
static void give_up(int rank)
{
    const struct timespec pause = {.tv_nsec = 300000000};
    fprintf(
        stderr,
        "trellis: rank %u has waited %.0f seconds for rank %d, which does not answer; giving up\n",
        process.given.rank, process.patience, rank);
    fflush(stderr);
    nanosleep(&pause, NULL);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}

/* Waits for requests [count] with the ranks they are about. Each rank has more patience than the one
 * before, so that one of them is the first to lose it, and there is one message. A rank that was
 * stopped itself does not blame others for that time. */
static void wait_for(MPI_Request *requests, const int *ranks, int count)
{
    double last = now(), waited = 0, most = process.patience + 5.0 * process.given.rank;
    for (int done = 0; !done;) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        for (int i = 0; !done && waited > most && i < count; i++) {
            int this_one = 0;
            if (requests[i] != MPI_REQUEST_NULL) {
                MPI_Test(&requests[i], &this_one, MPI_STATUS_IGNORE);
            }
            if (requests[i] != MPI_REQUEST_NULL && !this_one) {
                give_up(ranks[i]);
            }
        }
        if (!done) {
            rest(waited);
        }
        double passed = now() - last;
        last += passed;
        waited += passed < 1 ? passed : 1;
    }
    process.waited += waited;
}

/* ---- what the library asks for --------------------------------------------------------------- */

/* Ranks that were given different work: some have ended, and others wait for them. */
static void fail_apart(struct state *mine, int rank)
{
    int ended = mine->ended ? mine->rank : rank, going = mine->ended ? rank : mine->rank;
    mine->status = set_error(&mine->error, TRELLIS_OPTION,
                             "rank %d has ended, and rank %d has not: all ranks must be given the "
                             "same arguments",
                             ended, going);
}

/* Rank 0 hears all others, finds the first that failed, and tells them. */
static void judge(struct state *mine, struct state *all, MPI_Request *requests, int *ranks)
{
    int count = (int)process.given.count;
    for (int r = 1; r < count; r++) {
        ranks[r - 1] = r;
        MPI_Irecv(&all[r], sizeof all[r], MPI_BYTE, r, TAG_STATE, MPI_COMM_WORLD, &requests[r - 1]);
    }
    wait_for(requests, ranks, count - 1);
    for (int r = 1; r < count && !mine->status; r++) {
        if (all[r].status) {
            *mine = all[r];
        }
    }
    for (int r = 1; r < count && !mine->status; r++) {
        if (all[r].ended != mine->ended) {
            fail_apart(mine, r);
        }
    }
    for (int r = 1; r < count; r++) {
        MPI_Isend(mine, sizeof *mine, MPI_BYTE, r, TAG_VERDICT, MPI_COMM_WORLD, &requests[r - 1]);
    }
    wait_for(requests, ranks, count - 1);
}

static void hear(struct state *mine)
{
    MPI_Request request;
    const int first = 0;
    MPI_Isend(mine, sizeof *mine, MPI_BYTE, 0, TAG_STATE, MPI_COMM_WORLD, &request);
    wait_for(&request, &first, 1);
    MPI_Irecv(mine, sizeof *mine, MPI_BYTE, 0, TAG_VERDICT, MPI_COMM_WORLD, &request);
    wait_for(&request, &first, 1);
}

static trellis_status agree_as(bool ended, trellis_status status, trellis_error *error)
{
    struct state mine = {.rank = (int)process.given.rank, .status = (int)status, .ended = ended};
    int count = (int)process.given.count;
    if (status) {
        mine.error = *error;
    }
    process.agreed++;
    if (process.given.rank > 0) {
        hear(&mine);
    } else if (count > 1) {
        struct state *all = calloc((size_t)count, sizeof *all);
        MPI_Request *requests = calloc((size_t)count, sizeof(MPI_Request));
        int *ranks = calloc((size_t)count, sizeof *ranks);
        if (!all || !requests || !ranks) {
            message("out of memory");
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        } else {
            judge(&mine, all, requests, ranks);
        }
        free(all);
        free(requests);
        free(ranks);
    }
    process.failed = mine.status != 0;
    if (mine.status && mine.rank != 0) {
        set_error(error, (trellis_status)mine.status, "rank %d: %.900s", mine.rank,
                  mine.error.message);
    } else if (mine.status) {
        *error = mine.error;
    }
    return (trellis_status)mine.status;
}

static trellis_status agree(void *user, trellis_status status, trellis_error *error)
{
    (void)user;
    return agree_as(false, status, error);
}

/* The requests of an exchange, [at most 2 * count]. */
struct requests {
    MPI_Request *at;
    int *rank;
    int count;
};

static int piece_at(size_t size, size_t offset)
{
    return (int)(size <= offset ? 0 : size - offset < PIECE ? size - offset : PIECE);
}

static trellis_status exchange(void *user, const void *const *send, const size_t *send_size,
                               void *const *receive, const size_t *receive_size,
                               trellis_error *error)
{
    (void)user;
    unsigned count = process.given.count;
    size_t most = 0;
    struct requests requests = {calloc(2 * (size_t)count, sizeof(MPI_Request)),
                                calloc(2 * (size_t)count, sizeof(int)), 0};
    if (!requests.at || !requests.rank) {
        free(requests.at);
        free(requests.rank);
        message("out of memory");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        return set_error(error, TRELLIS_MEMORY, "out of memory");
    }
    for (unsigned r = 0; r < count; r++) {
        most = send_size[r] > most ? send_size[r] : most;
        most = receive_size[r] > most ? receive_size[r] : most;
        process.sent += (double)send_size[r];
    }
    for (size_t offset = 0; offset < most; offset += PIECE) {
        requests.count = 0;
        for (unsigned step = 1; step < count; step++) { // no two ranks begin with the same one
            unsigned to = (process.given.rank + step) % count;
            unsigned from = (process.given.rank + count - step) % count;
            int in = piece_at(receive_size[from], offset), out = piece_at(send_size[to], offset);
            if (in) {
                requests.rank[requests.count] = (int)from;
                MPI_Irecv((char *)receive[from] + offset, in, MPI_BYTE, (int)from, TAG_DATA,
                          MPI_COMM_WORLD, &requests.at[requests.count++]);
            }
            if (out) {
                requests.rank[requests.count] = (int)to;
                MPI_Isend((const char *)send[to] + offset, out, MPI_BYTE, (int)to, TAG_DATA,
                          MPI_COMM_WORLD, &requests.at[requests.count++]);
            }
        }
        wait_for(requests.at, requests.rank, requests.count);
    }
    process.exchanges++;
    free(requests.at);
    free(requests.rank);
    return TRELLIS_OK;
}

/* ---- the process ----------------------------------------------------------------------------- */

void ranks_begin(int *argc, char ***argv)
{
    int provided, rank, count;
    const char *patience = getenv("TRELLIS_MPI_TIMEOUT");
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    process.given = (trellis_ranks){.struct_size = sizeof process.given,
                                    .rank = (unsigned)rank,
                                    .count = (unsigned)count,
                                    .agree = agree,
                                    .exchange = exchange};
    if (rank > 0 && !freopen("/dev/null", "w", stdout)) {
        message("cannot open /dev/null");
    }
    process.patience = patience ? strtod(patience, NULL) : 0;
    process.patience = process.patience > 0 ? process.patience : DEFAULT_PATIENCE;
}

/* What the ranks have cost each other, for bench/mpi.sh; `most` is what any of them has sent. */
static void report(double most)
{
    const char *path = getenv("TRELLIS_MPI_REPORT");
    FILE *out = path && ranks_first() ? fopen(path, "w") : NULL;
    if (out) {
        fprintf(out,
                "{\"ranks\": %u, \"waited_seconds\": %.6f, \"sent_bytes\": %.0f, "
                "\"most_sent_bytes\": %.0f, \"agreed\": %llu, \"exchanges\": %llu}\n",
                process.given.count, process.waited, process.sent, most,
                (unsigned long long)process.agreed, (unsigned long long)process.exchanges);
        fclose(out);
    }
}

int ranks_end(int result)
{
    double most = process.sent;
    if (!process.failed && process.given.count > 1) {
        trellis_error error = {0};
        trellis_status status = TRELLIS_OK;
        if (result) {
            status = set_error(&error, TRELLIS_IO, "%s", process.last);
        }
        bool mine = status != TRELLIS_OK;
        status = agree_as(true, status, &error);
        if (status && !mine) {
            message("%s", error.message);
        }
        result = result ? result : status ? EXIT_FAILURE : EXIT_SUCCESS;
        if (!status) {
            MPI_Reduce(&process.sent, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        }
    }
    report(most);
    MPI_Finalize();
    return result;
}

const trellis_ranks *ranks_given(void)
{
    return &process.given;
}

bool ranks_first(void)
{
    return process.given.rank == 0;
}

bool ranks_print(const char *text)
{
    if (!ranks_first() && !process.failed) {
        snprintf(process.last, sizeof process.last, "%s", text);
    }
    return ranks_first();
}
