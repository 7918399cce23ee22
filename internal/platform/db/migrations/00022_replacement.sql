-- +goose Up
-- The post whose failed accounts a post takes over with an edited text; empty for none. If that post replaced another
-- itself, both name the first one.
ALTER TABLE posts ADD COLUMN replaces {{.ID}} NOT NULL DEFAULT '';
CREATE INDEX posts_replacing ON posts (replaces) WHERE replaces <> '';
-- When a person put a failed post aside, which is not retried.
ALTER TABLE posts ADD COLUMN archived_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE posts DROP COLUMN archived_at;
DROP INDEX posts_replacing;
ALTER TABLE posts DROP COLUMN replaces;
