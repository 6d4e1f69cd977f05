#!/usr/bin/env bash
# The software bill of materials is valid SPDX, and names every library that libtrellis.so is linked with.
set -euo pipefail
bill=$TRELLIS_TMP/trellis.spdx.json
bash scripts/sbom.sh >"$bill"
# The files of the packages that it names, without their versions.
named=$(python3 - "$bill" <<'PY'
import json, re, sys
bill = json.load(open(sys.argv[1]))
assert bill["spdxVersion"] == "SPDX-2.3" and bill["dataLicense"] == "CC0-1.0"
ids = [package["SPDXID"] for package in bill["packages"]]
assert ids[0] == "SPDXRef-trellis" and len(ids) == len(set(ids))
assert all(package["versionInfo"] and package["licenseDeclared"] != "NOASSERTION" for package in bill["packages"])
for relation in bill["relationships"]:
    for end in "spdxElementId", "relatedSpdxElement":
        assert relation[end] in ids + ["SPDXRef-DOCUMENT"], relation
print("\n".join(package["name"] for package in bill["packages"]))
PY
)
missing=0
for library in $(objdump -p "$TRELLIS_BUILD/libtrellis.so" | awk '$1 == "NEEDED" { sub(/\.so.*/, "", $2); print $2 }'); do
    case $library in libc | libm | libpthread | ld-linux*) continue ;; esac # the C library is part of the system
    [ "$library" != libz ] || library=zlib
    library=${library%-8} # the width of PCRE2's characters
    grep -q "^$library" <<<"$named" || {
        echo "FAILED: $library is not in the bill"
        missing=1
    }
done
exit $missing
