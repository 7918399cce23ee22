-- +goose Up
-- The recipient of the mail that has the link; 0 for a link that a person made.
ALTER TABLE report_links ADD COLUMN recipient_id BIGINT NOT NULL DEFAULT 0;
CREATE INDEX report_links_of_recipient ON report_links (recipient_id) WHERE recipient_id > 0;

-- +goose Down
DROP INDEX report_links_of_recipient;
ALTER TABLE report_links DROP COLUMN recipient_id;
