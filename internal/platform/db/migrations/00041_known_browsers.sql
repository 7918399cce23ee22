-- +goose Up
-- Browsers that a person has signed in with before. They sign nobody in: they only keep guesses by others from
-- delaying the person. What the browser holds is not here, only its hash.
CREATE TABLE known_browsers (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    person_id  BIGINT NOT NULL,
    epoch      BIGINT NOT NULL,        -- the person's; a later one forgets the browser
    browser    TEXT NOT NULL,          -- such as Firefox on Windows
    created_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL
);
CREATE INDEX known_browsers_of_person ON known_browsers (person_id, used_at);
CREATE INDEX known_browsers_by_use ON known_browsers (used_at);

-- Since when browsers are remembered for a person: the first one is not reported as new. 0 for not yet.
ALTER TABLE people ADD COLUMN browsers_since BIGINT NOT NULL DEFAULT 0;

-- Wrong tries to sign in that are counted for all nodes, by what they were aimed at.
CREATE TABLE sign_in_tries (
    key_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    n        BIGINT NOT NULL,
    at       BIGINT NOT NULL         -- of the last one
);
CREATE INDEX sign_in_tries_by_time ON sign_in_tries (at);
-- +goose Down
DROP TABLE sign_in_tries;
ALTER TABLE people DROP COLUMN browsers_since;
DROP TABLE known_browsers;
