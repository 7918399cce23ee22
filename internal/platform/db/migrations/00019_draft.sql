-- +goose Up
-- What a draft written in the app may have besides a time: a day alone, and the form that made it.
ALTER TABLE posts ADD COLUMN planned_day TEXT NOT NULL DEFAULT ''; -- as 2026-03-29, in the team's zone
ALTER TABLE posts ADD COLUMN form TEXT NOT NULL DEFAULT ''; -- a form sent twice makes one draft
CREATE INDEX posts_by_form ON posts (team_id, form) WHERE form <> '';

-- +goose Down
DROP INDEX posts_by_form;
ALTER TABLE posts DROP COLUMN form;
ALTER TABLE posts DROP COLUMN planned_day;
