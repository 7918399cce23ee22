#!/usr/bin/env bash
# Publishes the committed files posts/*.json that its record does not know as published, each once, however often it runs and with
# whichever API key of the team. A file holds the arguments of create_post as JSON and is known by what it holds, not by its name.
#
#   publish.sh --begin   begins the record: what posts/ holds now counts as published. An empty file is a record too: then all goes out.
#   publish.sh           publishes what is new. It ends with 0 where nothing is left to be done.
set -uo pipefail

# The record is a file outside of the repository, which is kept: a line for each step, of hash, step, what belongs to it, second, name.
# A line that lacks one of the five was cut off and counts for nothing: the step before it is the last, and is gone on with.
record=${PRESSROOM_RECORD:?names the file that records what was published}

stop() { echo "publish.sh: $*" >&2; exit 1; }
[[ $record = /* ]] || stop "PRESSROOM_RECORD has to be a path from the root on"
trouble() { echo "::error file=$1::$2" >&2; }

note() { # hash, step, what belongs to it, name
  [ -z "$(tail -c 1 "$record")" ] || echo >>"$record" || return # a line that was cut off ends here
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$(date +%s)" "$4" >>"$record" && sync "$record"
}

last() { awk -F '\t' -v hash="$1" 'NF == 5 && $1 == hash { found = $2 "\t" $3 "\t" $4 } END { print found }' "$record"; }

# What went before a file of this name, another text: hash by hash, each with its last step.
earlier() { # name, hash
  # -v would read a backslash of the name as the beginning of an escape
  NAME=$1 awk -F '\t' -v hash="$2" 'NF == 5 { step[$1] = $2 "\t" $3 } NF == 5 && $5 == ENVIRON["NAME"] && $1 != hash { known[$1] }
    END { for (h in known) print h "\t" step[h] }' "$record"
}

# Whether a post is on no network, and none may have it without saying so.
nowhere() { # post
  local told
  told=$(pressroom call get_post "$1") || return
  ! grep -qE '"state":"(published|sending|unconfirmed)"|"status":"(scheduled|processing|published|partially_published)"' <<<"$told"
}

corrected() { # name, hash: fails where an earlier text of the file is out, or may be
  local old step about
  while IFS=$'\t' read -r old step about; do
    case $step in
      refused | asked | replaced) continue ;; # nothing is published before its draft is noted
      drafted) nowhere "$about" && note "$old" replaced "$about" "$1" && continue ;;
    esac
    trouble "$1" "changed after an earlier text of it went out, or may have: post $about. Put that back, or give the new one a file of its own"
    return 1
  done < <(earlier "$1" "$2")
}

# An Idempotency-Key is remembered for a day, and for one API key. Beyond that nobody can tell whether a draft was made.
again() { # name, hash, the API key that asked, when
  local age
  [[ $4 =~ ^[1-9][0-9]{0,11}$ ]] || { trouble "$1" "the line of $2 in the record tells no second"; return 1; }
  age=$(($(date +%s) - $4))
  if [ "$3" = "$key" ] && [ "$age" -ge 0 ] && [ "$age" -lt $((20 * 3600)) ]; then return; fi
  trouble "$1" "a run asked for it and got no answer, too long ago or with another API key: look for its draft in the app, then set the line of $2 in the record to drafted with its id, or take it out"
  return 1
}

draft() { # name, hash, further flags: each asking that was noted has a key of its own
  local times
  times=$(awk -F '\t' -v hash="$2" 'NF == 5 && $1 == hash && $2 == "asked"' "$record" | wc -l)
  pressroom call create_post --json "@$1" --idempotency-key "repository-$2-$times" --field data.id "${@:3}"
}

first() { # name, hash: what is refused at the first attempt was not done, so that a later run may ask anew
  local status=0
  note "$2" asked "$key" "$1" || return
  draft "$1" "$2" --attempts 1 || status=$?
  case $status in
    0) return ;;
    [2-6]) note "$2" refused - "$1"; return 1 ;;
  esac
  draft "$1" "$2"
}

publish() { # name, hash, post: a post that was handed over is never handed over again, whoever asks and when
  local status
  pressroom call publish_post "$3" --wait --field data.state || {
    status=$(pressroom call get_post "$3" --field data.status) && [ "$status" = published ] || return
  }
  note "$2" published "$3" "$1"
}

one() { # name
  local hash step about at
  hash=$(git hash-object --no-filters -- "$1") || return
  IFS=$'\t' read -r step about at < <(last "$hash")
  case ${step:-none} in
    before | published) return ;;
    drafted) ;;
    asked)
      again "$1" "$hash" "$about" "$at" && about=$(draft "$1" "$hash") && note "$hash" drafted "$about" "$1" || return ;;
    none | refused | replaced)
      corrected "$1" "$hash" && about=$(first "$1" "$hash") && note "$hash" drafted "$about" "$1" || return ;;
    *)
      trouble "$1" "the record tells a step of $hash that there is not"
      return 1 ;;
  esac
  new=$((new + 1))
  echo "$1"
  publish "$1" "$hash" "$about" && return
  trouble "$1" "not published, or not on every account: post $about"
  return 1
}

begin() { # the record is there wholly or not at all: what lacks in it goes out
  local whole=$record hash
  [ ! -e "$whole" ] || stop "there is a record already: $whole"
  begun=$(mktemp "$whole.XXXXXX") || stop "the record cannot be made"
  record=$begun
  for file in "${files[@]}"; do
    hash=$(git hash-object --no-filters -- "$file") || stop "$file cannot be read"
    note "$hash" before - "$file" || stop "the record cannot be written"
  done
  mv "$record" "$whole" || stop "the record cannot be made"
  echo "${#files[@]} posts count as published."
}

top=$(git rev-parse --show-toplevel) && cd "$top" || stop "this is no git repository"
git diff --quiet HEAD -- posts/ || stop "posts/ holds changes that are not committed"
listed=$(mktemp) || exit 1
begun=
trap 'rm -f "$listed" ${begun:+"$begun"}' EXIT
git ls-files -z -- ':(glob)posts/*.json' >"$listed" || stop "the posts cannot be listed"
mapfile -d '' files <"$listed"
for file in "${files[@]}"; do
  [[ $file != *[[:cntrl:]]* ]] || stop "the name of a post holds a control character"
done
case "$#:${1:-}" in
  0:) ;;
  1:--begin) begin; exit ;;
  *) echo "usage: publish.sh [--begin]" >&2; exit 2 ;;
esac
[ -f "$record" ] || stop "there is no record at $record of what was published: put it back, or begin one with --begin"
exec 9>>"$record" && flock -n 9 || stop "another run is at it"
key=$(pressroom call get_identity --field data.key.id) || exit

new=0 failed=0 seen=0
for file in "${files[@]}"; do
  one "$file" || { echo "$file: not done" >&2; failed=1; }
  seen=$((seen + 1))
done
[ "$seen" -eq "${#files[@]}" ] || stop "not all files were gone over" # bash leaves a loop where it cannot expand something
[ "$new" -gt 0 ] || [ "$failed" -gt 0 ] || echo "nothing new"
exit "$failed"
