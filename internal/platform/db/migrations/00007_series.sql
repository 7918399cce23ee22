-- +goose Up
-- A recurring series: the post that it is made from, the wall clock and the zone that it began with, and how far it
-- has come.
ALTER TABLE post_series ADD COLUMN template_id {{.ID}} NOT NULL DEFAULT '';
ALTER TABLE post_series ADD COLUMN timezone TEXT NOT NULL DEFAULT '';
ALTER TABLE post_series ADD COLUMN starts_at TEXT NOT NULL DEFAULT '';   -- a wall clock, as 2026-03-29T10:15:00
ALTER TABLE post_series ADD COLUMN last_at BIGINT NOT NULL DEFAULT 0;    -- the last occurrence that was made or skipped
ALTER TABLE post_series ADD COLUMN wake_at BIGINT NOT NULL DEFAULT 0;    -- when the next one is to be made; 0 for never
CREATE INDEX post_series_to_wake ON post_series (wake_at) WHERE wake_at > 0;

-- which occurrence of its series a post is; there is one post for each
ALTER TABLE posts ADD COLUMN occurs_at BIGINT NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX posts_of_series ON posts (series_id, occurs_at) WHERE occurs_at > 0;
CREATE INDEX posts_ahead_of_series ON posts (series_id, scheduled_at) WHERE occurs_at > 0 AND status = 'scheduled';
DROP INDEX posts_due;
CREATE INDEX posts_due ON posts (scheduled_at) WHERE status = 'scheduled' AND is_template = 0;

-- Occurrences that were skipped, as nothing could be sent at their times.
CREATE TABLE post_series_gaps (
    id        {{.Key}},
    series_id BIGINT NOT NULL REFERENCES post_series (id),
    first_at  BIGINT NOT NULL,
    last_at   BIGINT NOT NULL,
    skipped   BIGINT NOT NULL,
    noted_at  BIGINT NOT NULL
);
CREATE INDEX post_series_gaps_of_series ON post_series_gaps (series_id, id);

-- What a client is shown of a post and says to it: each version of the post is a round, decided once.
ALTER TABLE posts ADD COLUMN approval_round BIGINT NOT NULL DEFAULT 0;
CREATE TABLE post_approvals (
    post_id     {{.ID}} NOT NULL REFERENCES posts (id),
    round       BIGINT NOT NULL,
    opened_at   BIGINT NOT NULL,
    decision    TEXT NOT NULL DEFAULT '', -- approved or rejected
    client_name TEXT NOT NULL DEFAULT '', -- as the client gave it
    comment     TEXT NOT NULL DEFAULT '',
    decided_at  BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (post_id, round)
);
-- +goose Down
DROP TABLE post_approvals;
ALTER TABLE posts DROP COLUMN approval_round;
DROP TABLE post_series_gaps;
DROP INDEX posts_due;
CREATE INDEX posts_due ON posts (scheduled_at) WHERE status = 'scheduled';
DROP INDEX posts_ahead_of_series;
DROP INDEX posts_of_series;
ALTER TABLE posts DROP COLUMN occurs_at;
DROP INDEX post_series_to_wake;
ALTER TABLE post_series DROP COLUMN wake_at;
ALTER TABLE post_series DROP COLUMN last_at;
ALTER TABLE post_series DROP COLUMN starts_at;
ALTER TABLE post_series DROP COLUMN timezone;
ALTER TABLE post_series DROP COLUMN template_id;
