-- +goose Up
CREATE INDEX deliveries_shown ON deliveries (account_id, id) WHERE network_id <> '';
CREATE INDEX deliveries_unconfirmed ON deliveries (team_id) WHERE outcome = 'unconfirmed';
-- +goose Down
DROP INDEX deliveries_unconfirmed;
DROP INDEX deliveries_shown;
