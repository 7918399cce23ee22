-- +goose Up
CREATE INDEX social_accounts_lost ON social_accounts (platform) WHERE account_status = 'needs_reauth';

-- +goose Down
DROP INDEX social_accounts_lost;
