-- +goose Up
-- Images without alternative text.
CREATE INDEX media_undescribed ON media (team_id, kind, alt, id) WHERE kind = 'image' AND alt = '' AND deleted_at = 0;

-- +goose Down
DROP INDEX media_undescribed;
