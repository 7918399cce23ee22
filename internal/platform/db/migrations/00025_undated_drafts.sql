-- +goose Up
-- Drafts without a time, by their planned dates.
CREATE INDEX posts_undated ON posts (team_id, planned_day, id) WHERE status = 'draft' AND slot_at = 0;

-- +goose Down
DROP INDEX posts_undated;
