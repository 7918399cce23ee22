-- +goose Up
-- When the link was mailed to the person; 0 if it was shown to the operator.
ALTER TABLE recoveries ADD COLUMN mailed_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE recoveries DROP COLUMN mailed_at;
