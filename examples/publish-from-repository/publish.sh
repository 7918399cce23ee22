#!/usr/bin/env bash
# Publishes the committed files posts/*.json that are not recorded as published. Each file is published once, even if the script
# runs again or with another API key of the team. A file has the arguments of create_post as JSON. The script identifies it by its
# content, not by its name.
#
#   publish.sh --begin   creates the record and marks all files in posts/ as published. To publish all of them, create an empty file.
#   publish.sh           publishes new posts. It exits with status 0 if all posts are published.
set -uo pipefail

# The record is a permanent file outside of the repository. It has a line for each step: hash, step, detail, Unix time, name. The
# detail is an API key's ID or a post's ID. A line with fewer than five fields was interrupted and is ignored, so the script
# continues after the previous step.
record=${PRESSROOM_RECORD:?must be the path of the file that records the published posts}

fail() { echo "publish.sh: $*" >&2; exit 1; }
[[ $record = /* ]] || fail "PRESSROOM_RECORD must be an absolute path"
report() { echo "::error file=$1::$2" >&2; } # file, message

add_step() { # hash, step, detail, name
  [ -z "$(tail -c 1 "$record")" ] || echo >>"$record" || return # ends an interrupted line
  printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$(date +%s)" "$4" >>"$record" && sync "$record"
}

# Prints the step, the detail and the time of a file's last step.
last_step() { awk -F '\t' -v hash="$1" 'NF == 5 && $1 == hash { found = $2 "\t" $3 "\t" $4 } END { print found }' "$record"; }

# Prints the hash of each previous content of a file, with its last step and the detail.
previous_contents() { # name, hash
  # The environment passes the name, because -v would interpret backslashes.
  NAME=$1 awk -F '\t' -v hash="$2" 'NF == 5 { step[$1] = $2 "\t" $3 } NF == 5 && $5 == ENVIRON["NAME"] && $1 != hash { known[$1] }
    END { for (h in known) print h "\t" step[h] }' "$record"
}

# Succeeds if a post is on no network and will not be published without another call.
is_unpublished() { # post
  local post
  post=$(pressroom call get_post "$1") || return
  ! grep -qE '"state":"(published|sending|unconfirmed)"|"status":"(scheduled|processing|published|partially_published)"' <<<"$post"
}

# Fails if a previous content of the file is published or may be published.
check_previous() { # name, hash
  local old step detail
  while IFS=$'\t' read -r old step detail; do
    case $step in
      rejected | asked | replaced) continue ;; # a post is published only after the step drafted
      drafted) is_unpublished "$detail" && add_step "$old" replaced "$detail" "$1" && continue ;;
    esac
    report "$1" "changed after a previous content was published or may have been published as post $detail. Revert the change, or put the new text in another file"
    return 1
  done < <(previous_contents "$1" "$2")
}

# Fails if repeating a request could create a second draft. An idempotency key is valid for a day and for one API key.
check_repeatable() { # name, hash, API key of the request, its time
  local age
  [[ $4 =~ ^[1-9][0-9]{0,11}$ ]] || { report "$1" "the line of $2 in the record has no valid time"; return 1; }
  age=$(($(date +%s) - $4))
  if [ "$3" = "$key" ] && [ "$age" -ge 0 ] && [ "$age" -lt $((20 * 3600)) ]; then return; fi
  report "$1" "a previous run requested a draft and got no response, too long ago or with another API key. Look for the draft in the app. If it exists, change the step of $2 in the record to drafted and the third field to the ID of the post. Otherwise remove the line"
  return 1
}

# Creates a draft and prints its ID. Each recorded request has its own idempotency key.
create_draft() { # name, hash, further flags
  local times
  times=$(awk -F '\t' -v hash="$2" 'NF == 5 && $1 == hash && $2 == "asked"' "$record" | wc -l)
  pressroom call create_post --json "@$1" --idempotency-key "repository-$2-$times" --field data.id "${@:3}"
}

# Requests a draft for the first time. If the service rejects the first attempt, no draft exists, and a later run can try again.
request_draft() { # name, hash
  local status=0
  add_step "$2" asked "$key" "$1" || return
  create_draft "$1" "$2" --attempts 1 || status=$?
  case $status in
    0) return ;;
    [2-6]) add_step "$2" rejected - "$1"; return 1 ;;
  esac
  create_draft "$1" "$2"
}

# Publishes a post. The service never publishes a post twice.
publish() { # name, hash, post
  local status
  pressroom call publish_post "$3" --wait --field data.state || {
    status=$(pressroom call get_post "$3" --field data.status) && [ "$status" = published ] || return
  }
  add_step "$2" published "$3" "$1"
}

# Publishes a file if it is new, and continues an interrupted file.
process_file() { # name
  local hash step detail at
  hash=$(git hash-object --no-filters -- "$1") || return
  IFS=$'\t' read -r step detail at < <(last_step "$hash")
  case ${step:-none} in
    before | published) return ;;
    drafted) ;;
    asked)
      check_repeatable "$1" "$hash" "$detail" "$at" && detail=$(create_draft "$1" "$hash") && add_step "$hash" drafted "$detail" "$1" || return ;;
    none | rejected | replaced)
      check_previous "$1" "$hash" && detail=$(request_draft "$1" "$hash") && add_step "$hash" drafted "$detail" "$1" || return ;;
    *)
      report "$1" "the record has an unknown step for $hash"
      return 1 ;;
  esac
  new=$((new + 1))
  echo "$1"
  publish "$1" "$hash" "$detail" && return
  report "$1" "post $detail was not published on all accounts"
  return 1
}

# Creates the record. The record must be complete, because the script publishes all files that it lacks.
begin() {
  local target=$record hash
  [ ! -e "$target" ] || fail "the record $target exists already"
  temporary=$(mktemp "$target.XXXXXX") || fail "the record cannot be created"
  record=$temporary
  for file in "${files[@]}"; do
    hash=$(git hash-object --no-filters -- "$file") || fail "$file cannot be read"
    add_step "$hash" before - "$file" || fail "the record cannot be written"
  done
  mv "$record" "$target" || fail "the record cannot be created"
  echo "${#files[@]} posts are marked as published."
}

top=$(git rev-parse --show-toplevel) && cd "$top" || fail "the current folder is not in a Git repository"
git diff --quiet HEAD -- posts/ || fail "posts/ has changes that are not committed"
listed=$(mktemp) || exit 1
temporary=
trap 'rm -f "$listed" ${temporary:+"$temporary"}' EXIT
git ls-files -z -- ':(glob)posts/*.json' >"$listed" || fail "the posts cannot be listed"
mapfile -d '' files <"$listed"
for file in "${files[@]}"; do
  [[ $file != *[[:cntrl:]]* ]] || fail "the name of a post contains a control character"
done
case "$#:${1:-}" in
  0:) ;;
  1:--begin) begin; exit ;;
  *) echo "usage: publish.sh [--begin]" >&2; exit 2 ;;
esac
[ -f "$record" ] || fail "the record $record does not exist. Restore it, or create it with --begin"
exec 9>>"$record" && flock -n 9 || fail "another run is in progress"
key=$(pressroom call get_identity --field data.key.id) || exit

new=0 failed=0 seen=0
for file in "${files[@]}"; do
  process_file "$file" || { echo "$file: failed" >&2; failed=1; }
  seen=$((seen + 1))
done
[ "$seen" -eq "${#files[@]}" ] || fail "not all files were processed" # bash ends a loop if an expansion fails
[ "$new" -gt 0 ] || [ "$failed" -gt 0 ] || echo "no new posts"
exit "$failed"
