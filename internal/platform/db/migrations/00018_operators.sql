-- +goose Up
-- People who run the service: the operator's page is for them alone.
ALTER TABLE people ADD COLUMN operator BIGINT NOT NULL DEFAULT 0;
-- +goose Down
ALTER TABLE people DROP COLUMN operator;
