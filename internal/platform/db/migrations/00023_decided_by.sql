-- +goose Up
-- Who said what became of a post; 0 for the operator, and for every attempt that is no decision.
ALTER TABLE delivery_attempts ADD COLUMN person_id BIGINT NOT NULL DEFAULT 0;

-- A team's series that go on: the calendar shows what they are going to make.
CREATE INDEX post_series_going_on ON post_series (team_id, id) WHERE wake_at > 0;
-- +goose Down
DROP INDEX post_series_going_on;
ALTER TABLE delivery_attempts DROP COLUMN person_id;
