-- +goose Up
ALTER TABLE people ADD COLUMN held_at BIGINT NOT NULL DEFAULT 0;

ALTER TABLE teams ADD COLUMN plan_until BIGINT NOT NULL DEFAULT 0; -- when the plan lapses; 0 for never
ALTER TABLE teams ADD COLUMN daily_credits BIGINT;                 -- in place of the plan's figure
ALTER TABLE teams ADD COLUMN access_off_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE teams ADD COLUMN closed_at BIGINT NOT NULL DEFAULT 0;

ALTER TABLE api_keys ADD COLUMN daily_credits BIGINT NOT NULL DEFAULT -1;
-- why a key ended without being revoked: ownership_lost or membership_lost
ALTER TABLE api_keys ADD COLUMN lost TEXT NOT NULL DEFAULT '';

-- What the operator has switched off or paused: each row is one.
CREATE TABLE pauses (
    scope      TEXT NOT NULL, -- service, team or key
    target     BIGINT NOT NULL, -- id of the team or key; 0 for the service
    action     TEXT NOT NULL, -- api, everything, spend or publish
    reason     TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    PRIMARY KEY (scope, target, action)
);

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
    id           {{.Key}},
    team_id      BIGINT NOT NULL REFERENCES teams (id),
    person_id    BIGINT NOT NULL,
    key_id       BIGINT NOT NULL, -- 0 for what no key or assistant asked for
    operation    TEXT NOT NULL,
    -- the tombstone of the paid call: which Idempotency-Key paid for which request
    idempotency_key {{.ID}} NOT NULL,
    request_hash {{.Bytes}} NOT NULL,
    state        TEXT NOT NULL, -- open or settled
    amount       BIGINT NOT NULL CHECK (amount > 0),
    charged      BIGINT NOT NULL CHECK (charged BETWEEN 0 AND amount),
    created_at   BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX reservations_of_day ON reservations (team_id, created_at);
CREATE UNIQUE INDEX reservations_by_key ON reservations (key_id, idempotency_key, request_hash) WHERE key_id > 0;

-- The ledger. Rows are only ever added; the entries of a transfer add up to 0.
CREATE TABLE ledger_transfers (
    id             {{.Key}},
    team_id        BIGINT NOT NULL REFERENCES teams (id),
    kind           TEXT NOT NULL, -- grant, withdraw, reserve, settle
    reservation_id BIGINT NOT NULL DEFAULT 0,
    reference      {{.ID}} NOT NULL DEFAULT '', -- the operator's own, by which a repeat is recognised
    note           TEXT NOT NULL DEFAULT '',
    created_at     BIGINT NOT NULL
);
CREATE INDEX ledger_transfers_of_team ON ledger_transfers (team_id, id);
-- one of each kind: nothing is settled twice
CREATE UNIQUE INDEX ledger_transfers_of_reservation ON ledger_transfers (reservation_id, kind) WHERE reservation_id > 0;
CREATE UNIQUE INDEX ledger_transfers_by_reference ON ledger_transfers (team_id, reference) WHERE reference <> '';
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
CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION events_are_kept();
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

-- The free calls of a team's day that were handed out to nodes, or counted. One row a team: the day it is in.
CREATE TABLE free_calls (
    team_id   BIGINT PRIMARY KEY REFERENCES teams (id),
    starts_at BIGINT NOT NULL, -- since when used counts
    ends_at   BIGINT NOT NULL, -- when that day ends; another time zone moves it
    used      BIGINT NOT NULL
);

-- Paid calls by their Idempotency-Key: the same key with another request is another call.
CREATE TABLE paid_requests (
    key_id       BIGINT NOT NULL,
    key          {{.ID}} NOT NULL,
    request_hash {{.Bytes}} NOT NULL,
    operation    TEXT NOT NULL,
    answer       {{.Bytes}},
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    PRIMARY KEY (key_id, key, request_hash)
);
CREATE INDEX paid_requests_by_end ON paid_requests (expires_at);

ALTER TABLE jobs ADD COLUMN reservation_id BIGINT NOT NULL DEFAULT 0;
-- whether the job takes one of the few places for work that callers started
ALTER TABLE jobs ADD COLUMN has_place BIGINT NOT NULL DEFAULT 0;
CREATE INDEX jobs_in_flight ON jobs (team_id) WHERE has_place = 1 AND finished_at = 0;
CREATE INDEX jobs_of_reservation ON jobs (reservation_id) WHERE reservation_id > 0;
-- +goose Down
DROP INDEX jobs_of_reservation;
DROP INDEX jobs_in_flight;
ALTER TABLE jobs DROP COLUMN has_place;
ALTER TABLE jobs DROP COLUMN reservation_id;
DROP TABLE paid_requests;
DROP TABLE free_calls;
DROP TABLE ledger_entries;
DROP TABLE ledger_transfers;
{{if .Postgres}}
DROP FUNCTION ledger_is_kept;
DROP TRIGGER events_are_not_emptied ON events;
{{end}}
DROP TABLE reservations;
DROP TABLE wallets;
DROP TABLE pauses;
ALTER TABLE api_keys DROP COLUMN lost;
ALTER TABLE api_keys DROP COLUMN daily_credits;
ALTER TABLE teams DROP COLUMN closed_at;
ALTER TABLE teams DROP COLUMN access_off_at;
ALTER TABLE teams DROP COLUMN daily_credits;
ALTER TABLE teams DROP COLUMN plan_until;
ALTER TABLE people DROP COLUMN held_at;
