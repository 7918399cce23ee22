-- +goose Up
-- The part of the thread that has the medium. Positions count through all parts.
ALTER TABLE post_media ADD COLUMN part BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE post_media DROP COLUMN part;
