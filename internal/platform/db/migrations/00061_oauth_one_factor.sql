-- +goose Up
-- 1 if the person granted it in a session with one factor. Grants from before this column count as granted with two.
ALTER TABLE oauth_grants ADD COLUMN one_factor BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE oauth_grants DROP COLUMN one_factor;
