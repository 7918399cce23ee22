-- +goose Up
-- The tabs of the list of posts: each is counted and listed by an index of its own.
CREATE INDEX posts_coming ON posts (team_id, slot_at, id) WHERE status = 'scheduled' AND is_template = 0;
CREATE INDEX posts_sent ON posts (team_id, slot_at, id) WHERE status IN ('processing', 'published', 'partially_published');
CREATE INDEX posts_waiting ON posts (team_id, id) WHERE approval = 'waiting' AND is_template = 0;
CREATE INDEX posts_archived ON posts (team_id, id) WHERE archived_at > 0;

-- +goose Down
DROP INDEX posts_archived;
DROP INDEX posts_waiting;
DROP INDEX posts_sent;
DROP INDEX posts_coming;
