-- What files are looked for by stands in an index: see 00034, which does the same for reports.

-- +goose Up
CREATE INDEX media_found ON media (team_id, id, deleted_at, kind, folder_id, search);

-- +goose Down
DROP INDEX media_found;
