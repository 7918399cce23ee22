-- +goose Up
CREATE TABLE people (
    id            {{.Key}},
    name          TEXT NOT NULL,
    email         TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL DEFAULT '',
    created_at    BIGINT NOT NULL
);

CREATE TABLE teams (
    id               {{.Key}},
    name             TEXT NOT NULL,
    timezone         TEXT NOT NULL,
    content_language TEXT NOT NULL,
    plan             TEXT NOT NULL,
    created_at       BIGINT NOT NULL
);

CREATE TABLE memberships (
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    person_id  BIGINT NOT NULL REFERENCES people (id),
    role       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, person_id)
);

CREATE TABLE api_keys (
    id         {{.Key}},
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    person_id  BIGINT NOT NULL REFERENCES people (id),
    name       TEXT NOT NULL,
    level      TEXT NOT NULL,
    hash       {{.Bytes}} NOT NULL UNIQUE,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL DEFAULT 0,
    revoked_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX api_keys_of_team ON api_keys (team_id, id);

-- Counts up with every change to people, teams, memberships and keys: each node compares it to know when what
-- it remembers of keys is out of date.
CREATE TABLE access_version (
    id      BIGINT PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL
);
INSERT INTO access_version (id, version) VALUES (1, 1);

-- Who did what, when, through which key. Rows are only ever added.
CREATE TABLE events (
    id         {{.Key}},
    team_id    BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    person_id  BIGINT NOT NULL DEFAULT 0,
    key_id     BIGINT NOT NULL DEFAULT 0,
    request_id TEXT NOT NULL DEFAULT '',
    kind       TEXT NOT NULL,
    subject    {{.ID}} NOT NULL,
    detail     TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX events_of_team ON events (team_id, id);
{{if .Postgres}}
-- +goose StatementBegin
CREATE FUNCTION events_are_kept() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed';
END $$ LANGUAGE plpgsql;
-- +goose StatementEnd
CREATE TRIGGER events_are_kept BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION events_are_kept();
{{else}}
-- +goose StatementBegin
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
-- +goose StatementEnd
{{end}}

CREATE TABLE idempotency_records (
    key_id       BIGINT NOT NULL,
    key          {{.ID}} NOT NULL,
    operation    TEXT NOT NULL,
    request_hash {{.Bytes}} NOT NULL,
    answer       {{.Bytes}},
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (key_id, key)
);
CREATE INDEX idempotency_records_by_end ON idempotency_records (expires_at);

CREATE TABLE jobs (
    id            {{.ID}} PRIMARY KEY,
    team_id       BIGINT NOT NULL REFERENCES teams (id),
    type          TEXT NOT NULL,
    state         TEXT NOT NULL,
    subject       {{.ID}} NOT NULL,
    done          BIGINT NOT NULL DEFAULT 0,
    total         BIGINT NOT NULL DEFAULT 0,
    error_code    TEXT NOT NULL DEFAULT '',
    created_at    BIGINT NOT NULL,
    finished_at   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX jobs_by_end ON jobs (finished_at);

CREATE TABLE social_accounts (
    id                {{.Key}},
    team_id           BIGINT NOT NULL REFERENCES teams (id),
    platform          TEXT NOT NULL,
    network_id        TEXT NOT NULL,
    username          TEXT NOT NULL,
    display_name      TEXT NOT NULL,
    connection_state  TEXT NOT NULL,
    connection_probe  TEXT NOT NULL DEFAULT '',
    account_status    TEXT NOT NULL DEFAULT '',
    sealed_grant      {{.Bytes}} NOT NULL,
    grant_version     BIGINT NOT NULL DEFAULT 1,
    refreshing_until  BIGINT NOT NULL DEFAULT 0,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    UNIQUE (team_id, platform, network_id)
);

CREATE TABLE post_series (
    id         {{.Key}},
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    rule       TEXT NOT NULL,
    paused_at  BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
);

CREATE TABLE posts (
    id           {{.ID}} PRIMARY KEY,
    team_id      BIGINT NOT NULL REFERENCES teams (id),
    person_id    BIGINT NOT NULL,
    key_id       BIGINT NOT NULL DEFAULT 0,
    status       TEXT NOT NULL,
    caption      TEXT NOT NULL,
    excerpt      TEXT NOT NULL,
    approval     TEXT NOT NULL DEFAULT 'not_needed',
    series_id    BIGINT NOT NULL DEFAULT 0,
    is_template  BIGINT NOT NULL DEFAULT 0,
    scheduled_at BIGINT NOT NULL DEFAULT 0,
    submitted_at BIGINT NOT NULL DEFAULT 0,
    published_at BIGINT NOT NULL DEFAULT 0,
    -- the time by which lists and the monthly allowance know the post: published, else scheduled, else submitted
    slot_at      BIGINT NOT NULL DEFAULT 0,
    job_id       {{.ID}} NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX posts_of_team ON posts (team_id, id);
CREATE INDEX posts_by_status ON posts (team_id, status, id);
CREATE INDEX posts_by_slot ON posts (team_id, slot_at, id) WHERE slot_at > 0;
CREATE INDEX posts_due ON posts (scheduled_at) WHERE status = 'scheduled';

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
    PRIMARY KEY (post_id, account_id)
);
CREATE INDEX post_targets_of_account ON post_targets (account_id, post_id);

-- One row for each account that a publish, a due time or a retry hands over.
CREATE TABLE deliveries (
    id           {{.ID}} PRIMARY KEY,
    team_id      BIGINT NOT NULL,
    post_id      {{.ID}} NOT NULL REFERENCES posts (id),
    account_id   BIGINT NOT NULL REFERENCES social_accounts (id),
    job_id       {{.ID}} NOT NULL,
    phase        TEXT NOT NULL,
    draft        TEXT NOT NULL DEFAULT '',
    first_at     BIGINT NOT NULL,
    tries        BIGINT NOT NULL DEFAULT 0,
    looks        BIGINT NOT NULL DEFAULT 0,
    owner        TEXT NOT NULL DEFAULT '',
    epoch        BIGINT NOT NULL DEFAULT 0,
    lease_until  BIGINT NOT NULL DEFAULT 0,
    not_before   BIGINT NOT NULL DEFAULT 0,
    wake_at      BIGINT NOT NULL DEFAULT 0,
    outcome      TEXT NOT NULL DEFAULT '',
    error_code   TEXT NOT NULL DEFAULT '',
    network_text TEXT NOT NULL DEFAULT '',
    permalink    TEXT NOT NULL DEFAULT '',
    created_at   BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX deliveries_of_post ON deliveries (post_id, account_id, created_at);
CREATE INDEX deliveries_of_job ON deliveries (job_id);
CREATE INDEX deliveries_to_wake ON deliveries (wake_at) WHERE wake_at > 0;

-- Every call that could make a post visible, and every look at the network after one, written before it is made.
CREATE TABLE delivery_attempts (
    id           {{.Key}},
    delivery_id  {{.ID}} NOT NULL REFERENCES deliveries (id),
    epoch        BIGINT NOT NULL,
    call         TEXT NOT NULL,
    started_at   BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL DEFAULT 0,
    result       TEXT NOT NULL DEFAULT '',
    network_code TEXT NOT NULL DEFAULT '',
    network_text TEXT NOT NULL DEFAULT ''
);
CREATE INDEX delivery_attempts_of_delivery ON delivery_attempts (delivery_id, id);

-- +goose Down
DROP TABLE delivery_attempts;
DROP TABLE deliveries;
DROP TABLE post_targets;
DROP TABLE posts;
DROP TABLE post_series;
DROP TABLE social_accounts;
DROP TABLE jobs;
DROP TABLE idempotency_records;
DROP TABLE events;
{{if .Postgres}}DROP FUNCTION events_are_kept;{{end}}
DROP TABLE access_version;
DROP TABLE api_keys;
DROP TABLE memberships;
DROP TABLE teams;
DROP TABLE people;
