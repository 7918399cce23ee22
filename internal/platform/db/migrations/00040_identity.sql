-- +goose Up
-- When it was proved that the e-mail address is the person's: by the directory, or by following a link that was mailed there.
-- 0 if it never was.
ALTER TABLE people ADD COLUMN email_proved_at BIGINT NOT NULL DEFAULT 0;
-- 1 if the operator made the account. Its first team needs no confirmation.
ALTER TABLE people ADD COLUMN made_by_operator BIGINT NOT NULL DEFAULT 0;

-- Who people are in the operator's directory. Issuer and subject identify one person for good; an e-mail address may be
-- given to somebody else.
CREATE TABLE directory_identities (
    issuer    TEXT NOT NULL,
    subject   TEXT NOT NULL,
    person_id BIGINT NOT NULL UNIQUE REFERENCES people (id),
    linked_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);

-- Links that prove an e-mail address. They are mailed to it.
CREATE TABLE email_proofs (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    person_id  BIGINT NOT NULL REFERENCES people (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX email_proofs_of_person ON email_proofs (person_id);
CREATE INDEX email_proofs_by_end ON email_proofs (expires_at);

-- +goose Down
DROP TABLE email_proofs;
DROP TABLE directory_identities;
ALTER TABLE people DROP COLUMN made_by_operator;
ALTER TABLE people DROP COLUMN email_proved_at;
