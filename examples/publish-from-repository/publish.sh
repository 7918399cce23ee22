#!/usr/bin/env bash
# Publishes each file of posts/ that was added between two commits. A file holds the arguments of create_post as JSON.
# It may be run again after a failure: the post of a file is known by the file's own hash, so it is drafted once and
# published once.
set -uo pipefail
before=$1 after=$2

# Idempotency-Keys are remembered for a day. After that a second run could publish a second time, so it is refused.
age=$(($(date +%s) - $(git show -s --format=%ct "$after"))) || exit 1
if [ "$age" -gt $((20 * 3600)) ]; then
  echo "The commit is older than 20 hours: look at the posts in the app, and publish by hand what is missing." >&2
  exit 1
fi

# The first push of a branch comes after nothing.
git cat-file -e "$before" 2>/dev/null || before=$(git hash-object -t tree /dev/null)

publish() { # the file of a post
  local post key
  key=repository-$(git hash-object "$1") || return
  post=$(pressroom call create_post --json "@$1" --idempotency-key "$key" --field data.id) || return
  # It may have gone out in an earlier run: then the answer says so, and nothing is sent again.
  pressroom call publish_post "$post" --idempotency-key "$key-publish" --wait --field data.state || return
}

failed=0
while IFS= read -r -d '' file; do
  echo "$file"
  publish "$file" || { echo "::error file=$file::not published, or not on every account" >&2; failed=1; }
done < <(git diff -z --name-only --diff-filter=A "$before" "$after" -- posts/)
exit "$failed"
