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
    skipped        BIGINT NOT NULL DEFAULT 0,
    -- What a person chose for single networks, such as who can see a post on TikTok.
    options        TEXT NOT NULL DEFAULT '', -- JSON; empty for none
    -- What a draft written in the app may have besides a time: a day alone, and the form that made it.
    planned_day    TEXT NOT NULL DEFAULT '', -- as 2026-03-29, in the team's zone
    form           TEXT NOT NULL DEFAULT '', -- a form sent twice makes one draft
    -- The post whose failed accounts a post takes over with an edited text; empty for none. If that post replaced another
    -- itself, both name the first one.
    replaces       {{.ID}} NOT NULL DEFAULT '',
    -- When a person put a failed post aside, which is not retried.
    archived_at    BIGINT NOT NULL DEFAULT 0
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
CREATE INDEX posts_by_form ON posts (team_id, form) WHERE form <> '';
-- A team's failed posts by their times, for those that need attention.
CREATE INDEX posts_failed ON posts (team_id, slot_at, id) WHERE status IN ('failed', 'partially_published');
CREATE INDEX posts_replacing ON posts (replaces) WHERE replaces <> '';
-- The tabs of the list of posts: each is counted and listed by an index of its own.
CREATE INDEX posts_coming ON posts (team_id, slot_at, id) WHERE status = 'scheduled' AND is_template = 0;
CREATE INDEX posts_sent ON posts (team_id, slot_at, id) WHERE status IN ('processing', 'published', 'partially_published');
CREATE INDEX posts_waiting ON posts (team_id, id) WHERE approval = 'waiting' AND is_template = 0;
CREATE INDEX posts_archived ON posts (team_id, id) WHERE archived_at > 0;
-- Drafts without a time, by their planned dates.
CREATE INDEX posts_undated ON posts (team_id, planned_day, id) WHERE status = 'draft' AND slot_at = 0;
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
    -- What could not be done for a published post, such as setting its thumbnail.
    warnings     TEXT NOT NULL DEFAULT '', -- JSON; empty for none
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX post_targets_of_account ON post_targets (account_id, post_id);

CREATE TABLE post_approvals (
    post_id        {{.ID}} NOT NULL REFERENCES posts (id),
    round          BIGINT NOT NULL,
    opened_at      BIGINT NOT NULL,
    decision       TEXT NOT NULL DEFAULT '', -- approved or rejected
    client_name    TEXT NOT NULL DEFAULT '', -- as the client gave it
    comment        TEXT NOT NULL DEFAULT '',
    decided_at     BIGINT NOT NULL DEFAULT 0,
    -- As whom a post is scheduled once this version is approved; 0 if it is not. If that fails, the code of the error.
    schedule_as    BIGINT NOT NULL DEFAULT 0,
    schedule_error TEXT NOT NULL DEFAULT '',
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

-- Posts as a person last typed them without saving. They are offered when the person opens the form again.
CREATE TABLE unsaved_forms (
    person_id BIGINT NOT NULL,
    id        {{.ID}} NOT NULL, -- of the opened form
    team_id   BIGINT NOT NULL,
    post_id   {{.ID}} NOT NULL DEFAULT '', -- empty for a new post
    fields    TEXT NOT NULL, -- as a form is sent; empty once the form was saved
    kept_at   BIGINT NOT NULL,
    PRIMARY KEY (person_id, id)
);
CREATE INDEX unsaved_forms_by_time ON unsaved_forms (kept_at);

-- Links by which clients approve posts. A link shows the version of each post that it was made for.
CREATE TABLE approval_requests (
    id          {{.ID}} PRIMARY KEY,
    team_id     BIGINT NOT NULL REFERENCES teams (id),
    person_id   BIGINT NOT NULL, -- who made the link
    schedules   BIGINT NOT NULL DEFAULT 0, -- 1 if posts are scheduled once the client approves them
    email       TEXT NOT NULL DEFAULT '', -- the client's address; empty if the link is not mailed
    mails       BIGINT NOT NULL DEFAULT 0,
    mailed_at   BIGINT NOT NULL DEFAULT 0,
    client_name TEXT NOT NULL DEFAULT '', -- as last entered on the link's page
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    revoked_at  BIGINT NOT NULL DEFAULT 0,
    -- What the team writes to the client above the posts of a link; empty for nothing.
    message     TEXT NOT NULL DEFAULT ''
);
CREATE INDEX approval_requests_of_team ON approval_requests (team_id, id);
CREATE INDEX approval_requests_mailed ON approval_requests (mailed_at) WHERE mailed_at > 0;

CREATE TABLE approval_request_posts (
    request_id {{.ID}} NOT NULL REFERENCES approval_requests (id),
    post_id    {{.ID}} NOT NULL REFERENCES posts (id),
    position   BIGINT NOT NULL,
    round      BIGINT NOT NULL, -- the version that the link shows
    links      BIGINT NOT NULL, -- posts.approval_links when the link was made
    PRIMARY KEY (request_id, post_id)
);
CREATE INDEX approval_request_posts_of_post ON approval_request_posts (post_id);

-- Comments of clients on posts, and the team's answers. Comments on a decision are in post_approvals.
CREATE TABLE approval_comments (
    id          {{.Key}},
    team_id     BIGINT NOT NULL REFERENCES teams (id),
    post_id     {{.ID}} NOT NULL REFERENCES posts (id),
    link        TEXT NOT NULL DEFAULT '', -- by which link a client commented; empty for signed-in people
    person_id   BIGINT NOT NULL DEFAULT 0, -- 0 for a client without an account
    client_name TEXT NOT NULL DEFAULT '', -- of a client
    comment     TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    answered_at BIGINT NOT NULL DEFAULT 0 -- of a client's comment: when it was answered or set aside
);
CREATE INDEX approval_comments_of_post ON approval_comments (post_id, id);
CREATE INDEX approval_comments_of_link ON approval_comments (link, created_at) WHERE link <> '';
CREATE INDEX approval_comments_open ON approval_comments (team_id, id) WHERE answered_at = 0 AND client_name <> '';

-- +goose Down
DROP TABLE approval_comments;
DROP TABLE approval_request_posts;
DROP TABLE approval_requests;
DROP TABLE unsaved_forms;
DROP TABLE post_target_media;
DROP TABLE post_media;
DROP TABLE post_approvals;
DROP TABLE post_targets;
DROP TABLE posts;
DROP TABLE post_series_gaps;
DROP TABLE post_series;
