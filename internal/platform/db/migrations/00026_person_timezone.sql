-- +goose Up
-- The time zone in which a person sees and enters times, or '' for that of the team.
ALTER TABLE people ADD COLUMN timezone TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE people DROP COLUMN timezone;
