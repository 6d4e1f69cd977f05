/* dropout.c - attributes left out at random, so that no weight can rely on another.
 *
 * A token has dozens of attributes that say almost the same: the word, its affixes, its
 * conjunctions. The most specific ones explain the training data, and the weights of those that an
 * unknown word would have stay small (Sutton, Sindelar and McCallum 2006, "Reducing weight
 * undertraining in structured discriminative learning"). With dropout, every step sees a random
 * part of the attributes (Hinton et al. 2012; Wang, Wang, Wager, Liang and Manning 2013, "Feature
 * noising for log-linear structured prediction"): each is kept with probability 1 - p, and its
 * value is then
 *
 *     x / (1 - p)
 *
 * so that the expected scores are those of all attributes, with which the model is used. Attributes
 * that share a row, because they always occur together, are kept or left out together.
 */
#include "train/dropout.h"

bool tr_dropout_thin(struct tr_dropout *dropout, const struct tr_tokens *all, double p,
                     struct tr_random *random, struct tr_tokens *ret_kept)
{
    uint32_t first = all->begin[0], room = all->begin[all->n] - first, kept = 0;
    if (!tr_reserve(&dropout->begin, all->n + 1) || !tr_reserve(&dropout->attribute, room) ||
        !tr_reserve(&dropout->value, room)) {
        return false;
    }
    float scale = (float)(1 / (1 - p));
    for (size_t i = 0; i < all->n; i++) {
        dropout->begin.at[i] = kept;
        for (uint32_t k = all->begin[i]; k < all->begin[i + 1]; k++) {
            if (tr_random_real(random) >= p) {
                dropout->attribute.at[kept] = all->attribute[k];
                dropout->value.at[kept++] = scale * (all->value ? all->value[k] : 1);
            }
        }
    }
    dropout->begin.at[all->n] = kept;
    *ret_kept = (struct tr_tokens){dropout->begin.at, dropout->attribute.at, dropout->value.at,
                                   all->n};
    return true;
}

void tr_dropout_free(struct tr_dropout *dropout)
{
    free(dropout->begin.at);
    free(dropout->attribute.at);
    free(dropout->value.at);
}
