-- +goose Up
-- The published parts of the thread after part 0.
ALTER TABLE post_targets ADD COLUMN parts TEXT NOT NULL DEFAULT ''; -- JSON; empty for none

-- +goose Down
ALTER TABLE post_targets DROP COLUMN parts;
