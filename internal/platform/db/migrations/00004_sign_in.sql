-- +goose Up
-- People who are signed in. What the browser holds is not here, only its hash.
CREATE TABLE sessions (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    data       {{.Bytes}} NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- Every request of a signed-in person asks which teams that person is in.
CREATE INDEX memberships_of_person ON memberships (person_id);
-- +goose Down
DROP INDEX memberships_of_person;
DROP TABLE sessions;
