-- +goose Up
-- The title for one account; NULL for the post's title.
ALTER TABLE post_targets ADD COLUMN title TEXT;

-- +goose Down
ALTER TABLE post_targets DROP COLUMN title;
