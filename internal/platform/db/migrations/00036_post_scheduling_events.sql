-- +goose Up
-- When a post was scheduled and unscheduled, for its history.
CREATE INDEX events_of_scheduling ON events (team_id, subject, id) WHERE kind IN ('post.scheduled', 'post.cancelled');

-- +goose Down
DROP INDEX events_of_scheduling;
