-- +goose Up
-- when a grant is renewed before it has to be, and when it ends whatever we do; 0 for never
ALTER TABLE social_accounts ADD COLUMN refresh_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE social_accounts ADD COLUMN ends_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX social_accounts_to_refresh ON social_accounts (refresh_at) WHERE refresh_at > 0;
CREATE INDEX social_accounts_by_end ON social_accounts (ends_at) WHERE ends_at > 0;

-- Round trips of people to a network's consent page. What came of one is sealed, the link it began from too.
CREATE TABLE connect_attempts (
    id         {{.Key}},
    state_hash {{.Bytes}} NOT NULL UNIQUE, -- SHA-256 of what comes back with the code
    link_hash  {{.Bytes}} NOT NULL,
    person_id  BIGINT NOT NULL,
    platform   TEXT NOT NULL,
    step       TEXT NOT NULL,              -- consent, exchange or choice
    sealed     {{.Bytes}} NOT NULL,
    expires_at BIGINT NOT NULL,
    UNIQUE (person_id, link_hash)
);
CREATE INDEX connect_attempts_by_end ON connect_attempts (expires_at);

-- Links that have connected an account, until they would have ended anyway.
CREATE TABLE connect_links (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    account_id BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX connect_links_by_end ON connect_links (expires_at);
-- +goose Down
DROP TABLE connect_links;
DROP TABLE connect_attempts;
DROP INDEX social_accounts_by_end;
DROP INDEX social_accounts_to_refresh;
ALTER TABLE social_accounts DROP COLUMN ends_at;
ALTER TABLE social_accounts DROP COLUMN refresh_at;
