-- All that lists are narrowed by stands in an index, so that looking for what is rare reads no rows beside it.

-- +goose Up
CREATE INDEX reports_found ON reports (team_id, id, status, kind, platform, tracked, available_until, subject);
CREATE INDEX reports_by_status ON reports (team_id, status, id);
CREATE INDEX reports_failed ON reports (created_at) WHERE status = 'error' AND tracked = 0; -- those that nobody needs any more

-- +goose Down
DROP INDEX reports_failed;
DROP INDEX reports_by_status;
DROP INDEX reports_found;
