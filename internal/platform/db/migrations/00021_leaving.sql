-- +goose Up
-- When the deletion was asked for; 0 where it was not. The row of a team or person that is deleted stays as a number, which
-- the ledger and the record of events name, and says nothing else.
ALTER TABLE teams ADD COLUMN deleted_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE people ADD COLUMN deleted_at BIGINT NOT NULL DEFAULT 0;

-- Teams whose data is being deleted, and how far that is.
CREATE TABLE team_deletions (
    team_id  BIGINT PRIMARY KEY REFERENCES teams (id),
    asked_by BIGINT NOT NULL,
    asked_at BIGINT NOT NULL,
    with_person BIGINT NOT NULL DEFAULT 0, -- 1 where the person's account is deleted too, at the end
    removed  BIGINT NOT NULL DEFAULT 0, -- items so far
    ended_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX team_deletions_under_way ON team_deletions (team_id) WHERE ended_at = 0;

-- What a network asked to be deleted, by the code that the person may ask with what became of it.
CREATE TABLE network_deletions (
    code     {{.ID}} PRIMARY KEY,
    app      TEXT NOT NULL,             -- which of the operator's apps at the network was asked
    accounts BIGINT NOT NULL DEFAULT 0, -- how many were deleted
    asked_at BIGINT NOT NULL
);
CREATE INDEX social_accounts_by_network_id ON social_accounts (network_id, platform);
CREATE INDEX network_deletions_by_age ON network_deletions (asked_at);

-- Work that is not done yet, and a team's jobs, without looking at what is over.
CREATE INDEX deliveries_open ON deliveries (team_id, phase, created_at) WHERE phase <> 'ended';
CREATE INDEX jobs_open ON jobs (type, state, created_at) WHERE finished_at = 0;
CREATE INDEX jobs_of_team ON jobs (team_id, id);

CREATE INDEX invitations_by_end ON invitations (expires_at);
CREATE INDEX recoveries_by_end ON recoveries (expires_at);
-- +goose Down
DROP INDEX recoveries_by_end;
DROP INDEX invitations_by_end;
DROP INDEX jobs_of_team;
DROP INDEX jobs_open;
DROP INDEX deliveries_open;
DROP INDEX social_accounts_by_network_id;
DROP TABLE network_deletions;
DROP TABLE team_deletions;
ALTER TABLE people DROP COLUMN deleted_at;
ALTER TABLE teams DROP COLUMN deleted_at;
