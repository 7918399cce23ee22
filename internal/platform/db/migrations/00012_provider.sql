-- +goose Up
-- Instagram's permanent ids of hashtags
CREATE TABLE instagram_hashtags (
    hashtag {{.ID}} PRIMARY KEY,
    id      TEXT NOT NULL
);

-- the operator's accounts that query hashtags; their rows are locked while a place is taken
CREATE TABLE instagram_hashtag_accounts (
    account {{.ID}} PRIMARY KEY
);

-- which account queried which hashtag, and when: Instagram allows each account few hashtags in seven days
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
