-- +goose Up
-- The comment that an account adds to its post after the post is published.
ALTER TABLE posts ADD COLUMN first_comment TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE posts DROP COLUMN first_comment;
