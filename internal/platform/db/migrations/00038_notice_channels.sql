-- +goose Up
-- Where the operator sends notices: to a channel of a chat, or a webhook.
CREATE TABLE notice_channels (
    id         {{.Key}},
    team_id    BIGINT NOT NULL DEFAULT 0, -- 0 for all teams
    service    TEXT NOT NULL, -- slack, discord, teams, ntfy or webhook
    name       TEXT NOT NULL,
    host       TEXT NOT NULL, -- of the address
    kinds      TEXT NOT NULL, -- separated and enclosed by commas; empty for all
    sealed     {{.Bytes}} NOT NULL, -- the address and the secret, bound to the ID; empty until the ID is known
    created_at BIGINT NOT NULL,
    sent_at    BIGINT NOT NULL DEFAULT 0, -- the last success
    failed_at  BIGINT NOT NULL DEFAULT 0, -- the last failure since then, or 0
    error      TEXT NOT NULL DEFAULT '',
    next_at    BIGINT NOT NULL DEFAULT 0 -- no message is sent before: another node is sending one, or the last one failed
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

-- +goose Down
DROP TABLE channel_notices;
DROP TABLE notice_channels;
