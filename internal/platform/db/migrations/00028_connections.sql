-- +goose Up
-- A row is an API key, or an assistant's connection: a person's leave to a program that came with a token of its own. Both are
-- counted, limited and remembered by the same id. The hash of a connection is random, so that no credential is found by it.
ALTER TABLE api_keys ADD COLUMN kind TEXT NOT NULL DEFAULT 'key';         -- key or assistant
ALTER TABLE api_keys ADD COLUMN capabilities TEXT NOT NULL DEFAULT '';    -- of a connection: what was granted, with commas between
ALTER TABLE api_keys ADD COLUMN client_id TEXT NOT NULL DEFAULT '';       -- of a connection: by which its program is known
ALTER TABLE api_keys ADD COLUMN client_host TEXT NOT NULL DEFAULT '';     -- of a connection: the host that its program answers at
CREATE INDEX api_keys_of_kind ON api_keys (team_id, kind, id);
CREATE INDEX api_keys_of_person ON api_keys (person_id, id) WHERE kind = 'assistant';
-- +goose Down
DROP INDEX api_keys_of_person;
DROP INDEX api_keys_of_kind;
UPDATE api_keys SET revoked_at = created_at WHERE kind = 'assistant' AND revoked_at = 0;
ALTER TABLE api_keys DROP COLUMN client_host;
ALTER TABLE api_keys DROP COLUMN client_id;
ALTER TABLE api_keys DROP COLUMN capabilities;
ALTER TABLE api_keys DROP COLUMN kind;
