/* abi.c - the sizes and numbers that a program gets from trellis.h when it is compiled.
 * tests/install/test_abi.sh compares them with those of the last release. */
#include <stddef.h>
#include <stdio.h>

#include "trellis.h"

#define SIZE(type) printf("size %s %zu\n", #type, sizeof(type))
#define PLACE(type, member) printf("place %s.%s %zu\n", #type, #member, offsetof(type, member))
#define VALUE(name) printf("value %s %d\n", #name, (int)(name))
#define STATUS(name, number, meaning) printf("value TRELLIS_%s %d\n", #name, (int)TRELLIS_##name);

int main(void)
{
    SIZE(trellis_text);
    SIZE(trellis_attribute);
    SIZE(trellis_sequence);
    SIZE(trellis_source);
    SIZE(trellis_training);
    SIZE(trellis_floats);
    SIZE(trellis_chain_scores);
    SIZE(trellis_chain_sequence);
    SIZE(trellis_chain_gradient);
    SIZE(trellis_option);
    SIZE(trellis_error);
    SIZE(trellis_progress);
    SIZE(trellis_scores);
    SIZE(trellis_resource);
    PLACE(trellis_weight, attribute);
    PLACE(trellis_weight, attribute_number);
    PLACE(trellis_weight, labels);
    PLACE(trellis_weight, numbers);
    PLACE(trellis_weight, label_count);
    PLACE(trellis_weight, weight);
    PLACE(trellis_sequence, cells);
    PLACE(trellis_sequence, labels);
    PLACE(trellis_sequence, attributes);
    PLACE(trellis_sequence, weight);
    PLACE(trellis_sequence, row_count);
    PLACE(trellis_error, message);
    PLACE(trellis_progress, objective);
    PLACE(trellis_progress, tokens_per_second);
    TRELLIS_STATUS_LIST(STATUS)
    VALUE(TRELLIS_FLAG);
    VALUE(TRELLIS_INTEGER);
    VALUE(TRELLIS_REAL);
    VALUE(TRELLIS_CHOICE);
    VALUE(TRELLIS_STRING);
    VALUE(TRELLIS_GROUP_READ);
    VALUE(TRELLIS_GROUP_WRITE);
    VALUE(TRELLIS_GROUP_TRAIN);
    VALUE(TRELLIS_GROUP_TAG);
    VALUE(TRELLIS_GROUP_EVAL);
    VALUE(TRELLIS_GROUP_SAMPLE);
    VALUE(TRELLIS_GROUP_RUN);
    VALUE(TRELLIS_GROUP_INSPECT);
    VALUE(TRELLIS_GROUP_TUNE);
    VALUE(TRELLIS_IOB1);
    VALUE(TRELLIS_IOB2);
    VALUE(TRELLIS_IOBES);
    VALUE(TRELLIS_BILOU);
    VALUE(TRELLIS_NO_SCHEME);
    VALUE(TRELLIS_PHASE_MESSAGE);
    VALUE(TRELLIS_PHASE_READING);
    VALUE(TRELLIS_PHASE_CALIBRATING);
    VALUE(TRELLIS_PHASE_WARM_UP);
    VALUE(TRELLIS_PHASE_TRAINING);
    VALUE(TRELLIS_BY_LABEL);
    VALUE(TRELLIS_BY_TYPE);
    VALUE(TRELLIS_BY_WORD);
    VALUE(TRELLIS_BY_LENGTH);
    VALUE(TRELLIS_BY_POSITION);
    VALUE(TRELLIS_SEQUENCES_BY_LENGTH);
    VALUE(TRELLIS_SPANS_BY_LENGTH);
    VALUE(TRELLIS_BY_CONFIDENCE);
    VALUE(TRELLIS_MICRO);
    VALUE(TRELLIS_MACRO);
    VALUE(TRELLIS_WEIGHTED);
    VALUE(TRELLIS_ACCURACY);
    VALUE(TRELLIS_SEQUENCE_ACCURACY);
    VALUE(TRELLIS_PRECISION);
    VALUE(TRELLIS_RECALL);
    VALUE(TRELLIS_F1);
    VALUE(TRELLIS_CONLLEVAL);
    VALUE(TRELLIS_JSON);
    VALUE(TRELLIS_DETAILS);
    VALUE(TRELLIS_FEATURES_HIGHEST);
    VALUE(TRELLIS_FEATURES_LOWEST);
    VALUE(TRELLIS_TRANSITIONS_HIGHEST);
    VALUE(TRELLIS_TRANSITIONS_LOWEST);
    VALUE(TRELLIS_COPY);
    VALUE(TRELLIS_BORROW);
    VALUE(TRELLIS_NODE_WEIGHT);
    VALUE(TRELLIS_EDGE_WEIGHT);
    VALUE(TRELLIS_TRANSITION_WEIGHT);
    return 0;
}
