# bash completion for trellis; written by 'trellis help --completion', do not edit.
_trellis() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local subcommands="train tag eval compare cv tune convert features info inspect explain show report export import sample help version" values= names=
    if [ "$COMP_CWORD" -eq 1 ] || { [ "$COMP_CWORD" -eq 2 ] && [ "$before" = help ]; }; then
        COMPREPLY=($(compgen -W "$subcommands --help --version" -- "$word"))
        return
    fi
    case $before in
        --format) values="auto columns conllu crfsuite wordtag jsonl text" ;;
        --separator) values="blank tab" ;;
        --invalid-utf8) values="error keep" ;;
        --scheme) values="none iob1 iob2 iobes bilou" ;;
        --output-format) values="same columns conllu crfsuite wordtag jsonl inline" ;;
        --to-scheme) values="none iob1 iob2 iobes bilou" ;;
        -t | --type) values="perceptron mira ssvm crf maxent hmm memm" ;;
        -f | --features) values="id hmm classes extended general pos chunk ner chars" ;;
        --train-scheme) values="none iob1 iob2 iobes bilou" ;;
        --loss) values="hamming root" ;;
        --update) values="standard early max-violation" ;;
        --smoothing) values="auto add interpolated" ;;
        --dev-score) values="auto accuracy one-to-one many-to-one likelihood" ;;
        --bits) values="32 16" ;;
        --decode) values="viterbi posterior risk beam" ;;
        --budget) values="data epochs" ;;
    esac
    if [ -n "$values" ]; then
        COMPREPLY=($(compgen -W "$values" -- "$word"))
        return
    fi
    case ${COMP_WORDS[1]} in
        train) names="--help --model --quiet --format --label --columns --separator --invalid-utf8 --part --type --algorithm --features --dev --epochs --patience --min-count --all-features --train-scheme --order --observed-states --prune --counted --l2 --sigma --lambda --l1 --select-l1 --from --epsilon --delta --period --history --warm-up --batch --rate --no-average --dictionary --dictionary-count --loss --cost --span-loss --aggressiveness --variance --mbest --update --gap --partial --alpha --smoothing --theta --checkpoint --every --resume --states --restarts --unlabelled --unlabelled-weight --dev-score --gaussian --variance-floor --bits --log --constrain --beam --threads --seed --memory" ;;
        tag) names="--help --model --output --at-once --marginals --all-marginals --check --format --label --columns --separator --invalid-utf8 --part --output-format --prune --cost --constrain --forced --decode --beam --nbest --threshold --threads" ;;
        eval) names="--help --model --against --train --details --json --output --format --label --columns --separator --invalid-utf8 --part --scheme --prune --cost --constrain --forced --decode --beam --threshold --strict --clusters --bootstrap --shuffles --threads --seed" ;;
        compare) names="--help --types --sets --json --output --quiet --format --label --columns --separator --invalid-utf8 --scheme --dev --epochs --patience --min-count --all-features --train-scheme --order --observed-states --prune --counted --l2 --sigma --lambda --l1 --select-l1 --from --epsilon --delta --period --history --warm-up --batch --rate --no-average --dictionary --dictionary-count --loss --cost --span-loss --aggressiveness --variance --mbest --update --gap --partial --alpha --smoothing --theta --states --restarts --unlabelled --unlabelled-weight --dev-score --gaussian --variance-floor --bits --constrain --forced --decode --beam --strict --threads --seed --memory" ;;
        cv) names="--help --folds --json --output --quiet --format --label --columns --separator --invalid-utf8 --scheme --type --algorithm --features --dev --epochs --patience --min-count --all-features --train-scheme --order --observed-states --prune --counted --l2 --sigma --lambda --l1 --select-l1 --from --epsilon --delta --period --history --warm-up --batch --rate --no-average --dictionary --dictionary-count --loss --cost --span-loss --aggressiveness --variance --mbest --update --gap --partial --alpha --smoothing --theta --states --restarts --unlabelled --unlabelled-weight --dev-score --gaussian --variance-floor --bits --constrain --forced --decode --beam --strict --threads --seed --memory" ;;
        tune) names="--help --try --folds --results --plot --json --output --quiet --format --label --columns --separator --invalid-utf8 --scheme --type --algorithm --features --dev --epochs --patience --min-count --all-features --train-scheme --order --observed-states --prune --counted --l2 --sigma --lambda --l1 --select-l1 --from --epsilon --delta --period --history --warm-up --batch --rate --no-average --dictionary --dictionary-count --loss --cost --span-loss --aggressiveness --variance --mbest --update --gap --partial --alpha --smoothing --theta --states --restarts --unlabelled --unlabelled-weight --dev-score --gaussian --variance-floor --bits --constrain --beam --strict --trials --halving --budget --threads --seed --memory" ;;
        convert) names="--help --linear --model --output --format --label --columns --separator --invalid-utf8 --part --scheme --output-format --to-scheme --bits --seed" ;;
        features) names="--help --list --show --functions --output --format --label --columns --separator --invalid-utf8 --part --features" ;;
        info) names="--help --model --json --output" ;;
        inspect) names="--help --model --label --json --output --top" ;;
        explain) names="--help --model --words --json --output --format --label --columns --separator --invalid-utf8 --part --scheme --constrain --top --sequence --errors" ;;
        show) names="--help --model --words --output --format --label --columns --separator --invalid-utf8 --part --scheme --constrain --decode --beam --top --sequence --errors" ;;
        report) names="--help --model --output --format --label --columns --separator --invalid-utf8 --part --scheme --constrain --decode --beam --strict --top --errors --threads" ;;
        export) names="--help --model --json --output" ;;
        import) names="--help --model" ;;
        sample) names="--help --model --output --output-format --labels --vocabulary --tokens --mean-length --seed" ;;
        help) names="--help" ;;
        version) names="--help" ;;
    esac
    case $word in
        -*) COMPREPLY=($(compgen -W "$names" -- "$word")) ;;
    esac
}
complete -o default -F _trellis trellis
