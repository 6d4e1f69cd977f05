#!/usr/bin/env bash
# The software bill of materials, SPDX 2.3 as JSON, on standard output: Trellis and the libraries it is built
# with, from packages.txt, with the versions that are installed here.
#
#   scripts/sbom.sh >trellis.spdx.json
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define TRELLIS_VERSION_[A-Z]* *\([0-9]*\).*/\1/p' include/trellis.h | paste -sd.)
commit=$(git rev-parse HEAD 2>/dev/null || echo none)
created=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}" +%Y-%m-%dT%H:%M:%SZ)
packages=$(sed -n 's/^\(lib[^ ?]*\|zlib[^ ?]*\)  *# build: .*/\1/p' packages.txt)

# licence_of PACKAGE: as its authors give it
licence_of() {
    case $1 in
    libxxhash*) echo BSD-2-Clause ;;
    libutf8proc* | libjansson*) echo MIT ;;
    libmicrohttpd*) echo LGPL-2.1-or-later ;;
    libpcre2*) echo BSD-3-Clause ;;
    zlib*) echo Zlib ;;
    libzstd*) echo "BSD-3-Clause OR GPL-2.0-only" ;;
    libunistring*) echo "LGPL-3.0-or-later OR GPL-2.0-or-later" ;;
    *) echo NOASSERTION ;;
    esac
}

# package ID NAME VERSION LICENCE
package() {
    printf '    {"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION",\n' "$1" "$2" "$3"
    printf '     "filesAnalyzed": false, "licenseConcluded": "%s", "licenseDeclared": "%s", "copyrightText": "NOASSERTION"}' "$4" "$4"
}

printf '{\n  "spdxVersion": "SPDX-2.3",\n  "dataLicense": "CC0-1.0",\n  "SPDXID": "SPDXRef-DOCUMENT",\n'
printf '  "name": "trellis-%s",\n  "documentNamespace": "https://spdx.org/spdxdocs/trellis-%s-%s",\n' "$version" "$version" "$commit"
printf '  "creationInfo": {"created": "%s", "creators": ["Tool: scripts/sbom.sh"]},\n  "packages": [\n' "$created"
package trellis trellis "$version" MIT
for name in $packages; do
    installed=$(dpkg-query -W -f='${Version}' "$name" 2>/dev/null || echo NOASSERTION)
    printf ',\n'
    package "$name" "$name" "${installed:-NOASSERTION}" "$(licence_of "$name")"
done
printf '\n  ],\n  "relationships": [\n'
printf '    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-trellis"}'
for name in $packages; do
    printf ',\n    {"spdxElementId": "SPDXRef-trellis", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": "SPDXRef-%s"}' "$name"
done
printf '\n  ]\n}\n'
