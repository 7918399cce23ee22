-- +goose Up
-- When a person disconnected the account; 0 while it is connected or its connection is lost. The row stays for the posts
-- that went out to it. Its grant is gone.
ALTER TABLE social_accounts ADD COLUMN disconnected_at BIGINT NOT NULL DEFAULT 0;
-- +goose Down
ALTER TABLE social_accounts DROP COLUMN disconnected_at;
