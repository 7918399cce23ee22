-- +goose Up
-- What the team writes to the client above the posts of a link; empty for nothing.
ALTER TABLE approval_requests ADD COLUMN message TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE approval_requests DROP COLUMN message;
