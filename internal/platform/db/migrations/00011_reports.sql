-- +goose Up
-- A report of a team on a public profile or hashtag. What a source said last is what it shows; until it said
-- something for the first time it is pending, or error where it failed to.
CREATE TABLE reports (
    id             {{.ID}} PRIMARY KEY,
    team_id        BIGINT NOT NULL REFERENCES teams (id),
    kind           TEXT NOT NULL,                -- profile or hashtag
    platform       TEXT NOT NULL,
    subject        TEXT NOT NULL,                -- user name or hashtag, normalised
    status         TEXT NOT NULL,                -- pending, ready or error
    job_id         {{.ID}} NOT NULL DEFAULT '',  -- of the making, refresh or automatic refresh that began last
    made_by        {{.ID}} NOT NULL DEFAULT '',  -- the job that made it
    account        TEXT NOT NULL DEFAULT '{}',   -- the profile as its source told of it
    analysis       TEXT NOT NULL DEFAULT '{}',
    notes          TEXT NOT NULL DEFAULT '[]',
    measured_at    BIGINT NOT NULL DEFAULT 0,
    refreshed_at   BIGINT NOT NULL DEFAULT 0,
    available_until BIGINT NOT NULL DEFAULT 0,   -- 0 while it is pending or failed
    tracked        BIGINT NOT NULL DEFAULT 0,    -- 1 while it is refreshed by itself
    frequency_days BIGINT NOT NULL DEFAULT 3,
    next_refresh_at BIGINT NOT NULL DEFAULT 0,   -- 0 unless tracked
    tracked_by     BIGINT NOT NULL DEFAULT 0,    -- the person who switched tracking on
    tracked_key    BIGINT NOT NULL DEFAULT 0,    -- the API key that did
    tracking_ended TEXT NOT NULL DEFAULT '',     -- why tracking ended without anybody's call
    created_at     BIGINT NOT NULL,
    UNIQUE (team_id, kind, platform, subject)
);
CREATE INDEX reports_of_team ON reports (team_id, id);
CREATE INDEX reports_tracked ON reports (team_id, id) WHERE tracked = 1;
CREATE INDEX reports_due ON reports (next_refresh_at) WHERE tracked = 1;
CREATE INDEX reports_ending ON reports (available_until) WHERE available_until > 0;

-- What a job of a report was begun for.
CREATE TABLE report_jobs (
    job_id    {{.ID}} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    report_id {{.ID}} NOT NULL,
    purpose   TEXT NOT NULL                      -- make, refresh or automatic
);
CREATE INDEX report_jobs_of_report ON report_jobs (report_id);

-- When a person asked for a report to be refreshed last, through whatever they asked.
CREATE TABLE report_refreshes (
    report_id {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    person_id BIGINT NOT NULL,
    asked_at  BIGINT NOT NULL,
    PRIMARY KEY (report_id, person_id)
);

-- The posts that a report rests on. A figure that the source did not tell is null.
CREATE TABLE report_posts (
    report_id {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    shown     TEXT NOT NULL,                     -- posts of a profile; top or recent of a hashtag
    post      {{.ID}} NOT NULL,                  -- the network's id
    taken_at  BIGINT NOT NULL DEFAULT 0,
    format    TEXT NOT NULL DEFAULT '',
    caption   TEXT NOT NULL DEFAULT '',
    url       TEXT NOT NULL DEFAULT '',
    likes     BIGINT,
    comments  BIGINT,
    shares    BIGINT,
    views     BIGINT,
    duration  BIGINT NOT NULL DEFAULT 0,         -- microseconds
    PRIMARY KEY (report_id, shown, post)
);
CREATE INDEX report_posts_by_age ON report_posts (report_id, taken_at, post);

-- What was measured each time, from which growth follows.
CREATE TABLE report_samples (
    report_id   {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    measured_at BIGINT NOT NULL,
    sample      TEXT NOT NULL,
    PRIMARY KEY (report_id, measured_at)
);

-- Credits that count against the limits of a team's day although nothing is charged: an automatic refresh to come.
CREATE TABLE credit_holds (
    id          {{.Key}},
    team_id     BIGINT NOT NULL REFERENCES teams (id),
    key_id      BIGINT NOT NULL,
    subject     {{.ID}} NOT NULL,                -- what it is held for
    amount      BIGINT NOT NULL CHECK (amount > 0),
    created_at  BIGINT NOT NULL,
    released_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX credit_holds_of_day ON credit_holds (team_id, created_at);
CREATE INDEX credit_holds_of_subject ON credit_holds (subject);
-- +goose Down
DROP TABLE credit_holds;
DROP TABLE report_samples;
DROP TABLE report_posts;
DROP TABLE report_refreshes;
DROP TABLE report_jobs;
DROP TABLE reports;
