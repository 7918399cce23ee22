-- A file may be stored without the metadata that it arrived with. size_bytes is its size on arrival, which is shown and counts
-- against the plan; stored_bytes is the size of its blob, 0 if that is the same.

-- +goose Up
ALTER TABLE media ADD COLUMN stored_bytes BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE media DROP COLUMN stored_bytes;
