-- +goose Up
-- The title with which networks that have titles publish a post; empty for none.
ALTER TABLE posts ADD COLUMN title TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE posts DROP COLUMN title;
