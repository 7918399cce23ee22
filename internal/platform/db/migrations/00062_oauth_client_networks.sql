-- +goose Up
-- From which network a program registered, until somebody lets it in: one network evicts only its own registrations.
ALTER TABLE oauth_clients ADD COLUMN network TEXT NOT NULL DEFAULT '';
CREATE INDEX oauth_clients_by_network ON oauth_clients (network, created_at) WHERE used_at = 0;

-- +goose Down
DROP INDEX oauth_clients_by_network;
ALTER TABLE oauth_clients DROP COLUMN network;
