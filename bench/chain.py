"""Loss and gradient of a chain over given scores in plain numpy, batched over sequences: the same work as
bench/chain.c does, for comparison. Log-space forward and backward with a stable log-sum-exp."""
import time

import numpy as np

SEQUENCES, LENGTH, LABELS, ROUNDS = 32, 40, 20, 50

state = 1


def draw():
    global state
    state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    return state


labels = np.zeros((SEQUENCES, LENGTH), dtype=np.int64)
nodes = np.zeros((SEQUENCES, LENGTH, LABELS), dtype=np.float32)
for k in range(SEQUENCES):
    for i in range(LENGTH):
        labels[k, i] = draw() % LABELS
        for c in range(LABELS):
            nodes[k, i, c] = draw() / 0x40000000 - 1
transitions = np.array([[draw() / 0x40000000 - 1 for _ in range(LABELS)] for _ in range(LABELS)], dtype=np.float32)


def log_sum_exp(x, axis):
    top = x.max(axis=axis, keepdims=True)
    return np.squeeze(top, axis) + np.log(np.exp(x - top).sum(axis=axis))


def loss_and_gradient():
    alpha = np.empty_like(nodes)
    beta = np.zeros_like(nodes)
    alpha[:, 0] = nodes[:, 0]
    for i in range(1, LENGTH):
        alpha[:, i] = nodes[:, i] + log_sum_exp(alpha[:, i - 1, :, None] + transitions, 1)
    for i in range(LENGTH - 2, -1, -1):
        beta[:, i] = log_sum_exp(transitions + (nodes[:, i + 1] + beta[:, i + 1])[:, None, :], 2)
    log_z = log_sum_exp(alpha[:, -1], 1)
    node_gradient = np.exp(alpha + beta - log_z[:, None, None])
    pairs = np.exp(alpha[:, :-1, :, None] + transitions + (nodes + beta)[:, 1:, None, :] - log_z[:, None, None, None])
    transition_gradient = pairs.sum(axis=(0, 1))
    rows, columns = np.indices(labels.shape)
    node_gradient[rows, columns, labels] -= 1
    np.subtract.at(transition_gradient, (labels[:, :-1], labels[:, 1:]), 1)
    score = nodes[rows, columns, labels].sum() + transitions[labels[:, :-1], labels[:, 1:]].sum()
    return log_z.sum() - score, node_gradient, transition_gradient


begin = time.process_time()
for _ in range(ROUNDS):
    loss, _, _ = loss_and_gradient()
print(f"loss {loss:.4f}  {(time.process_time() - begin) / ROUNDS * 1e6:.1f} us")
