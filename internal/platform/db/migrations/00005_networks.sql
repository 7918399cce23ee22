-- +goose Up
-- what the network itself knows the publication by
ALTER TABLE deliveries ADD COLUMN network_id TEXT NOT NULL DEFAULT '';
ALTER TABLE post_targets ADD COLUMN network_id TEXT NOT NULL DEFAULT '';
-- +goose Down
ALTER TABLE post_targets DROP COLUMN network_id;
ALTER TABLE deliveries DROP COLUMN network_id;
