-- +goose Up
-- A team's report on a public profile or hashtag. It shows the last measurement; before the first one it is pending, or error
-- if that failed.
CREATE TABLE reports (
    id              {{.ID}} PRIMARY KEY,
    team_id         BIGINT NOT NULL REFERENCES teams (id),
    kind            TEXT NOT NULL, -- profile or hashtag
    platform        TEXT NOT NULL,
    subject         TEXT NOT NULL, -- user name or hashtag, normalised
    status          TEXT NOT NULL, -- pending, ready or error
    job_id          {{.ID}} NOT NULL DEFAULT '', -- of the making, refresh or automatic refresh that began last
    made_by         {{.ID}} NOT NULL DEFAULT '', -- the job that made it
    account         TEXT NOT NULL DEFAULT '{}', -- the profile as its provider reported it
    analysis        TEXT NOT NULL DEFAULT '{}',
    notes           TEXT NOT NULL DEFAULT '[]',
    measured_at     BIGINT NOT NULL DEFAULT 0,
    refreshed_at    BIGINT NOT NULL DEFAULT 0,
    available_until BIGINT NOT NULL DEFAULT 0, -- 0 while it is pending or failed
    tracked         BIGINT NOT NULL DEFAULT 0, -- 1 while it is refreshed by itself
    frequency_days  BIGINT NOT NULL DEFAULT 3,
    next_refresh_at BIGINT NOT NULL DEFAULT 0, -- 0 unless tracked
    tracked_by      BIGINT NOT NULL DEFAULT 0, -- the person who switched tracking on
    tracked_key     BIGINT NOT NULL DEFAULT 0, -- the API key that did
    tracking_ended  TEXT NOT NULL DEFAULT '', -- why tracking ended without anybody's call
    created_at      BIGINT NOT NULL,
    UNIQUE (team_id, kind, platform, subject)
);
CREATE INDEX reports_of_team ON reports (team_id, id);
CREATE INDEX reports_tracked ON reports (team_id, id) WHERE tracked = 1;
CREATE INDEX reports_due ON reports (next_refresh_at) WHERE tracked = 1;
CREATE INDEX reports_ending ON reports (available_until) WHERE available_until > 0;
CREATE INDEX reports_found ON reports (team_id, id, status, kind, platform, tracked, available_until, subject);
CREATE INDEX reports_by_status ON reports (team_id, status, id);
CREATE INDEX reports_failed ON reports (created_at) WHERE status = 'error' AND tracked = 0; -- those that nobody needs any more
-- Lists reports that are pending or failed. It covers every column of that condition (internal/domain/report/list.go), so that
-- PostgreSQL prefers it.
CREATE INDEX reports_unready ON reports (team_id, status, id, available_until, tracked) WHERE status <> 'ready';
-- The purpose of a report's job.
CREATE TABLE report_jobs (
    job_id    {{.ID}} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    report_id {{.ID}} NOT NULL,
    purpose   TEXT NOT NULL -- make, refresh or automatic
);
CREATE INDEX report_jobs_of_report ON report_jobs (report_id);

-- When a person last asked for a report to be refreshed, by any interface.
CREATE TABLE report_refreshes (
    report_id {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    asked_at  BIGINT NOT NULL,
    PRIMARY KEY (report_id, person_id)
);

-- The posts behind a report. A figure that the provider did not report is NULL.
CREATE TABLE report_posts (
    report_id {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    shown     TEXT NOT NULL, -- posts of a profile; top or recent of a hashtag
    post      {{.ID}} NOT NULL, -- the network's id
    taken_at  BIGINT NOT NULL DEFAULT 0,
    format    TEXT NOT NULL DEFAULT '',
    caption   TEXT NOT NULL DEFAULT '',
    url       TEXT NOT NULL DEFAULT '',
    likes     BIGINT,
    comments  BIGINT,
    shares    BIGINT,
    views     BIGINT,
    duration  BIGINT NOT NULL DEFAULT 0, -- microseconds
    PRIMARY KEY (report_id, shown, post)
);
CREATE INDEX report_posts_by_age ON report_posts (report_id, taken_at, post);

-- Each measurement, for growth.
CREATE TABLE report_samples (
    report_id   {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    measured_at BIGINT NOT NULL,
    sample      TEXT NOT NULL,
    PRIMARY KEY (report_id, measured_at)
);

-- +goose Down
DROP TABLE report_samples;
DROP TABLE report_posts;
DROP TABLE report_refreshes;
DROP TABLE report_jobs;
DROP TABLE reports;
