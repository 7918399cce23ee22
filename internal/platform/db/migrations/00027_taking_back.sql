-- +goose Up
-- When a person deleted the file, and who; 0 while it is there. The row of a file that went out with a post stays for that
-- post's record: its name, type and size. Its bytes and all that else was known of it are gone.
ALTER TABLE media ADD COLUMN deleted_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE media ADD COLUMN deleted_by BIGINT NOT NULL DEFAULT 0;

-- Whose permission the account's grant is, by the network's own id: all accounts of a network with the same one lose it
-- together. Empty where it is not known, and at networks where each grant is ended by itself.
ALTER TABLE social_accounts ADD COLUMN grant_holder TEXT NOT NULL DEFAULT '';
CREATE INDEX social_accounts_by_holder ON social_accounts (grant_holder, platform);

-- Grants of accounts that were disconnected, sealed until their network was told that they are over or that was given up.
CREATE TABLE grant_revocations (
    id           {{.Key}},
    team_id      BIGINT NOT NULL,
    account_id   BIGINT NOT NULL,
    platform     TEXT NOT NULL,
    holder       TEXT NOT NULL DEFAULT '',
    sealed_grant {{.Bytes}} NOT NULL,
    state        TEXT NOT NULL,              -- waiting, revoked, kept, failed or no_means
    tries        BIGINT NOT NULL DEFAULT 0,
    next_at      BIGINT NOT NULL DEFAULT 0,  -- when the network is told again; 0 for never
    asked_at     BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX grant_revocations_waiting ON grant_revocations (next_at) WHERE next_at > 0;
CREATE INDEX grant_revocations_of_team ON grant_revocations (team_id, id);
CREATE INDEX grant_revocations_by_age ON grant_revocations (asked_at);

-- Which request it was, so that the same one sent again is answered alike and deletes nothing more.
ALTER TABLE network_deletions ADD COLUMN request {{.ID}} NOT NULL DEFAULT '';
CREATE UNIQUE INDEX network_deletions_by_request ON network_deletions (request) WHERE request <> '';
-- +goose Down
DROP INDEX network_deletions_by_request;
ALTER TABLE network_deletions DROP COLUMN request;
DROP TABLE grant_revocations;
DROP INDEX social_accounts_by_holder;
ALTER TABLE social_accounts DROP COLUMN grant_holder;
ALTER TABLE media DROP COLUMN deleted_by;
ALTER TABLE media DROP COLUMN deleted_at;
