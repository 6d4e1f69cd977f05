#!/usr/bin/env bash
# The house in order: the map of the sources is fresh, includes point one way, the command sees nothing but
# the public header, and no file names a path of somebody's machine.
set -euo pipefail

scripts/map.sh --check

# Folders in the order in which they may include each other: each may include itself and those before it.
order=(base corpus features graph dataset lattice optim model eval train tagger search report)
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
    *) echo "$folder has no place in the order of includes"; failed=1 ;;
    esac
done
if grep -nE '#include "[a-z]+/' cli/*.[ch] examples/*.c 2>/dev/null; then
    echo "the command and the examples include only the public header and their own"
    failed=1
fi
exit $failed
