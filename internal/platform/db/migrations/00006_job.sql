-- +goose Up
CREATE TABLE jobs (
    id             {{.ID}} PRIMARY KEY,
    team_id        BIGINT NOT NULL REFERENCES teams (id),
    type           TEXT NOT NULL,
    state          TEXT NOT NULL,
    subject        {{.ID}} NOT NULL,
    done           BIGINT NOT NULL DEFAULT 0,
    total          BIGINT NOT NULL DEFAULT 0,
    error_code     TEXT NOT NULL DEFAULT '',
    created_at     BIGINT NOT NULL,
    finished_at    BIGINT NOT NULL DEFAULT 0,
    reservation_id BIGINT NOT NULL DEFAULT 0,
    -- 1 if the job counts against the limit of jobs in flight
    is_counted     BIGINT NOT NULL DEFAULT 0,
    -- The lease of the node that works on the job, and when the job is due again.
    owner          TEXT NOT NULL DEFAULT '',
    epoch          BIGINT NOT NULL DEFAULT 0,
    lease_until    BIGINT NOT NULL DEFAULT 0,
    wake_at        BIGINT NOT NULL DEFAULT 0,
    -- The W3C traceparent of the request that began the job; empty if it was not traced.
    trace          TEXT NOT NULL DEFAULT ''
);
CREATE INDEX jobs_by_end ON jobs (finished_at);
CREATE INDEX jobs_in_flight ON jobs (team_id) WHERE is_counted = 1 AND finished_at = 0;
CREATE INDEX jobs_of_reservation ON jobs (reservation_id) WHERE reservation_id > 0;
CREATE INDEX jobs_to_wake ON jobs (wake_at) WHERE wake_at > 0;
CREATE INDEX jobs_open ON jobs (type, state, created_at) WHERE finished_at = 0;
CREATE INDEX jobs_of_team ON jobs (team_id, id);

-- +goose Down
DROP TABLE jobs;
