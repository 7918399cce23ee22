-- +goose Up
-- The profile pictures of accounts, as thumbnails of a few kilobytes. They are deleted with what else was collected.
CREATE TABLE account_pictures (
    account_id BIGINT PRIMARY KEY REFERENCES social_accounts (id) ON DELETE CASCADE,
    source     {{.Bytes}} NOT NULL, -- SHA-256 of the URL at the network
    type       TEXT NOT NULL, -- MIME
    image      {{.Bytes}} NOT NULL,
    fetched_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE account_pictures;
