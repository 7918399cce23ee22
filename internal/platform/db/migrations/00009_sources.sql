-- +goose Up
-- what Instagram knows a hashtag by: the same for everybody and for ever
CREATE TABLE instagram_hashtags (
    hashtag {{.ID}} PRIMARY KEY,
    id      TEXT NOT NULL
);

-- the operator's accounts that ask for hashtags; who takes a place locks the account's row
CREATE TABLE instagram_hashtag_accounts (
    account {{.ID}} PRIMARY KEY
);

-- which account asked for which hashtag when: each has few places, and a place is taken for days
CREATE TABLE instagram_hashtag_places (
    account  {{.ID}} NOT NULL REFERENCES instagram_hashtag_accounts (account),
    hashtag  {{.ID}} NOT NULL,
    asked_at BIGINT NOT NULL,
    PRIMARY KEY (account, hashtag)
);
-- +goose Down
DROP TABLE instagram_hashtag_places;
DROP TABLE instagram_hashtag_accounts;
DROP TABLE instagram_hashtags;
