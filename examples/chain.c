/* chain.c - a linear chain over scores that something else computed.
 *
 * Two sequences of different lengths, three labels, and the scores that a network might have given
 * them: their best labels, the probability of each, and a step of gradient descent on the
 * transitions.
 */
#include <math.h>
#include <stdio.h>

#include <trellis.h>

enum { LABELS = 3, LONGEST = 4 };

static const char *const names[LABELS] = {"O", "B", "I"};

/* The scores of a batch as a network has them: [sequence][position][label], padded. */
static float scores[2][LONGEST][LABELS] = {
    {{2, 0, 0}, {0, 3, 0}, {0, 1, 1}, {1, 0, 0}},
    {{0, 1, 0}, {1, 0, 1}},
};
static const int32_t gold[2][LONGEST] = {{0, 1, 2, 0}, {1, -1}}; // the last one is not known

int main(void)
{
    float transitions[LABELS][LABELS] = {{0}}, gradient[LABELS][LABELS] = {{0}};
    float marginals[2][LONGEST][LABELS];
    int32_t best[2][LONGEST];
    uint8_t allowed[LABELS][LABELS] = {{1, 1, 0}, {1, 1, 1}, {1, 1, 1}}; // I does not follow O
    trellis_error error;
    trellis_chain *chain = NULL;
    trellis_chain_scores shared = {.struct_size = sizeof shared,
                                   .transitions.at = &transitions[0][0],
                                   .allowed = &allowed[0][0]};
    trellis_chain_gradient wanted = {.struct_size = sizeof wanted,
                                     .transitions.at = &gradient[0][0]};
    trellis_chain_sequence batch[2];
    for (size_t k = 0; k < 2; k++) {
        batch[k] = (trellis_chain_sequence){.struct_size = sizeof batch[k],
                                            .length = k == 0 ? 4 : 2,
                                            .nodes.at = &scores[k][0][0],
                                            .labels = gold[k],
                                            .weight = 1,
                                            .best = best[k],
                                            .node_marginals.at = &marginals[k][0][0]};
    }
    trellis_status status = trellis_chain_create(LABELS, NULL, &chain, &error);
    for (int step = 0; !status && step < 20; step++) {
        status = trellis_chain_set(chain, &shared, &error);
        if (!status) {
            status = trellis_chain_run(chain,
                                       TRELLIS_CHAIN_BEST | TRELLIS_CHAIN_NODE_MARGINALS |
                                           TRELLIS_CHAIN_LOSS | TRELLIS_CHAIN_GRADIENT,
                                       batch, 2, &wanted, &error);
        }
        for (size_t a = 0; !status && a < LABELS; a++) {
            for (size_t b = 0; b < LABELS; b++) {
                transitions[a][b] -= 0.5f * gradient[a][b];
                gradient[a][b] = 0;
            }
        }
    }
    for (size_t k = 0; !status && k < 2; k++) {
        printf("-log P(gold) = %.3f:", batch[k].loss);
        for (size_t i = 0; i < batch[k].length; i++) {
            printf(" %s %.2f", names[best[k][i]], (double)marginals[k][i][best[k][i]]);
        }
        printf("\n");
    }
    if (status) {
        fprintf(stderr, "chain: %s\n", error.message);
    }
    trellis_chain_destroy(chain);
    return status ? 1 : 0;
}
