"""Drafts a post for each row of a CSV file. docs/clients.md describes it.

The file has the columns caption, accounts (IDs, separated by spaces), time (ISO 8601, may be empty) and files (paths,
separated by spaces, relative to the CSV file). A post with a time is scheduled.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import sys
from pathlib import Path

from pressroom import CallError, Pressroom, upload

USAGE = "usage: PRESSROOM_URL=… PRESSROOM_KEY=… python3 drafts_from_csv.py FILE"


def main() -> int:
    url, key = os.environ.get("PRESSROOM_URL"), os.environ.get("PRESSROOM_KEY")
    if len(sys.argv) != 2 or not url or not key:
        print(USAGE, file=sys.stderr)
        return 2
    path, client, failed = Path(sys.argv[1]), Pressroom(url, key), 0
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except OSError as e:
        print(e, file=sys.stderr)
        return 1
    for line, row in enumerate(rows, start=2):
        try:
            print(f"line {line}: {draft(client, path.parent, row)}")
        except (CallError, KeyError, ValueError) as e:
            failed += 1
            print(f"line {line}: {e}", file=sys.stderr)
    return 1 if failed else 0


def draft(client: Pressroom, folder: Path, row: dict[str, str]) -> str:
    """Drafts the post of a row, schedules it if the row has a time, and returns its ID.

    The idempotency keys depend on the row, so that another run does not draft the post again.
    """
    row_key = "csv-" + hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:40]
    media_ids = []
    for outcome in upload(client, [folder / name for name in row["files"].split()]):
        if outcome.media_id is None:
            raise ValueError(f"{outcome.name}: {outcome.error}")
        media_ids.append(outcome.media_id)
    account_ids = [int(account) for account in row["accounts"].split()]
    post = client.create_post(
        caption=row["caption"], account_ids=account_ids, media_ids=media_ids, idempotency_key=row_key
    ).data
    if row["time"]:
        client.schedule_post(post["id"], scheduled_at=row["time"], idempotency_key=row_key + "-time")
    return post["id"]


if __name__ == "__main__":
    sys.exit(main())
