-- +goose Up
-- From now on a session tells whose it is, so that people see theirs and end them. Everybody signs in once more.
DELETE FROM sessions;
ALTER TABLE sessions ADD COLUMN id {{.ID}} NOT NULL DEFAULT '';      -- by which its person names it
ALTER TABLE sessions ADD COLUMN person_id BIGINT NOT NULL DEFAULT 0; -- 0 while nobody is signed in
ALTER TABLE sessions ADD COLUMN browser TEXT NOT NULL DEFAULT '';    -- what it calls itself
ALTER TABLE sessions ADD COLUMN used_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX sessions_of_person ON sessions (person_id) WHERE person_id > 0;

-- Counts up when all of a person's sessions end: one that was begun before holds no more, whatever is written late.
ALTER TABLE people ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
-- What a person's passkeys call the person: random bytes.
ALTER TABLE people ADD COLUMN passkey_handle {{.Bytes}};
CREATE UNIQUE INDEX people_by_passkey_handle ON people (passkey_handle);

CREATE TABLE passkeys (
    id            {{.Key}},
    person_id     BIGINT NOT NULL REFERENCES people (id),
    credential_id {{.Bytes}} NOT NULL UNIQUE,
    name          TEXT NOT NULL,
    credential    TEXT NOT NULL,             -- its public key, flags and count of signatures, as JSON
    created_at    BIGINT NOT NULL,
    used_at       BIGINT NOT NULL DEFAULT 0,
    copied_at     BIGINT NOT NULL DEFAULT 0  -- when its count of signatures went back
);
CREATE INDEX passkeys_of_person ON passkeys (person_id, id);

CREATE TABLE invitations (
    id          {{.Key}},
    team_id     BIGINT NOT NULL REFERENCES teams (id),
    email       TEXT NOT NULL,
    role        TEXT NOT NULL,
    token_hash  {{.Bytes}} NOT NULL UNIQUE, -- SHA-256
    invited_by  BIGINT NOT NULL DEFAULT 0,  -- 0 for the operator
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    accepted_at BIGINT NOT NULL DEFAULT 0,
    accepted_by BIGINT NOT NULL DEFAULT 0,
    revoked_at  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX invitations_open_of_team ON invitations (team_id, id) WHERE accepted_at = 0 AND revoked_at = 0;
CREATE INDEX invitations_open_by_email ON invitations (email, id) WHERE accepted_at = 0 AND revoked_at = 0;

-- Links by which the operator lets a person set a new password.
CREATE TABLE recoveries (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    person_id  BIGINT NOT NULL REFERENCES people (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX recoveries_of_person ON recoveries (person_id);
-- +goose Down
DROP TABLE recoveries;
DROP TABLE invitations;
DROP TABLE passkeys;
DROP INDEX people_by_passkey_handle;
ALTER TABLE people DROP COLUMN passkey_handle;
ALTER TABLE people DROP COLUMN epoch;
DROP INDEX sessions_of_person;
ALTER TABLE sessions DROP COLUMN used_at;
ALTER TABLE sessions DROP COLUMN browser;
ALTER TABLE sessions DROP COLUMN person_id;
ALTER TABLE sessions DROP COLUMN id;
