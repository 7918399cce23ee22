-- +goose Up
-- The part of the thread that is sent.
ALTER TABLE deliveries ADD COLUMN part BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE deliveries DROP COLUMN part;
