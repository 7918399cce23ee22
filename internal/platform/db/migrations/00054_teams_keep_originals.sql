-- A team's choice to store files with their metadata; files that leave the service have none either way.

-- +goose Up
ALTER TABLE teams ADD COLUMN keep_originals BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE teams DROP COLUMN keep_originals;
