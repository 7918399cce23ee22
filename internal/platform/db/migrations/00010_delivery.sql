-- +goose Up
-- One row for each account of a post that is published, due or retried.
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
    ended_at     BIGINT NOT NULL DEFAULT 0,
    -- the publication's id at the network
    network_id   TEXT NOT NULL DEFAULT ''
);
CREATE INDEX deliveries_of_post ON deliveries (post_id, account_id, created_at);
CREATE INDEX deliveries_of_job ON deliveries (job_id);
CREATE INDEX deliveries_to_wake ON deliveries (wake_at) WHERE wake_at > 0;
CREATE INDEX deliveries_shown ON deliveries (account_id, id) WHERE network_id <> '';
CREATE INDEX deliveries_unconfirmed ON deliveries (team_id) WHERE outcome = 'unconfirmed';
-- Unfinished deliveries, without reading finished ones.
CREATE INDEX deliveries_open ON deliveries (team_id, phase, created_at) WHERE phase <> 'ended';
-- Every call that could publish a post, and every look-up after one, recorded before the call.
CREATE TABLE delivery_attempts (
    id           {{.Key}},
    delivery_id  {{.ID}} NOT NULL REFERENCES deliveries (id),
    epoch        BIGINT NOT NULL,
    call         TEXT NOT NULL,
    started_at   BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL DEFAULT 0,
    result       TEXT NOT NULL DEFAULT '',
    network_code TEXT NOT NULL DEFAULT '',
    network_text TEXT NOT NULL DEFAULT '',
    -- The person who decided the outcome; 0 for the operator, and for attempts that are not decisions.
    person_id    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX delivery_attempts_of_delivery ON delivery_attempts (delivery_id, id);

-- +goose Down
DROP TABLE delivery_attempts;
DROP TABLE deliveries;
