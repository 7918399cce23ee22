-- +goose Up
CREATE TABLE people (
    id               {{.Key}},
    name             TEXT NOT NULL,
    email            TEXT NOT NULL UNIQUE,
    password_hash    TEXT NOT NULL DEFAULT '',
    created_at       BIGINT NOT NULL,
    held_at          BIGINT NOT NULL DEFAULT 0,
    -- 1 for operators, who may open the operator's pages.
    operator         BIGINT NOT NULL DEFAULT 0,
    -- Incremented when all of a person's sessions end. Sessions of an earlier epoch are invalid.
    epoch            BIGINT NOT NULL DEFAULT 0,
    -- The WebAuthn user handle: random bytes.
    passkey_handle   {{.Bytes}},
    deleted_at       BIGINT NOT NULL DEFAULT 0,
    -- When it was proved that the email address is the person's: by the directory, or by following a link that was mailed there.
    -- 0 if it never was.
    email_proved_at  BIGINT NOT NULL DEFAULT 0,
    -- 1 if the operator made the account. Its first team needs no confirmation.
    made_by_operator BIGINT NOT NULL DEFAULT 0,
    -- Since when browsers are remembered for a person: the first one is not reported as new. 0 for not yet.
    browsers_since   BIGINT NOT NULL DEFAULT 0,
    -- The time zone in which a person sees and enters times, or '' for that of the team.
    timezone         TEXT NOT NULL DEFAULT '',
    -- The language of a person's pages (BCP 47), or '' for that of the browser.
    language         TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX people_by_passkey_handle ON people (passkey_handle);

CREATE TABLE teams (
    id                {{.Key}},
    name              TEXT NOT NULL,
    timezone          TEXT NOT NULL,
    content_language  TEXT NOT NULL,
    plan              TEXT NOT NULL,
    created_at        BIGINT NOT NULL,
    plan_until        BIGINT NOT NULL DEFAULT 0, -- when the plan lapses; 0 for never
    daily_credits     BIGINT, -- in place of the plan's figure
    access_off_at     BIGINT NOT NULL DEFAULT 0,
    closed_at         BIGINT NOT NULL DEFAULT 0,
    -- When deletion was requested; 0 if it was not. The emptied row of a deleted team or person stays, because the ledger and
    -- the audit log refer to its id.
    deleted_at        BIGINT NOT NULL DEFAULT 0,
    -- The owner's own daily limit for keys and assistants, within that of the plan.
    own_daily_credits BIGINT,
    -- Whether members need a second factor to open the team's pages.
    second_factor     BIGINT NOT NULL DEFAULT 0,
    keep_originals    BIGINT NOT NULL DEFAULT 0,
    -- Options for networks that apply to posts without their own, as JSON; empty for none. A person sets them.
    post_options      TEXT NOT NULL DEFAULT ''
);

CREATE TABLE memberships (
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    person_id  BIGINT NOT NULL REFERENCES people (id),
    role       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (team_id, person_id)
);
-- Every request of a signed-in person asks which teams that person is in.
CREATE INDEX memberships_of_person ON memberships (person_id);

CREATE TABLE api_keys (
    id            {{.Key}},
    team_id       BIGINT NOT NULL REFERENCES teams (id),
    person_id     BIGINT NOT NULL REFERENCES people (id),
    name          TEXT NOT NULL,
    level         TEXT NOT NULL,
    hash          {{.Bytes}} NOT NULL UNIQUE,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL DEFAULT 0,
    revoked_at    BIGINT NOT NULL DEFAULT 0,
    daily_credits BIGINT NOT NULL DEFAULT -1,
    -- why a key ended without being revoked: ownership_lost or membership_lost
    lost          TEXT NOT NULL DEFAULT '',
    -- When the key was last used, to about a minute; 0 for never.
    used_at       BIGINT NOT NULL DEFAULT 0,
    -- The form submission that made the key. A repeated submission makes no second key.
    sending       {{.ID}} NOT NULL DEFAULT '',
    -- A row is an API key or the connection of an assistant that a person authorized. Both are counted and limited by id. The
    -- hash of a connection is random, so that no credential matches it.
    kind          TEXT NOT NULL DEFAULT 'key', -- key or assistant
    capabilities  TEXT NOT NULL DEFAULT '', -- of a connection: what was granted, with commas between
    client_id     TEXT NOT NULL DEFAULT '', -- of a connection: by which its program is known
    client_host   TEXT NOT NULL DEFAULT '' -- of a connection: the host that its program answers at
);
CREATE INDEX api_keys_of_team ON api_keys (team_id, id);
CREATE UNIQUE INDEX api_keys_by_sending ON api_keys (team_id, sending) WHERE sending <> '';
CREATE INDEX api_keys_of_kind ON api_keys (team_id, kind, id);
CREATE INDEX api_keys_of_person ON api_keys (person_id, id) WHERE kind = 'assistant';

-- Incremented with every change to people, teams, memberships and keys, so that each node knows when its key cache is stale.
CREATE TABLE access_version (
    id      BIGINT PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL
);
INSERT INTO access_version (id, version) VALUES (1, 1);

-- Who people are in the operator's directory. Issuer and subject identify one person for good; an email address may be
-- given to somebody else.
CREATE TABLE directory_identities (
    issuer    TEXT NOT NULL,
    subject   TEXT NOT NULL,
    person_id BIGINT NOT NULL UNIQUE REFERENCES people (id),
    linked_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);

-- Links that prove an email address. They are mailed to it.
CREATE TABLE email_proofs (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    person_id  BIGINT NOT NULL REFERENCES people (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX email_proofs_of_person ON email_proofs (person_id);
CREATE INDEX email_proofs_by_end ON email_proofs (expires_at);

CREATE TABLE invitations (
    id             {{.Key}},
    team_id        BIGINT NOT NULL REFERENCES teams (id),
    email          TEXT NOT NULL,
    role           TEXT NOT NULL,
    token_hash     {{.Bytes}} NOT NULL UNIQUE, -- SHA-256
    invited_by     BIGINT NOT NULL DEFAULT 0, -- 0 for the operator
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    accepted_at    BIGINT NOT NULL DEFAULT 0,
    accepted_by    BIGINT NOT NULL DEFAULT 0,
    revoked_at     BIGINT NOT NULL DEFAULT 0,
    -- When the link was mailed; 0 if it was shown to the person who invited.
    mailed_at      BIGINT NOT NULL DEFAULT 0,
    -- Who accepted and waits until an owner or admin confirms it; 0 if nobody does.
    waiting_person BIGINT NOT NULL DEFAULT 0,
    waiting_since  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX invitations_open_of_team ON invitations (team_id, id) WHERE accepted_at = 0 AND revoked_at = 0;
CREATE INDEX invitations_open_by_email ON invitations (email, id) WHERE accepted_at = 0 AND revoked_at = 0;
CREATE INDEX invitations_by_end ON invitations (expires_at);
CREATE INDEX invitations_mailed ON invitations (team_id, mailed_at) WHERE mailed_at > 0;
CREATE INDEX invitations_waiting ON invitations (waiting_person) WHERE waiting_person > 0;

-- Links by which the operator lets a person set a new password.
CREATE TABLE recoveries (
    token_hash {{.Bytes}} PRIMARY KEY, -- SHA-256
    person_id  BIGINT NOT NULL REFERENCES people (id),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    used_at    BIGINT NOT NULL DEFAULT 0,
    -- When the link was mailed to the person; 0 if it was shown to the operator.
    mailed_at  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX recoveries_of_person ON recoveries (person_id);
CREATE INDEX recoveries_by_end ON recoveries (expires_at);

-- What the operator switched off or paused, one row each.
CREATE TABLE pauses (
    scope      TEXT NOT NULL, -- service, team or key
    target     BIGINT NOT NULL, -- id of the team or key; 0 for the service
    action     TEXT NOT NULL, -- api, everything, spend or publish
    reason     TEXT NOT NULL DEFAULT '',
    created_at BIGINT NOT NULL,
    PRIMARY KEY (scope, target, action)
);

-- Teams whose data is being deleted, and how far that is.
CREATE TABLE team_deletions (
    team_id     BIGINT PRIMARY KEY REFERENCES teams (id),
    asked_by    BIGINT NOT NULL,
    asked_at    BIGINT NOT NULL,
    with_person BIGINT NOT NULL DEFAULT 0, -- 1 where the person's account is deleted too, at the end
    removed     BIGINT NOT NULL DEFAULT 0, -- items so far
    ended_at    BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX team_deletions_under_way ON team_deletions (team_id) WHERE ended_at = 0;

-- +goose Down
DROP TABLE team_deletions;
DROP TABLE pauses;
DROP TABLE recoveries;
DROP TABLE invitations;
DROP TABLE email_proofs;
DROP TABLE directory_identities;
DROP TABLE access_version;
DROP TABLE api_keys;
DROP TABLE memberships;
DROP TABLE teams;
DROP TABLE people;
