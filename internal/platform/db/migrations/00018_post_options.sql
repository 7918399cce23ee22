-- +goose Up
-- What a person chose for single networks, such as who can see a post on TikTok.
ALTER TABLE posts ADD COLUMN options TEXT NOT NULL DEFAULT ''; -- JSON; empty for none

-- +goose Down
ALTER TABLE posts DROP COLUMN options;
