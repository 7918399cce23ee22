-- +goose Up
-- When somebody outside the team opened the page of a link last, to the minute; 0 for never.
ALTER TABLE approval_requests ADD COLUMN opened_at BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE approval_requests DROP COLUMN opened_at;
