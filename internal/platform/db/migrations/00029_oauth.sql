-- +goose Up
-- Programs that ask people for leave to act for them. What they say of themselves is nobody's word but theirs.
CREATE TABLE oauth_clients (
    client_id  {{.ID}} PRIMARY KEY,         -- given out by us, or the address of a document that describes the program
    name       TEXT NOT NULL,
    redirects  TEXT NOT NULL,               -- to where its people come back: a JSON list of addresses
    created_at BIGINT NOT NULL,
    read_at    BIGINT NOT NULL DEFAULT 0,   -- when its document was last fetched; 0 of one that has none
    used_at    BIGINT NOT NULL DEFAULT 0    -- when somebody last gave it leave
);
CREATE INDEX oauth_clients_by_use ON oauth_clients (used_at, created_at);

-- What people gave leave to: first a code, then by it a connection with tokens. Of secrets there are only hashes.
CREATE TABLE oauth_grants (
    id            {{.Key}},
    client_id     {{.ID}} NOT NULL,
    team_id       BIGINT NOT NULL REFERENCES teams (id),
    person_id     BIGINT NOT NULL REFERENCES people (id),
    capabilities  TEXT NOT NULL,               -- with spaces between
    resource      TEXT NOT NULL,               -- the address that its tokens are for
    redirect      TEXT NOT NULL,               -- as the request had it
    challenge     {{.ID}} NOT NULL,            -- of PKCE, by S256
    code_hash     {{.Bytes}} NOT NULL UNIQUE,  -- SHA-256
    code_ends_at  BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    redeemed_at   BIGINT NOT NULL DEFAULT 0,   -- when the code was exchanged
    connection_id BIGINT NOT NULL DEFAULT 0,   -- the row of api_keys; 0 until the code was exchanged
    ended_at      BIGINT NOT NULL DEFAULT 0,   -- from when on no token of it is good
    ends_at       BIGINT NOT NULL              -- from when on there is none, unless they are renewed
);
CREATE INDEX oauth_grants_by_end ON oauth_grants (ends_at);
CREATE INDEX oauth_grants_of_team ON oauth_grants (team_id, id);
CREATE INDEX oauth_grants_of_person ON oauth_grants (person_id, id);
CREATE INDEX oauth_grants_of_client ON oauth_grants (client_id, id);

CREATE TABLE oauth_tokens (
    hash       {{.Bytes}} PRIMARY KEY,         -- SHA-256
    grant_id   BIGINT NOT NULL REFERENCES oauth_grants (id),
    kind       TEXT NOT NULL,                  -- access or refresh
    created_at BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL,
    spent_at   BIGINT NOT NULL DEFAULT 0       -- when a refresh token was first exchanged
);
CREATE INDEX oauth_tokens_of_grant ON oauth_tokens (grant_id);
CREATE INDEX oauth_tokens_by_end ON oauth_tokens (ends_at);
-- +goose Down
DROP TABLE oauth_tokens;
DROP TABLE oauth_grants;
DROP TABLE oauth_clients;
