-- Approval links can be revoked: a link names the generation of its post's links, and revoking raises it. A post also knows
-- whether its version was sent, which is whether a link was made for its round. Posts as they are at this migration, and rounds
-- that a node of the version before opens, are taken for sent.

-- +goose Up
ALTER TABLE posts ADD COLUMN approval_links BIGINT NOT NULL DEFAULT 0;
ALTER TABLE posts ADD COLUMN approval_sent BIGINT NOT NULL DEFAULT 1;

-- +goose Down
ALTER TABLE posts DROP COLUMN approval_sent;
ALTER TABLE posts DROP COLUMN approval_links;
