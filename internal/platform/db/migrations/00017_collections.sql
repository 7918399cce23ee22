-- +goose Up
-- The class of the network's error that ended an account's last turn; empty where it went well or no network said so.
ALTER TABLE account_collections ADD COLUMN failed_by TEXT NOT NULL DEFAULT '';
-- +goose Down
ALTER TABLE account_collections DROP COLUMN failed_by;
