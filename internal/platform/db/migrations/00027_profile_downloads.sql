-- +goose Up
-- Finds the downloaded files of a profile, for the thumbnails in its report.
CREATE INDEX media_downloads_of_profile ON media_downloads (team_id, platform, username);

-- +goose Down
DROP INDEX media_downloads_of_profile;
