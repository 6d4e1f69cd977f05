/* presets.c - the one table of presets: templates with a name, and the recipe that goes with them.
 *
 * A recipe is the learner, its options and the label scheme that did best with these templates on
 * held-out parts of the training data of several corpora (docs/results.md). src/train/recipe.c
 * applies it.
 *
 * `id` and `extended` are the two sets of the course notes (tables 3.2 and 3.3 there): the features
 * of an HMM, and these with the spelling of the word. `general` suits any task; the others are for
 * the tasks they are named after.
 */
#include "base/text.h"

/* Names as whole segments, where there are many of them. */
#define SEGMENTS                                                                                   \
    "-t crf -a sgd -e 12 --l2 0.03 --dropout 0.4 --span-loss 2 --segments --train-scheme iobes"

struct preset {
    const char *name, *summary;
    const char *options[5]; // of train, by trellis_effort; NULL: the defaults of train
    const char *text;
};

static const struct preset presets[] = {
    {"id",
     "for HMMs: the word itself",
     {NULL},
     "# What an HMM sees: the word, and the steps between labels.\n"
     "columns word\n"
     "node word\n"
     "step start end\n"},
    {"hmm",
     "for HMMs: the word, and the endings of unknown words",
     {NULL},
     "# What an HMM sees, and the ends of words that training did not know (Brants 2000).\n"
     "columns word\n"
     "node word\n"
     "node bias if unknown(word,10) & isupper(word) & hasdigit(word)\n"
     "node bias if unknown(word,10) & isupper(word) & not hasdigit(word) & hashyphen(word)\n"
     "node bias if unknown(word,10) & isupper(word) & not hasdigit(word) & not hashyphen(word)\n"
     "node bias if unknown(word,10) & not isupper(word) & hasdigit(word)\n"
     "node bias if unknown(word,10) & not isupper(word) & not hasdigit(word) & hashyphen(word)\n"
     "node bias if unknown(word,10) & not isupper(word) & not hasdigit(word) & not hashyphen(word)\n"
     "node suffix(word,1..10) if unknown(word,10) & isupper(word) & hasdigit(word)\n"
     "node suffix(word,1..10) if unknown(word,10) & isupper(word) & not hasdigit(word) & hashyphen(word)\n"
     "node suffix(word,1..10) if unknown(word,10) & isupper(word) & not hasdigit(word) & not hashyphen(word)\n"
     "node suffix(word,1..10) if unknown(word,10) & not isupper(word) & hasdigit(word)\n"
     "node suffix(word,1..10) if unknown(word,10) & not isupper(word) & not hasdigit(word) & hashyphen(word)\n"
     "node suffix(word,1..10) if unknown(word,10) & not isupper(word) & not hasdigit(word) & not hashyphen(word)\n"
     "step start end\n"},
    {"classes",
     "for HMMs: frequent words; shapes and endings of the others",
     {NULL},
     "# What an HMM sees; rare words, and those training did not know, by their looks.\n"
     "columns word\n"
     "node word if frequent(word,4)\n"
     "node shortshape(word) & match(word,/.{1,3}$/) if rare(word,4)\n"
     "step start end\n"},
    {"extended",
     "the word and its spelling",
     {NULL},
     "# What an HMM sees, and how the word is spelt.\n"
     "columns word\n"
     "node word\n"
     "node isupper(word)\n"
     "node hasdigit(word)\n"
     "node hashyphen(word)\n"
     "node prefix(word,1..3)\n"
     "node suffix(word,1..3)\n"
     "step start end\n"},
    {"general",
     "any task: words, their spelling, the words beside them, a second column",
     {"-t crf -a sgd --l2 0.1", "-t perceptron -e 10",
      "-t crf -a sgd --l2 0.1 --order 2 --observed-states",
      "-t crf -a sgd -e 6 --l2 0.3 --order 2 --prune 0.01"},
     "# Whatever the task: words and their spelling, those beside them, a second column.\n"
     "columns word pos?\n"
     "pad\n"
     "node word\n"
     "node lower(word[-2..2])\n"
     "node ngram(lower(word),-1..1,2)\n"
     "node prefix(lower(word),1..4)\n"
     "node suffix(lower(word),1..5)\n"
     "node shortshape(word[-1..1])\n"
     "node ngram(shortshape(word),-1..1,2)\n"
     "node hasdigit(word)\n"
     "node hashyphen(word)\n"
     "node ngram(pos,-2..2,1..3)\n"
     "node lower(word) & pos[-1..1]\n"
     "step start end\n"},
    {"pos",
     "part-of-speech tagging",
     {"-t crf -a sgd --l2 0.05 --loss hamming --dropout 0.4 --seeds 4", "-t perceptron -e 10",
      "-t crf -a sgd -e 30 --l2 0.05 --loss hamming --dropout 0.4 --seeds 8",
      "-t crf -a sgd -e 6 --l2 0.3 --order 2 --prune 0.01 --batch 8 --rate 1.6 --seeds 2"},
     "# Part-of-speech tagging.\n"
     "columns word\n"
     "pad\n"
     "node bias\n"
     "node word\n"
     "node lower(word[-2..2])\n"
     "node ngram(lower(word),-1..1,2)\n"
     "node lower(word[-1]) & lower(word[1])\n"
     "node prefix(lower(word),1..5)\n"
     "node suffix(lower(word),1..5)\n"
     "node suffix(lower(word),6..10) if rare(word,10)\n"
     "node suffix(lower(word[-1..1]),2..3)\n"
     "node prefix(lower(word[-1..1]),3)\n"
     "node lower(word) & shortshape(word[-1..1])\n"
     "node shape(word)\n"
     "node shortshape(word[-1..1])\n"
     "node ngram(shortshape(word),-1..1,2)\n"
     "node hasdigit(word)\n"
     "node hashyphen(word)\n"
     "node isupper(word) & first\n"
     "node isupper(word) if not first\n"
     "step start end\n"},
    {"chunk",
     "chunking, from words and part-of-speech tags",
     {"-t crf -a sgd -e 12 --l2 0.02 --dropout 0.5 --span-loss 2 --train-scheme iobes --seeds 4",
      "-t perceptron -e 10",
      "-t crf -a sgd -e 20 --l2 0.02 --dropout 0.5 --span-loss 2 --train-scheme iobes --seeds 8",
      "-t crf -a sgd -e 6 --l2 0.3 --order 2 --prune 0.01"},
     "# Chunking, from words and their part-of-speech tags.\n"
     "columns word pos\n"
     "pad\n"
     "node word\n"
     "node lower(word[-2..2])\n"
     "node ngram(lower(word),-2..2,2..3)\n"
     "node lower(word[-1]) & lower(word[1])\n"
     "node ngram(pos,-3..3,1..3)\n"
     "node ngram(pos,-2..2,4..5)\n"
     "node pos[-1] & pos[1]\n"
     "node lower(word) & pos[-2..2]\n"
     "node lower(word) & pos[-1] & pos[1]\n"
     "node lower(word[-1]) & pos\n"
     "node lower(word[-1]) & pos & pos[1]\n"
     "node lower(word[1]) & pos\n"
     "node lower(word[1]) & pos & pos[-1]\n"
     "node lower(word[-2]) & pos[-1] & pos\n"
     "node lower(word[2]) & pos[1] & pos\n"
     "node lower(word[-1]) & lower(word) & pos[1]\n"
     "node lower(word) & lower(word[1]) & pos[-1]\n"
     "node prefix(lower(word),1..4)\n"
     "node suffix(lower(word),1..7)\n"
     "node suffix(lower(word),2..3) & pos[-1]\n"
     "node suffix(lower(word),2..3) & pos[1]\n"
     "node suffix(lower(word[-1..1]),3)\n"
     "node shape(word)\n"
     "node shortshape(word[-1..1])\n"
     "step start end\n"},
    {"ner",
     "named entities",
     {"-t crf -a sgd --l2 0.1 --span-loss 2 --seeds 4", "-t perceptron -e 10",
      "-t crf -a sgd --l2 0.1 --span-loss 2 --seeds 8",
      "-t crf -a sgd -e 6 --l2 0.3 --order 2 --prune 0.01",
      ("-f ner-segments " SEGMENTS " --seeds 4")},
     "# Named entities, from words and, where there are any, part-of-speech tags.\n"
     "columns word pos?\n"
     "pad\n"
     "node word\n"
     "node lower(word[-2..2])\n"
     "node ngram(lower(word),-1..1,2)\n"
     "node shortshape(word[-2..2])\n"
     "node ngram(shortshape(word),-1..1,2..3)\n"
     "node prefix(lower(word),1..5)\n"
     "node suffix(lower(word),1..5)\n"
     "node prefix(lower(word[-1]),3)\n"
     "node suffix(lower(word[-1]),3)\n"
     "node prefix(lower(word[1]),3)\n"
     "node suffix(lower(word[1]),3)\n"
     "node lower(word) & shortshape(word[-1..1])\n"
     "node lower(word[-1]) & shortshape(word)\n"
     "node lower(word[1]) & shortshape(word)\n"
     "node shape(word)\n"
     "node shortshape(word) if rare(word,1)\n"
     "node shortshape(word) & suffix(lower(word),2..3) if rare(word,1)\n"
     "node shortshape(word) & shortshape(word[-1]) if rare(word,1)\n"
     "node shortshape(word) & shortshape(word[1]) if rare(word,1)\n"
     "node isupper(word) & first\n"
     "node isupper(word) if not first\n"
     "node learned(lower(word),inside first last)\n"
     "node learned(lower(word),inside first last) & shortshape(word)\n"
     "node pos[-2..2]\n"
     "node ngram(pos,-1..1,2..3)\n"
     "step start end\n"},
    {"ner-segments",
     "named entities as whole segments",
     {(SEGMENTS " --seeds 4"), "-t perceptron -e 10 --segments", (SEGMENTS " --seeds 8"), SEGMENTS},
     "# Named entities, token by token and as a whole; needs --segments.\n"
     "columns word pos?\n"
     "pad\n"
     "node word\n"
     "node lower(word[-3..3])\n"
     "node ngram(lower(word),-1..1,2)\n"
     "node lower(word[-1]) & lower(word[1])\n"
     "node shortshape(word[-3..3])\n"
     "node ngram(shortshape(word),-1..1,2..3)\n"
     "node ngram(shortshape(word),-2..2,4..5)\n"
     "node prefix(lower(word),1..5)\n"
     "node suffix(lower(word),1..5)\n"
     "node prefix(lower(word[-1]),3..4)\n"
     "node suffix(lower(word[-1]),2..4)\n"
     "node prefix(lower(word[1]),3..4)\n"
     "node suffix(lower(word[1]),2..4)\n"
     "node lower(word) & shortshape(word[-1..1])\n"
     "node pos[-2..2]\n"
     "node ngram(pos,-1..1,2..3)\n"
     "node lower(word[-1]) & pos\n"
     "node lower(word[1]) & pos\n"
     "node lower(word) & pos[-1..1]\n"
     "node shortshape(word) & pos[-1..1]\n"
     "node lower(word[-1]) & shortshape(word)\n"
     "node lower(word[1]) & shortshape(word)\n"
     "node lower(word[-2]) & shortshape(word[-1]) & shortshape(word)\n"
     "node lower(word[2]) & shortshape(word[1]) & shortshape(word)\n"
     "node isupper(word) & first\n"
     "node isupper(word) if not first\n"
     "node shape(word)\n"
     "node suffix(lower(word),2..3) & shortshape(word)\n"
     "node learned(lower(word[-1..1]),inside)\n"
     "node ngram(learned(lower(word),inside),-1..1,2..3)\n"
     "node learned(lower(word),inside first last) & shortshape(word)\n"
     "segment text(lower(word))\n"
     "segment learned(lower(word))\n"
     "segment text(learned(lower(word),inside))\n"
     "segment head(learned(lower(word),first))\n"
     "segment tail(learned(lower(word),last))\n"
     "segment text(shortshape(word))\n"
     "segment size\n"
     "segment head(lower(word))\n"
     "segment tail(lower(word))\n"
     "segment any(lower(word))\n"
     "segment before(lower(word)) & text(shortshape(word))\n"
     "segment after(lower(word)) & text(shortshape(word))\n"
     "segment before(lower(word),1..2)\n"
     "segment after(lower(word),1..2)\n"
     "step start end\n"},
    {"chars",
     "sequences of characters",
     {"-t crf -a sgd --l2 0.1", "-t perceptron -e 10",
      "-t crf -a sgd --l2 0.1 --order 2 --observed-states",
      "-t crf -a sgd -e 6 --l2 0.3 --order 2 --prune 0.01"},
     "# Words, lines or addresses letter by letter: one character a row.\n"
     "columns char\n"
     "pad\n"
     "node bias\n"
     "node char[-4..4]\n"
     "node lower(char)\n"
     "node ngram(char,-4..4,2..5)\n"
     "node ngram(shape(char),-3..3,1..3)\n"
     "node position\n"
     "step start end\n"},
};

static const struct preset *find(const char *name)
{
    for (size_t i = 0; name && i < TR_COUNT(presets); i++) {
        if (strcmp(presets[i].name, name) == 0) {
            return &presets[i];
        }
    }
    return NULL;
}

const char *trellis_preset_name(size_t index)
{
    return index < TR_COUNT(presets) ? presets[index].name : NULL;
}

const char *trellis_preset_text(const char *name)
{
    const struct preset *preset = find(name);
    return preset ? preset->text : NULL;
}

const char *trellis_preset_summary(const char *name)
{
    const struct preset *preset = find(name);
    return preset ? preset->summary : NULL;
}

const char *trellis_preset_options(const char *name, trellis_effort effort)
{
    const struct preset *preset = find(name);
    return preset && (unsigned)effort < TR_COUNT(preset->options) ? preset->options[effort] : NULL;
}
