-- +goose Up
-- The days of the operator's audit log.
CREATE INDEX events_by_time ON events (at, id);

-- +goose Down
DROP INDEX events_by_time;
