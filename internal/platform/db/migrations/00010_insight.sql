-- +goose Up
-- When an account's own posts are looked at next. Whoever takes a turn moves due_at behind the longest time that it may
-- last and raises epoch, so that one node has the account and one that comes too late writes nothing.
CREATE TABLE account_collections (
    account_id   BIGINT PRIMARY KEY REFERENCES social_accounts (id) ON DELETE CASCADE,
    due_at       BIGINT NOT NULL,
    epoch        BIGINT NOT NULL DEFAULT 0,
    fails        BIGINT NOT NULL DEFAULT 0, -- turns in a row
    collected_at BIGINT NOT NULL DEFAULT 0, -- when a turn last came to its end; 0 for never
    known_from   BIGINT NOT NULL DEFAULT 0  -- every post since then is known, but for the newest
);
CREATE INDEX account_collections_due ON account_collections (due_at);
INSERT INTO account_collections (account_id, due_at) SELECT id, 1 FROM social_accounts;

-- What a network told of an account's posts, whoever published them. A figure that it never told is NULL.
CREATE TABLE account_posts (
    account_id   BIGINT NOT NULL REFERENCES social_accounts (id) ON DELETE CASCADE,
    network_id   {{.ID}} NOT NULL,
    posted_at    BIGINT NOT NULL,
    format       TEXT NOT NULL,
    excerpt      TEXT NOT NULL,
    url          TEXT NOT NULL,
    reach        BIGINT,
    views        BIGINT,
    likes        BIGINT,
    comments     BIGINT,
    shares       BIGINT,
    saves        BIGINT,
    clicks       BIGINT,
    collected_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, network_id)
);
CREATE INDEX account_posts_by_time ON account_posts (account_id, posted_at);

-- How many followed an account at the end of a day of its team, as far as it was looked at.
CREATE TABLE account_days (
    account_id  BIGINT NOT NULL REFERENCES social_accounts (id) ON DELETE CASCADE,
    day         {{.ID}} NOT NULL, -- YYYY-MM-DD
    followers   BIGINT NOT NULL,
    measured_at BIGINT NOT NULL,
    PRIMARY KEY (account_id, day)
);
-- +goose Down
DROP TABLE account_days;
DROP TABLE account_posts;
DROP TABLE account_collections;
