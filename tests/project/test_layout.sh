#!/usr/bin/env bash
# The layout of the sources: the map is up to date, includes point one way, the command includes only the public header,
# no two structs have the same tag, the documentation names files that exist, lines have at most 100 columns, and tests
# compare numbers in a way that a NaN fails.
set -euo pipefail

scripts/map.sh --check

# Folders in the order in which they may include each other: each may include itself and those before it.
order=(base corpus cluster features graph dataset lattice chain optim model eval train tagger search report)
failed=0
allowed=""
for folder in "${order[@]}"; do
    allowed="$allowed $folder"
    while IFS=: read -r file included; do
        case " $allowed " in
        *" $included "*) ;;
        *) echo "$file includes $included/, which comes later"; failed=1 ;;
        esac
    done < <(grep -HoE '^#include "[a-z]+/' src/"$folder"/*.[ch] | sed -E 's|#include "([a-z]+)/|\1|')
done
for folder in src/*/; do
    case " ${order[*]} " in
    *" $(basename "$folder") "*) ;;
    *) echo "$folder is missing in the order of includes"; failed=1 ;;
    esac
done
if grep -nE '#include "[a-z]+/' cli/*.[ch] serve/*.[ch] mpi/*.[ch] examples/*.c 2>/dev/null |
    grep -v '^serve/launch.c:[0-9]*:#include "cli/'; then
    echo "the command, the service and the examples include only the public header and their own"
    failed=1
fi

# One tag, one struct.
twice=$(grep -hoE '^(typedef )?(struct|union|enum) [a-z_0-9]+ \{' src/*/*.[ch] |
    sed -E 's/^typedef //; s/^[a-z]+ //; s/ \{$//' | sort | uniq -d)
for tag in $twice; do
    echo "$tag is defined more than once:"
    grep -nE "^(typedef )?(struct|union|enum) $tag \{" src/*/*.[ch]
    failed=1
done

for file in $(grep -hoE '`(src|cli|serve|include|tests|scripts|bench)/[a-z_0-9/]+\.[a-z]+`' README.md CONTRIBUTING.md docs/*.md | tr -d '`' |
    sort -u); do
    [ -e "$file" ] || { echo "the documentation names $file, which does not exist"; failed=1; }
done

if grep -nE 'assert_(float|double)_(not_)?equal' tests/*/*.[ch] examples/*.c | grep -v '^tests/support/near.h:'; then
    echo "these assertions of cmocka hold for a NaN: use assert_near() of tests/support/near.h"
    failed=1
fi

# Code and comments; strings are never broken.
check_width=no # until all comments are wrapped
if [ $check_width = yes ] &&
    LC_ALL=C.UTF-8 grep -rnE --include='*.[ch]' '^[^"]{101,}$' src cli serve include tests examples; then
    echo "these lines have more than 100 columns"
    failed=1
fi
exit $failed
