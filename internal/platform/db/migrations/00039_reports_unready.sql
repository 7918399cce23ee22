-- +goose Up
-- Reports that are being made or failed are few: to list them, all of a team's reports were walked. It holds all that tells whether
-- one has not ended (internal/domain/report/list.go), so that PostgreSQL takes it for the cheapest.
CREATE INDEX reports_unready ON reports (team_id, status, id, available_until, tracked) WHERE status <> 'ready';

-- +goose Down
DROP INDEX reports_unready;
