-- +goose Up
-- When the link was mailed; 0 if it was shown to the person who invited.
ALTER TABLE invitations ADD COLUMN mailed_at BIGINT NOT NULL DEFAULT 0;
-- Who accepted and waits until an owner or admin confirms it; 0 if nobody does.
ALTER TABLE invitations ADD COLUMN waiting_person BIGINT NOT NULL DEFAULT 0;
ALTER TABLE invitations ADD COLUMN waiting_since BIGINT NOT NULL DEFAULT 0;
CREATE INDEX invitations_mailed ON invitations (team_id, mailed_at) WHERE mailed_at > 0;
CREATE INDEX invitations_waiting ON invitations (waiting_person) WHERE waiting_person > 0;

-- +goose Down
DROP INDEX invitations_waiting;
DROP INDEX invitations_mailed;
ALTER TABLE invitations DROP COLUMN waiting_since;
ALTER TABLE invitations DROP COLUMN waiting_person;
ALTER TABLE invitations DROP COLUMN mailed_at;
