-- Files made from an item of the media library for one purpose (internal/domain/media/derive.go). A row without a blob says that the
-- item's own bytes serve that purpose.

-- +goose Up
CREATE TABLE media_derived (
	media_id BIGINT NOT NULL,
	variant {{.ID}} NOT NULL,
	team_id BIGINT NOT NULL,
	blob {{.ID}} NOT NULL DEFAULT '',
	sha256 {{.Bytes}} NOT NULL,
	type TEXT NOT NULL,
	size_bytes BIGINT NOT NULL,
	width BIGINT NOT NULL DEFAULT 0,
	height BIGINT NOT NULL DEFAULT 0,
	created_at BIGINT NOT NULL,
	PRIMARY KEY (media_id, variant)
);
CREATE UNIQUE INDEX media_derived_blob ON media_derived (blob) WHERE blob <> '';
CREATE INDEX media_derived_age ON media_derived (created_at);

-- +goose Down
DROP TABLE media_derived;
