-- +goose Up
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
