-- +goose Up
-- The texts of a thread's parts that are published as replies, each to the part before it. Part 0 is the post itself.
ALTER TABLE posts ADD COLUMN thread TEXT NOT NULL DEFAULT ''; -- JSON; empty for none

-- +goose Down
ALTER TABLE posts DROP COLUMN thread;
