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

-- +goose Down
DROP TABLE notice_thresholds;
DROP TABLE notice_choices;
DROP TABLE notices;
