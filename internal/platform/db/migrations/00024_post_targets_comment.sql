-- +goose Up
-- The result of the post's first comment.
ALTER TABLE post_targets ADD COLUMN first_comment TEXT NOT NULL DEFAULT ''; -- JSON; empty for none

-- +goose Down
ALTER TABLE post_targets DROP COLUMN first_comment;
