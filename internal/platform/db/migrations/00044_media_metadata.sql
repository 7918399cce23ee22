-- Metadata (location, camera, dates) is removed from files of the media library. clean says that the stored bytes have none;
-- of older items nobody knows. original_sha256 is the digest that the file had when it arrived, if its stored bytes differ.

-- +goose Up
ALTER TABLE media ADD COLUMN clean BIGINT NOT NULL DEFAULT 0;
ALTER TABLE media ADD COLUMN original_sha256 {{.Bytes}};
CREATE INDEX media_original ON media (team_id, original_sha256) WHERE original_sha256 IS NOT NULL;

-- +goose Down
DROP INDEX media_original;
ALTER TABLE media DROP COLUMN original_sha256;
ALTER TABLE media DROP COLUMN clean;
