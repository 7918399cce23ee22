-- +goose Up
-- The language of a person's pages (BCP 47), or '' for that of the browser.
ALTER TABLE people ADD COLUMN language TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE people DROP COLUMN language;
