-- +goose Up
-- What a person calls a link, such as the client it was sent to; empty if it has no name.
ALTER TABLE report_links ADD COLUMN name TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE report_links DROP COLUMN name;
