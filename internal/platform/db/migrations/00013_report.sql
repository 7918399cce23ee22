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

-- Links that show a report to people outside the team. The token in the link is not stored.
CREATE TABLE report_links (
    id           {{.Key}},
    team_id      BIGINT NOT NULL,
    report_id    {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    token_hash   {{.Bytes}} NOT NULL UNIQUE,
    created_by   BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    opened_at    BIGINT NOT NULL DEFAULT 0, -- when it was last opened, to the hour; 0 for never
    -- The recipient of the mail that has the link; 0 for a link that a person made.
    recipient_id BIGINT NOT NULL DEFAULT 0,
    -- What a person calls a link, such as the client it was sent to; empty if it has no name.
    name         TEXT NOT NULL DEFAULT ''
);
CREATE INDEX report_links_of_report ON report_links (report_id, id);
CREATE INDEX report_links_by_end ON report_links (expires_at);
CREATE INDEX report_links_of_recipient ON report_links (recipient_id) WHERE recipient_id > 0;

-- When a report is mailed. Times are in the team's time zone.
CREATE TABLE report_subscriptions (
    report_id  {{.ID}} PRIMARY KEY REFERENCES reports (id) ON DELETE CASCADE,
    team_id    BIGINT NOT NULL,
    period     TEXT NOT NULL, -- weekly or monthly
    day        BIGINT NOT NULL, -- of the week, from Monday as 1, or of the month, up to 28
    hour       BIGINT NOT NULL,
    next_at    BIGINT NOT NULL,
    created_by BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX report_subscriptions_due ON report_subscriptions (next_at);
CREATE INDEX report_subscriptions_of_team ON report_subscriptions (team_id, report_id);

-- Who gets a report: a member of the team, or an address.
CREATE TABLE report_recipients (
    id              {{.Key}},
    team_id         BIGINT NOT NULL,
    report_id       {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    person_id       BIGINT NOT NULL DEFAULT 0, -- 0 for an address
    email           TEXT NOT NULL DEFAULT '', -- empty for a member, whose address is read when a mail is sent
    added_by        BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    unsubscribed_at BIGINT NOT NULL DEFAULT 0,
    UNIQUE (report_id, person_id, email)
);
CREATE INDEX report_recipients_of_team ON report_recipients (team_id, id);
CREATE INDEX report_recipients_by_person ON report_recipients (person_id) WHERE person_id > 0;
CREATE INDEX report_recipients_by_email ON report_recipients (email) WHERE email <> '';

-- One mail to one recipient for one period. The key makes it exactly one.
CREATE TABLE report_mails (
    recipient_id BIGINT NOT NULL REFERENCES report_recipients (id) ON DELETE CASCADE,
    period_at    BIGINT NOT NULL, -- the time at which it was due
    state        TEXT NOT NULL, -- waiting, sending, sent, failed or dropped
    try_at       BIGINT NOT NULL DEFAULT 0, -- 0 unless it waits
    tries        BIGINT NOT NULL DEFAULT 0,
    changed_at   BIGINT NOT NULL,
    PRIMARY KEY (recipient_id, period_at)
);
CREATE INDEX report_mails_due ON report_mails (try_at) WHERE try_at > 0;
CREATE INDEX report_mails_by_time ON report_mails (period_at);

-- +goose Down
DROP TABLE report_mails;
DROP TABLE report_recipients;
DROP TABLE report_subscriptions;
DROP TABLE report_links;
DROP TABLE report_samples;
DROP TABLE report_posts;
DROP TABLE report_refreshes;
DROP TABLE report_jobs;
DROP TABLE reports;
