-- +goose Up
-- When a key was last used, to about a minute; 0 where it was not since this is noted.
ALTER TABLE api_keys ADD COLUMN used_at BIGINT NOT NULL DEFAULT 0;
-- Which sending of a form made the key: sent again, it makes no second one.
ALTER TABLE api_keys ADD COLUMN sending {{.ID}} NOT NULL DEFAULT '';
CREATE UNIQUE INDEX api_keys_by_sending ON api_keys (team_id, sending) WHERE sending <> '';

-- What the owner lets keys and assistants spend in a day, below what the plan or the operator allows.
ALTER TABLE teams ADD COLUMN own_daily_credits BIGINT;

-- One kind of event of a team, the newest first.
CREATE INDEX events_of_kind ON events (team_id, kind, id);

-- The credits that a team has available after a transfer, so that any part of its statement can be shown by itself.
ALTER TABLE ledger_transfers ADD COLUMN balance BIGINT NOT NULL DEFAULT 0;
CREATE INDEX ledger_transfers_by_time ON ledger_transfers (team_id, created_at, id);
{{if .Postgres}}
ALTER TABLE ledger_transfers DISABLE TRIGGER ledger_transfers_are_kept;
{{else}}
DROP TRIGGER ledger_transfers_are_not_changed;
{{end}}
UPDATE ledger_transfers SET balance = s.balance FROM (
    SELECT t.id, CAST(SUM(COALESCE(e.amount, 0)) OVER (PARTITION BY t.team_id ORDER BY t.id) AS BIGINT) AS balance
    FROM ledger_transfers t LEFT JOIN ledger_entries e ON e.transfer_id = t.id AND e.account = 'available') s WHERE s.id = ledger_transfers.id;
{{if .Postgres}}
ALTER TABLE ledger_transfers ENABLE TRIGGER ledger_transfers_are_kept;
{{else}}
-- +goose StatementBegin
CREATE TRIGGER ledger_transfers_are_not_changed BEFORE UPDATE ON ledger_transfers BEGIN SELECT RAISE(ABORT, 'the ledger is never changed'); END;
-- +goose StatementEnd
{{end}}
-- +goose Down
DROP INDEX ledger_transfers_by_time;
ALTER TABLE ledger_transfers DROP COLUMN balance;
DROP INDEX events_of_kind;
ALTER TABLE teams DROP COLUMN own_daily_credits;
DROP INDEX api_keys_by_sending;
ALTER TABLE api_keys DROP COLUMN sending;
ALTER TABLE api_keys DROP COLUMN used_at;
