-- +goose Up
-- Authenticator apps (RFC 6238), one for each person.
CREATE TABLE totp_secrets (
    person_id  BIGINT PRIMARY KEY REFERENCES people (id),
    sealed     {{.Bytes}} NOT NULL,         -- the secret, bound to the person
    last_step  BIGINT NOT NULL,             -- the time step of the last code that was accepted: none is accepted twice
    created_at BIGINT NOT NULL
);
-- Which keys seal secrets is looked up at every start.
CREATE INDEX totp_secrets_by_key ON totp_secrets (substr(sealed, 1, 5));

-- Codes that replace a lost authenticator app, each once.
CREATE TABLE totp_recovery_codes (
    code_hash {{.Bytes}} PRIMARY KEY,       -- SHA-256 of 120 random bits
    person_id BIGINT NOT NULL REFERENCES people (id)
);
CREATE INDEX totp_recovery_codes_of_person ON totp_recovery_codes (person_id);

-- Whether members need a second factor to open the team's pages.
ALTER TABLE teams ADD COLUMN second_factor BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE teams DROP COLUMN second_factor;
DROP TABLE totp_recovery_codes;
DROP TABLE totp_secrets;
