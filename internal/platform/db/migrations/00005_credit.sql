-- +goose Up
-- The balances of a team's four accounts, as its ledger entries add up to. Their sum is 0.
CREATE TABLE wallets (
    team_id   BIGINT PRIMARY KEY REFERENCES teams (id),
    granted   BIGINT NOT NULL DEFAULT 0,
    available BIGINT NOT NULL DEFAULT 0 CHECK (available >= 0),
    reserved  BIGINT NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    spent     BIGINT NOT NULL DEFAULT 0
);

-- One paid call, or one automatic charge. While it is open, charged is what was set aside.
CREATE TABLE reservations (
    id              {{.Key}},
    team_id         BIGINT NOT NULL REFERENCES teams (id),
    person_id       BIGINT NOT NULL,
    key_id          BIGINT NOT NULL, -- 0 for what no key or assistant asked for
    operation       TEXT NOT NULL,
    -- the Idempotency-Key that paid for the request, kept as long as the ledger
    idempotency_key {{.ID}} NOT NULL,
    request_hash    {{.Bytes}} NOT NULL,
    state           TEXT NOT NULL, -- open or settled
    amount          BIGINT NOT NULL CHECK (amount > 0),
    charged         BIGINT NOT NULL CHECK (charged BETWEEN 0 AND amount),
    created_at      BIGINT NOT NULL,
    ended_at        BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX reservations_of_day ON reservations (team_id, created_at);
CREATE UNIQUE INDEX reservations_by_key ON reservations (key_id, idempotency_key, request_hash) WHERE key_id > 0;
CREATE INDEX reservations_open ON reservations (created_at) WHERE state = 'open';

-- The ledger. Rows are only ever added; the entries of a transfer add up to 0.
CREATE TABLE ledger_transfers (
    id             {{.Key}},
    team_id        BIGINT NOT NULL REFERENCES teams (id),
    kind           TEXT NOT NULL, -- grant, withdraw, reserve, settle
    reservation_id BIGINT NOT NULL DEFAULT 0,
    reference      {{.ID}} NOT NULL DEFAULT '', -- the operator's own, by which a repeat is recognised
    note           TEXT NOT NULL DEFAULT '',
    created_at     BIGINT NOT NULL,
    -- The credits that a team has available after a transfer, so that any part of its statement can be shown by itself.
    balance        BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX ledger_transfers_of_team ON ledger_transfers (team_id, id);
-- one of each kind: nothing is settled twice
CREATE UNIQUE INDEX ledger_transfers_of_reservation ON ledger_transfers (reservation_id, kind) WHERE reservation_id > 0;
CREATE UNIQUE INDEX ledger_transfers_by_reference ON ledger_transfers (team_id, reference) WHERE reference <> '';
CREATE INDEX ledger_transfers_by_time ON ledger_transfers (team_id, created_at, id);

CREATE TABLE ledger_entries (
    transfer_id BIGINT NOT NULL REFERENCES ledger_transfers (id),
    account     TEXT NOT NULL, -- granted, available, reserved or spent
    amount      BIGINT NOT NULL CHECK (amount <> 0),
    PRIMARY KEY (transfer_id, account)
);
{{if .Postgres}}
-- +goose StatementBegin
CREATE FUNCTION ledger_is_kept() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'the ledger is never changed';
END $$ LANGUAGE plpgsql;
-- +goose StatementEnd
CREATE TRIGGER ledger_transfers_are_kept BEFORE UPDATE OR DELETE ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION ledger_is_kept();
CREATE TRIGGER ledger_entries_are_kept BEFORE UPDATE OR DELETE ON ledger_entries FOR EACH ROW EXECUTE FUNCTION ledger_is_kept();
CREATE TRIGGER ledger_transfers_are_not_emptied BEFORE TRUNCATE ON ledger_transfers FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_kept();
CREATE TRIGGER ledger_entries_are_not_emptied BEFORE TRUNCATE ON ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_kept();
{{else}}
-- +goose StatementBegin
CREATE TRIGGER ledger_transfers_are_not_changed BEFORE UPDATE ON ledger_transfers BEGIN SELECT RAISE(ABORT, 'the ledger is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_transfers_are_not_deleted BEFORE DELETE ON ledger_transfers BEGIN SELECT RAISE(ABORT, 'the ledger is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_entries_are_not_changed BEFORE UPDATE ON ledger_entries BEGIN SELECT RAISE(ABORT, 'the ledger is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_entries_are_not_deleted BEFORE DELETE ON ledger_entries BEGIN SELECT RAISE(ABORT, 'the ledger is never changed'); END;
-- +goose StatementEnd
{{end}}

-- Credits that count against a team's daily limits before they are charged: the automatic refreshes to come.
CREATE TABLE credit_holds (
    id          {{.Key}},
    team_id     BIGINT NOT NULL REFERENCES teams (id),
    key_id      BIGINT NOT NULL,
    subject     {{.ID}} NOT NULL, -- what it is held for
    amount      BIGINT NOT NULL CHECK (amount > 0),
    created_at  BIGINT NOT NULL,
    released_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX credit_holds_of_day ON credit_holds (team_id, created_at);
CREATE INDEX credit_holds_of_subject ON credit_holds (subject);

-- What paid work was about. Statements show it longer than the job is kept. Unlike the ledger it holds names, and it is
-- deleted with its team.
CREATE TABLE paid_subjects (
    reservation_id BIGINT PRIMARY KEY REFERENCES reservations (id),
    team_id        BIGINT NOT NULL,
    kind           TEXT NOT NULL, -- of a report: profile or hashtag; else empty
    report_id      {{.ID}} NOT NULL, -- where the work was a report; else empty
    platform       TEXT NOT NULL,
    subject        TEXT NOT NULL -- the user name, hashtag or keyword, normalised
);
CREATE INDEX paid_subjects_of_team ON paid_subjects (team_id, reservation_id);

-- Free calls of a team's current day that were leased to nodes or counted.
CREATE TABLE free_calls (
    team_id   BIGINT PRIMARY KEY REFERENCES teams (id),
    starts_at BIGINT NOT NULL, -- since when used counts
    ends_at   BIGINT NOT NULL, -- when that day ends; another time zone moves it
    used      BIGINT NOT NULL
);

-- +goose Down
DROP TABLE free_calls;
DROP TABLE paid_subjects;
DROP TABLE credit_holds;
DROP TABLE ledger_entries;
DROP TABLE ledger_transfers;
DROP TABLE reservations;
DROP TABLE wallets;
{{if .Postgres}}DROP FUNCTION ledger_is_kept;{{end}}
