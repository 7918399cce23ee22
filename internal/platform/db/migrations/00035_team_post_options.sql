-- +goose Up
-- Options for networks that apply to posts without their own, as JSON; empty for none. A person sets them.
ALTER TABLE teams ADD COLUMN post_options TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE teams DROP COLUMN post_options;
