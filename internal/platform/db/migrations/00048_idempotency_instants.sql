-- A repeat may write the same time in another form, so a record also holds the hash of its request with times as instants in UTC.
-- It is null for requests without a time and for records made before this migration; request_hash alone is compared then.

-- +goose Up
ALTER TABLE idempotency_records ADD COLUMN instant_hash {{.Bytes}};

-- +goose Down
ALTER TABLE idempotency_records DROP COLUMN instant_hash;
