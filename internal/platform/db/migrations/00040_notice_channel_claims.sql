-- +goose Up
-- A sender claims a channel apart from the wait after a failure, so that a test or a new address ends only the wait.
ALTER TABLE notice_channels ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;
-- Failures in a row, which decide how long the channel waits.
ALTER TABLE notice_channels ADD COLUMN failures BIGINT NOT NULL DEFAULT 0;
-- error is a code now.
UPDATE notice_channels SET failed_at = 0, error = '';

-- +goose Down
ALTER TABLE notice_channels DROP COLUMN failures;
ALTER TABLE notice_channels DROP COLUMN claimed_until;
