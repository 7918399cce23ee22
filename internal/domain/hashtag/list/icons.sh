#!/bin/sh
# Generates icons.txt, the names of the icons of Remix Icon, from its npm package. Usage: sh icons.sh VERSION
set -eu
version=${1:?which version of remixicon, such as 4.9.1}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "remixicon@$version" >/dev/null
tar xzf "remixicon-$version.tgz" package/fonts/remixicon.css
{
	echo "# The names of the icons of Remix Icon $version, https://remixicon.com, © Remix Design. icons.sh generates this file from the npm package remixicon@$version."
	echo "# This file contains no icons. The license of the package is the Remix Icon License v1.0, although its package.json says Apache-2.0."
	echo "# A name stands for two icons, with the suffixes -line and -fill. A name that ends with = is an icon without a suffix."
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
