-- +goose Up
CREATE TABLE social_accounts (
    id               {{.Key}},
    team_id          BIGINT NOT NULL REFERENCES teams (id),
    platform         TEXT NOT NULL,
    network_id       TEXT NOT NULL,
    username         TEXT NOT NULL,
    display_name     TEXT NOT NULL,
    connection_state TEXT NOT NULL,
    connection_probe TEXT NOT NULL DEFAULT '',
    account_status   TEXT NOT NULL DEFAULT '',
    sealed_grant     {{.Bytes}} NOT NULL,
    grant_version    BIGINT NOT NULL DEFAULT 1,
    refreshing_until BIGINT NOT NULL DEFAULT 0,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL,
    -- when a grant is renewed, and when it ends for good; 0 for never
    refresh_at       BIGINT NOT NULL DEFAULT 0,
    ends_at          BIGINT NOT NULL DEFAULT 0,
    -- When a person disconnected the account; 0 while it is connected or its connection is lost. The row stays for the posts
    -- that went out to it. Its grant is gone.
    disconnected_at  BIGINT NOT NULL DEFAULT 0,
    -- The person at the network who granted access, by the network's id. Revoking it ends all accounts with the same holder.
    -- Empty if unknown, and for networks where each grant ends separately.
    grant_holder     TEXT NOT NULL DEFAULT '',
    UNIQUE (team_id, platform, network_id)
);
CREATE INDEX social_accounts_to_refresh ON social_accounts (refresh_at) WHERE refresh_at > 0;
CREATE INDEX social_accounts_by_end ON social_accounts (ends_at) WHERE ends_at > 0;
CREATE INDEX social_accounts_by_network_id ON social_accounts (network_id, platform);
CREATE INDEX social_accounts_by_holder ON social_accounts (grant_holder, platform);
CREATE INDEX social_accounts_sealed ON social_accounts (substr(sealed_grant, 1, 5));
CREATE INDEX social_accounts_lost ON social_accounts (platform) WHERE account_status = 'needs_reauth';
-- Visits to a network's consent page. The result is encrypted, and so is the link that began it.
CREATE TABLE connect_attempts (
    id         {{.Key}},
    state_hash {{.Bytes}} NOT NULL UNIQUE, -- SHA-256 of what comes back with the code
    link_hash  {{.Bytes}} NOT NULL,
    person_id  BIGINT NOT NULL,
    platform   TEXT NOT NULL,
    step       TEXT NOT NULL, -- consent, exchange or choice
    sealed     {{.Bytes}} NOT NULL,
    expires_at BIGINT NOT NULL,
    UNIQUE (person_id, link_hash)
);
CREATE INDEX connect_attempts_by_end ON connect_attempts (expires_at);

-- Used connect links, until they expire.
CREATE TABLE connect_links (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    account_id BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX connect_links_by_end ON connect_links (expires_at);

-- Grants of disconnected accounts, kept encrypted until they are revoked at the network or that is given up.
CREATE TABLE grant_revocations (
    id           {{.Key}},
    team_id      BIGINT NOT NULL,
    account_id   BIGINT NOT NULL,
    platform     TEXT NOT NULL,
    holder       TEXT NOT NULL DEFAULT '',
    sealed_grant {{.Bytes}} NOT NULL,
    state        TEXT NOT NULL, -- waiting, revoked, kept, failed or no_means
    tries        BIGINT NOT NULL DEFAULT 0,
    next_at      BIGINT NOT NULL DEFAULT 0, -- when revocation is tried again; 0 for never
    asked_at     BIGINT NOT NULL,
    ended_at     BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX grant_revocations_waiting ON grant_revocations (next_at) WHERE next_at > 0;
CREATE INDEX grant_revocations_of_team ON grant_revocations (team_id, id);
CREATE INDEX grant_revocations_by_age ON grant_revocations (asked_at);

-- Deletion requests by networks, by the code with which a person can look up the outcome.
CREATE TABLE network_deletions (
    code     {{.ID}} PRIMARY KEY,
    app      TEXT NOT NULL, -- which of the operator's apps at the network was asked
    accounts BIGINT NOT NULL DEFAULT 0, -- how many were deleted
    asked_at BIGINT NOT NULL,
    -- Identifies the request: a repeated request gets the same answer and deletes nothing more.
    request  {{.ID}} NOT NULL DEFAULT ''
);
CREATE INDEX network_deletions_by_age ON network_deletions (asked_at);
CREATE UNIQUE INDEX network_deletions_by_request ON network_deletions (request) WHERE request <> '';

-- The profile pictures of accounts, as thumbnails of a few kilobytes. They are deleted with what else was collected.
CREATE TABLE account_pictures (
    account_id BIGINT PRIMARY KEY REFERENCES social_accounts (id) ON DELETE CASCADE,
    source     {{.Bytes}} NOT NULL, -- SHA-256 of the URL at the network
    type       TEXT NOT NULL, -- MIME
    image      {{.Bytes}} NOT NULL,
    fetched_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE account_pictures;
DROP TABLE network_deletions;
DROP TABLE grant_revocations;
DROP TABLE connect_links;
DROP TABLE connect_attempts;
DROP TABLE social_accounts;
