/* help_mpi.c - the page of trellis-mpi: `trellis-mpi --help`, `trellis help mpi`. */
#include "help.h"

static const char about[] =
    "Trains as 'trellis train' does, with the same options, on several processes: the ranks of MPI, "
    "on one machine or on many. All ranks are given the same command line and see the same files. "
    "Rank 0 prints and writes the model, the log and the checkpoints. --threads is the number of "
    "threads of each rank.\n\n"
    "The model is that of 'trellis train', to the byte, on any number of ranks. Only perceptron and "
    "mira are different: each rank learns from its share of the sequences, and after each epoch "
    "all take the mean of their weights, so that the model depends on the number of ranks.\n\n"
    "Where the learner allows it, a rank keeps its share of the sequences and no others, and says "
    "so. docs/scale.md says where that is, and what to expect of more ranks.\n\n"
    "If one rank fails, all of them end with its message, and no model is written. A training with "
    "--checkpoint can be resumed on another number of ranks, or by 'trellis train'. Other "
    "subcommands run on one rank only.";

void help_page_write_mpi(FILE *out, const struct help_format *format)
{
    format->title(out, "trellis-mpi", "train a model on several processes or machines");
    format->heading(out, "Usage");
    format->verbatim(out, "mpirun -n N trellis-mpi train -m MODEL [OPTION...] FILE...\n");
    format->heading(out, "Description");
    format->paragraphs(out, about);
    format->heading(out, "Environment");
    format->item(out, "TRELLIS_MPI_TIMEOUT",
                 "How many seconds a rank waits for another that does not answer; then it ends all "
                 "of them. [600]");
    format->item(
        out, "TRELLIS_MPI_REPORT",
        "A file for the bytes that rank 0 has sent and the seconds it has waited, as JSON. "
        "[none]");
    format->heading(out, "Examples");
    format->verbatim(out,
                     "# four processes on this machine, with one thread each\n"
                     "mpirun -n 4 trellis-mpi train -t crf -f chunk -m chunk.model -j 1 train.txt\n"
                     "# two machines that share a folder, with 8 threads each\n"
                     "mpirun --host one,two --bind-to none trellis-mpi train -t crf -f chunk "
                     "\\\n    -m chunk.model -j 8 train.txt\n");
}
