# Formats and label schemes.
. tests/cli/lib.sh
t=$TRELLIS_TMP

columns $t/iob2 He/PRP/B-NP sees/VBZ/B-VP the/DT/B-NP dog/NN/I-NP ./././O "|" U.S./NNP/B-NP Ltd./NNP/B-NP
sed -i 's|^. . . O|. . O|' $t/iob2
check convert_same 0 convert $t/iob2
for scheme in iob1 iob2 iobes bilou; do
    check convert_$scheme 0 convert --scheme iob2 --to-scheme $scheme $t/iob2
    cp $out $t/$scheme.again
    check convert_back 0 convert --scheme $scheme --to-scheme iob2 $t/$scheme.again
done
check convert_wordtag 0 convert --label 2 --output-format wordtag $t/iob2
check convert_jsonl 0 convert --columns word,pos,chunk --output-format jsonl $t/iob2
check convert_inline 0 convert --output-format inline $t/iob2

# CoNLL-U keeps its comments, even if labels are rewritten, and is recognised by its file name.
printf '# text = a b\n1\ta\t_\tB-X\t_\t_\t0\troot\t_\t_\n2\tb\t_\tI-X\t_\t_\t1\tdep\t_\t_\n\n' >$t/tree.conllu
check convert_conllu 0 convert $t/tree.conllu
check convert_conllu_scheme 0 convert --scheme iob2 --to-scheme iobes $t/tree.conllu
gzip -k $t/tree.conllu
check convert_conllu 0 convert $t/tree.conllu.gz

input=$t/iob2
check convert_same 0 convert
check convert_same 0 convert -
finish
