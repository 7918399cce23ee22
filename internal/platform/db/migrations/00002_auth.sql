-- +goose Up
-- People who are signed in. What the browser holds is not here, only its hash.
CREATE TABLE sessions (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    data       {{.Bytes}} NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    id         {{.ID}} NOT NULL DEFAULT '', -- by which its person names it
    person_id  BIGINT NOT NULL DEFAULT 0, -- 0 while nobody is signed in
    browser    TEXT NOT NULL DEFAULT '', -- what it calls itself
    used_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sessions_by_end ON sessions (expires_at);
CREATE INDEX sessions_of_person ON sessions (person_id) WHERE person_id > 0;

-- Browsers that a person has signed in with before. They sign nobody in: they only keep guesses by others from
-- delaying the person. What the browser holds is not here, only its hash.
CREATE TABLE known_browsers (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    person_id  BIGINT NOT NULL,
    epoch      BIGINT NOT NULL, -- the person's; a later one forgets the browser
    browser    TEXT NOT NULL, -- such as Firefox on Windows
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL
);
CREATE INDEX known_browsers_of_person ON known_browsers (person_id, used_at);
CREATE INDEX known_browsers_by_use ON known_browsers (used_at);

-- Failed sign-ins, counted for all nodes by what they aimed at.
CREATE TABLE sign_in_tries (
    key_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    n        BIGINT NOT NULL,
    at       BIGINT NOT NULL -- of the last one
);
CREATE INDEX sign_in_tries_by_time ON sign_in_tries (at);

CREATE TABLE passkeys (
    id            {{.Key}},
    person_id     BIGINT NOT NULL REFERENCES people (id),
    credential_id {{.Bytes}} NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    credential    TEXT NOT NULL, -- its public key, flags and count of signatures, as JSON
    created_at    BIGINT NOT NULL,
    used_at       BIGINT NOT NULL DEFAULT 0,
    copied_at     BIGINT NOT NULL DEFAULT 0 -- when its count of signatures went back
);
CREATE INDEX passkeys_of_person ON passkeys (person_id, id);

-- Authenticator apps (RFC 6238), one for each person.
CREATE TABLE totp_secrets (
    person_id  BIGINT PRIMARY KEY REFERENCES people (id),
    sealed     {{.Bytes}} NOT NULL, -- the secret, bound to the person
    last_step  BIGINT NOT NULL, -- the time step of the last code that was accepted: none is accepted twice
    created_at BIGINT NOT NULL
);
-- Every start looks up which encryption keys are in use.
CREATE INDEX totp_secrets_by_key ON totp_secrets (substr(sealed, 1, 5));

-- Codes that replace a lost authenticator app, each once.
CREATE TABLE totp_recovery_codes (
    code_hash {{.Bytes}} PRIMARY KEY, -- SHA-256 of 120 random bits
    person_id BIGINT NOT NULL REFERENCES people (id)
);
CREATE INDEX totp_recovery_codes_of_person ON totp_recovery_codes (person_id);

-- OAuth clients. Their names and addresses are unverified claims of their own.
CREATE TABLE oauth_clients (
    client_id  {{.ID}} PRIMARY KEY, -- given out by us, or the address of a document that describes the program
    name       TEXT NOT NULL,
    redirects  TEXT NOT NULL, -- to where its people come back: a JSON list of addresses
    created_at BIGINT NOT NULL,
    read_at    BIGINT NOT NULL DEFAULT 0, -- when its document was last fetched; 0 of one that has none
    used_at    BIGINT NOT NULL DEFAULT 0, -- when somebody last gave it leave
    -- From which network a program registered, until somebody lets it in: one network evicts only its own registrations.
    network    TEXT NOT NULL DEFAULT ''
);
CREATE INDEX oauth_clients_by_use ON oauth_clients (used_at, created_at);
CREATE INDEX oauth_clients_by_network ON oauth_clients (network, created_at) WHERE used_at = 0;
-- OAuth grants: first an authorization code, then a connection with tokens. Secrets are stored as hashes.
CREATE TABLE oauth_grants (
    id            {{.Key}},
    client_id     {{.ID}} NOT NULL,
    team_id       BIGINT NOT NULL REFERENCES teams (id),
    person_id     BIGINT NOT NULL REFERENCES people (id),
    capabilities  TEXT NOT NULL, -- with spaces between
    resource      TEXT NOT NULL, -- the address that its tokens are for
    redirect      TEXT NOT NULL, -- as the request had it
    challenge     {{.ID}} NOT NULL, -- of PKCE, by S256
    code_hash     {{.Bytes}} NOT NULL UNIQUE, -- SHA-256
    code_ends_at  BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    redeemed_at   BIGINT NOT NULL DEFAULT 0, -- when the code was exchanged
    connection_id BIGINT NOT NULL DEFAULT 0, -- the row of api_keys; 0 until the code was exchanged
    ended_at      BIGINT NOT NULL DEFAULT 0, -- from when on no token of it is good
    ends_at       BIGINT NOT NULL, -- from when on there is none, unless they are renewed
    -- 1 if the person granted it in a session with one factor. Grants from before this column count as granted with two.
    one_factor    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX oauth_grants_by_end ON oauth_grants (ends_at);
CREATE INDEX oauth_grants_of_team ON oauth_grants (team_id, id);
CREATE INDEX oauth_grants_of_person ON oauth_grants (person_id, id);
CREATE INDEX oauth_grants_of_client ON oauth_grants (client_id, id);

CREATE TABLE oauth_tokens (
    hash       {{.Bytes}} PRIMARY KEY, -- SHA-256
    grant_id   BIGINT NOT NULL REFERENCES oauth_grants (id),
    kind       TEXT NOT NULL, -- access or refresh
    created_at BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL,
    spent_at   BIGINT NOT NULL DEFAULT 0 -- when a refresh token was first exchanged
);
CREATE INDEX oauth_tokens_of_grant ON oauth_tokens (grant_id);
CREATE INDEX oauth_tokens_by_end ON oauth_tokens (ends_at);

-- +goose Down
DROP TABLE oauth_tokens;
DROP TABLE oauth_grants;
DROP TABLE oauth_clients;
DROP TABLE totp_recovery_codes;
DROP TABLE totp_secrets;
DROP TABLE passkeys;
DROP TABLE sign_in_tries;
DROP TABLE known_browsers;
DROP TABLE sessions;
