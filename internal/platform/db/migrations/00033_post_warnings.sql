-- +goose Up
-- What could not be done for a published post, such as setting its thumbnail.
ALTER TABLE post_targets ADD COLUMN warnings TEXT NOT NULL DEFAULT ''; -- JSON; empty for none

-- +goose Down
ALTER TABLE post_targets DROP COLUMN warnings;
