#!/bin/sh
# Writes icons.txt anew: the names of Remix Icon, out of its npm package. Usage: sh icons.sh VERSION
# Only names are kept, none of the drawings. A name stands for its -line and its -fill; one with = at its end for itself.
set -eu
version=${1:?which version of remixicon, such as 4.9.1}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "remixicon@$version" >/dev/null
tar xzf "remixicon-$version.tgz" package/fonts/remixicon.css
{
	echo "# The names of the icons of Remix Icon $version, https://remixicon.com, © Remix Design, written by icons.sh from npm's remixicon@$version."
	echo "# No drawing of an icon is here. The package's licence is the Remix Icon License v1.0 (its package.json says Apache-2.0): see its file License."
	echo "# A name stands for its -line and its -fill; one with = at its end for itself alone."
	sed -n 's/^\.ri-\([a-z0-9-]*\):before.*/\1/p' package/fonts/remixicon.css | LC_ALL=C sort -u | awk '
		{ all[$0] = 1; order[NR] = $0 }
		END {
			for (n = 1; n <= NR; n++) {
				base = order[n]
				if (sub(/-fill$/, "", base) && (base "-line") in all) { print base; continue }
				base = order[n]
				if (sub(/-line$/, "", base) && (base "-fill") in all) continue
				print order[n] "="
			}
		}' | fmt -w 150
} > "$here/icons.txt"
