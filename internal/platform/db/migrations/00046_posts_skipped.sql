-- An occurrence of a series that was cancelled or skipped by itself: the series does not take it up again when it goes on.

-- +goose Up
ALTER TABLE posts ADD COLUMN skipped BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE posts DROP COLUMN skipped;
