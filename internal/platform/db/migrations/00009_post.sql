-- +goose Up
CREATE TABLE post_series (
    id          {{.Key}},
    team_id     BIGINT NOT NULL REFERENCES teams (id),
    rule        TEXT NOT NULL,
    paused_at   BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    -- A recurring series: its template post, the local time and zone of its start, and its progress.
    template_id {{.ID}} NOT NULL DEFAULT '',
    timezone    TEXT NOT NULL DEFAULT '',
    starts_at   TEXT NOT NULL DEFAULT '', -- a wall clock, as 2026-03-29T10:15:00
    last_at     BIGINT NOT NULL DEFAULT 0, -- the last occurrence that was made or skipped
    wake_at     BIGINT NOT NULL DEFAULT 0 -- when the next one is to be made; 0 for never
);
CREATE INDEX post_series_to_wake ON post_series (wake_at) WHERE wake_at > 0;
-- A team's active series, for the calendar.
CREATE INDEX post_series_going_on ON post_series (team_id, id) WHERE wake_at > 0;

-- Occurrences that were skipped because nothing could be sent at their time.
CREATE TABLE post_series_gaps (
    id        {{.Key}},
    series_id BIGINT NOT NULL REFERENCES post_series (id),
    first_at  BIGINT NOT NULL,
    last_at   BIGINT NOT NULL,
    skipped   BIGINT NOT NULL,
    noted_at  BIGINT NOT NULL
);
CREATE INDEX post_series_gaps_of_series ON post_series_gaps (series_id, id);

CREATE TABLE posts (
    id             {{.ID}} PRIMARY KEY,
    team_id        BIGINT NOT NULL REFERENCES teams (id),
    person_id      BIGINT NOT NULL,
    key_id         BIGINT NOT NULL DEFAULT 0,
    status         TEXT NOT NULL,
    caption        TEXT NOT NULL,
    excerpt        TEXT NOT NULL,
    approval       TEXT NOT NULL DEFAULT 'not_needed',
    series_id      BIGINT NOT NULL DEFAULT 0,
    is_template    BIGINT NOT NULL DEFAULT 0,
    scheduled_at   BIGINT NOT NULL DEFAULT 0,
    submitted_at   BIGINT NOT NULL DEFAULT 0,
    published_at   BIGINT NOT NULL DEFAULT 0,
    -- the time that lists and the monthly limit use: published, else scheduled, else submitted
    slot_at        BIGINT NOT NULL DEFAULT 0,
    job_id         {{.ID}} NOT NULL DEFAULT '',
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    has_media      BIGINT NOT NULL DEFAULT 0, -- whether post_media has to be asked
    -- which occurrence of its series a post is; there is one post for each
    occurs_at      BIGINT NOT NULL DEFAULT 0,
    -- Approval by a client: each version of the post is a round, decided once.
    approval_round BIGINT NOT NULL DEFAULT 0,
    approval_links BIGINT NOT NULL DEFAULT 0,
    approval_sent  BIGINT NOT NULL DEFAULT 1,
    skipped        BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX posts_of_team ON posts (team_id, id);
CREATE INDEX posts_by_status ON posts (team_id, status, id);
CREATE INDEX posts_by_slot ON posts (team_id, slot_at, id) WHERE slot_at > 0;
CREATE UNIQUE INDEX posts_of_series ON posts (series_id, occurs_at) WHERE occurs_at > 0;
CREATE INDEX posts_ahead_of_series ON posts (series_id, scheduled_at) WHERE occurs_at > 0 AND status = 'scheduled';
CREATE INDEX posts_due ON posts (scheduled_at) WHERE status = 'scheduled' AND is_template = 0;
-- Templates of series are not counted as posts. Counting them reads this index only.
CREATE INDEX posts_repeated ON posts (team_id, status) WHERE is_template = 1;
-- Drafts by their times, for those whose time has passed.
CREATE INDEX posts_planned ON posts (team_id, slot_at, id) WHERE status = 'draft' AND slot_at > 0 AND is_template = 0;
CREATE TABLE post_targets (
    post_id      {{.ID}} NOT NULL REFERENCES posts (id),
    account_id   BIGINT NOT NULL REFERENCES social_accounts (id),
    position     BIGINT NOT NULL,
    state        TEXT NOT NULL DEFAULT 'pending',
    caption      TEXT,
    published_at BIGINT NOT NULL DEFAULT 0,
    permalink    TEXT NOT NULL DEFAULT '',
    error_code   TEXT NOT NULL DEFAULT '',
    network_text TEXT NOT NULL DEFAULT '',
    retries_used BIGINT NOT NULL DEFAULT 0,
    retried_at   BIGINT NOT NULL DEFAULT 0,
    network_id   TEXT NOT NULL DEFAULT '',
    -- 1 if the account has its own media in post_target_media
    has_media    BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX post_targets_of_account ON post_targets (account_id, post_id);

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

CREATE TABLE post_media (
    post_id  {{.ID}} NOT NULL REFERENCES posts (id),
    position BIGINT NOT NULL,
    media_id BIGINT NOT NULL REFERENCES media (id),
    -- the cover frame of a video, in milliseconds from its start; 0 lets the network choose
    cover_ms BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (post_id, position)
);
CREATE INDEX post_media_of_media ON post_media (media_id);

CREATE TABLE post_target_media (
    post_id    {{.ID}} NOT NULL,
    account_id BIGINT NOT NULL,
    position   BIGINT NOT NULL,
    media_id   BIGINT NOT NULL REFERENCES media (id),
    cover_ms   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (post_id, account_id, position),
    FOREIGN KEY (post_id, account_id) REFERENCES post_targets (post_id, account_id) ON DELETE CASCADE
);
CREATE INDEX post_target_media_of_media ON post_target_media (media_id);

-- +goose Down
DROP TABLE post_target_media;
DROP TABLE post_media;
DROP TABLE post_approvals;
DROP TABLE post_targets;
DROP TABLE posts;
DROP TABLE post_series_gaps;
DROP TABLE post_series;
