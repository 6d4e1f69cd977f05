/* chain.c - loss and gradient of a chain over given scores, in microseconds a batch: 32 sequences of 40
 * tokens with 20 labels, one thread. bench/chain.py measures the same in plain numpy. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <trellis.h>

enum { SEQUENCES = 32, LENGTH = 40, LABELS = 20, ROUNDS = 2000 };

static float nodes[SEQUENCES][LENGTH][LABELS], node_gradient[SEQUENCES][LENGTH][LABELS];
static float transitions[LABELS][LABELS], transition_gradient[LABELS][LABELS];
static int32_t labels[SEQUENCES][LENGTH];

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The same numbers as bench/chain.py has: a linear congruence. */
static uint32_t state = 1;
static uint32_t draw(void)
{
    return state = (uint32_t)(state * UINT64_C(1103515245) + 12345) & 0x7FFFFFFF;
}

int main(void)
{
    trellis_options *options = NULL;
    trellis_chain *chain = NULL;
    trellis_error error;
    trellis_chain_sequence batch[SEQUENCES];
    for (size_t k = 0; k < SEQUENCES; k++) {
        for (size_t i = 0; i < LENGTH; i++) {
            labels[k][i] = (int32_t)(draw() % LABELS);
            for (size_t c = 0; c < LABELS; c++) {
                nodes[k][i][c] = (float)draw() / 0x40000000 - 1;
            }
        }
        batch[k] = (trellis_chain_sequence){.struct_size = sizeof batch[k],
                                            .length = LENGTH,
                                            .nodes.at = &nodes[k][0][0],
                                            .labels = labels[k],
                                            .weight = 1,
                                            .node_gradient.at = &node_gradient[k][0][0]};
    }
    for (size_t a = 0; a < LABELS; a++) {
        for (size_t b = 0; b < LABELS; b++) {
            transitions[a][b] = (float)draw() / 0x40000000 - 1;
        }
    }
    trellis_chain_scores scores = {.struct_size = sizeof scores,
                                   .transitions.at = &transitions[0][0]};
    trellis_chain_gradient gradient = {.struct_size = sizeof gradient,
                                       .transitions.at = &transition_gradient[0][0]};
    trellis_status status = trellis_options_create(&options, &error);
    if (!status) {
        status = trellis_options_set(options, "threads", "1", &error);
    }
    if (!status) {
        status = trellis_chain_create(LABELS, options, &chain, &error);
    }
    double begin = seconds(), loss = 0;
    for (int round = 0; !status && round < ROUNDS; round++) {
        status = trellis_chain_set(chain, &scores, &error);
        if (!status) {
            status = trellis_chain_run(chain, TRELLIS_CHAIN_LOSS | TRELLIS_CHAIN_GRADIENT, batch,
                                       SEQUENCES, &gradient, &error);
        }
    }
    for (size_t k = 0; !status && k < SEQUENCES; k++) {
        loss += batch[k].loss;
    }
    if (status) {
        fprintf(stderr, "%s\n", error.message);
    } else {
        printf("loss %.4f  %.1f us\n", loss, (seconds() - begin) / ROUNDS * 1e6);
    }
    trellis_chain_destroy(chain);
    trellis_options_destroy(options);
    return status ? 1 : 0;
}
