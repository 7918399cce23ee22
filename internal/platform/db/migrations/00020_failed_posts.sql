-- +goose Up
-- A team's failed posts by their times, for those that need attention.
CREATE INDEX posts_failed ON posts (team_id, slot_at, id) WHERE status IN ('failed', 'partially_published');

-- +goose Down
DROP INDEX posts_failed;
