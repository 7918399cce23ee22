-- +goose Up
-- Notifications: one row for each person, written in the transaction of their cause.
CREATE TABLE notices (
    id         {{.Key}},
    person_id  BIGINT NOT NULL,
    team_id    BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    event_id   BIGINT NOT NULL, -- in events: each person is notified once of an event
    subject    {{.ID}} NOT NULL, -- the id of what it is about
    detail     TEXT NOT NULL DEFAULT '{}', -- what its sentence says, as JSON
    created_at BIGINT NOT NULL,
    read_at    BIGINT NOT NULL DEFAULT 0,
    mail_at    BIGINT NOT NULL DEFAULT 0, -- when a mail of it is to be tried; 0 for not
    mail_tries BIGINT NOT NULL DEFAULT 0,
    mailed_at  BIGINT NOT NULL DEFAULT 0,
    unmailed   BIGINT NOT NULL DEFAULT 0, -- 1 once its mail was given up
    UNIQUE (event_id, kind, person_id)
);
CREATE INDEX notices_of_person ON notices (person_id, id);
CREATE INDEX notices_unread ON notices (person_id) WHERE read_at = 0;
CREATE INDEX notices_to_mail ON notices (mail_at) WHERE mail_at > 0;
CREATE INDEX notices_mailed ON notices (person_id, team_id, kind, mailed_at) WHERE mailed_at > 0;
CREATE INDEX notices_by_time ON notices (created_at);

-- The kinds of notification that a person does not want by mail.
CREATE TABLE notice_choices (
    person_id BIGINT NOT NULL,
    kind      TEXT NOT NULL,
    PRIMARY KEY (person_id, kind)
);

-- The balance below which a team is notified that credits run low.
CREATE TABLE notice_thresholds (
    team_id BIGINT PRIMARY KEY,
    credits BIGINT NOT NULL,
    told_at BIGINT NOT NULL DEFAULT 0
);

-- Where the operator sends notices: to a channel of a chat, or a webhook.
CREATE TABLE notice_channels (
    id            {{.Key}},
    team_id       BIGINT NOT NULL DEFAULT 0, -- 0 for all teams
    service       TEXT NOT NULL, -- slack, discord, teams, ntfy or webhook
    name          TEXT NOT NULL,
    host          TEXT NOT NULL, -- of the address
    kinds         TEXT NOT NULL, -- separated and enclosed by commas; empty for all
    sealed        {{.Bytes}} NOT NULL, -- the address and the secret, bound to the ID; empty until the ID is known
    created_at    BIGINT NOT NULL,
    sent_at       BIGINT NOT NULL DEFAULT 0, -- the last success
    failed_at     BIGINT NOT NULL DEFAULT 0, -- the last failure since then, or 0
    error         TEXT NOT NULL DEFAULT '',
    next_at       BIGINT NOT NULL DEFAULT 0, -- no message is sent before: another node is sending one, or the last one failed
    -- A sender claims a channel apart from the wait after a failure, so that a test or a new address ends only the wait.
    claimed_until BIGINT NOT NULL DEFAULT 0,
    -- Failures in a row, which decide how long the channel waits.
    failures      BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX notice_channels_of_team ON notice_channels (team_id);
-- Every start looks up which encryption keys are in use.
CREATE INDEX notice_channels_by_key ON notice_channels (substr(sealed, 1, 5));

-- Notices that wait to be sent to a channel. They are deleted when they are sent or given up.
CREATE TABLE channel_notices (
    id         {{.Key}},
    channel_id BIGINT NOT NULL REFERENCES notice_channels (id) ON DELETE CASCADE,
    team_id    BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    subject    TEXT NOT NULL,
    detail     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    send_at    BIGINT NOT NULL,
    tries      BIGINT NOT NULL DEFAULT 0,
    event_id   BIGINT NOT NULL -- 0 for the result of a post, so that a post that fails on several accounts is one message
);
-- A message that was tried may have been sent, so the next failure of the post needs its own.
CREATE UNIQUE INDEX channel_notices_by_event ON channel_notices (channel_id, team_id, kind, subject, event_id) WHERE tries = 0;
CREATE INDEX channel_notices_in_order ON channel_notices (channel_id, id);
CREATE INDEX channel_notices_of_team ON channel_notices (team_id);

-- The kinds of notification that a person does not want to see in the app.
CREATE TABLE notice_mutes (
    person_id BIGINT NOT NULL,
    kind      TEXT NOT NULL,
    PRIMARY KEY (person_id, kind)
);

-- +goose Down
DROP TABLE notice_mutes;
DROP TABLE channel_notices;
DROP TABLE notice_channels;
DROP TABLE notice_thresholds;
DROP TABLE notice_choices;
DROP TABLE notices;
