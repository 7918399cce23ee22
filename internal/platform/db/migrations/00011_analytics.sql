-- +goose Up
-- When an account's own posts are collected next. A node that takes the turn moves due_at past the turn's longest duration
-- and increments epoch, so that one node collects and a late one writes nothing.
CREATE TABLE account_collections (
    account_id   BIGINT PRIMARY KEY REFERENCES social_accounts (id) ON DELETE CASCADE,
    due_at       BIGINT NOT NULL,
    epoch        BIGINT NOT NULL DEFAULT 0,
    fails        BIGINT NOT NULL DEFAULT 0, -- turns in a row
    collected_at BIGINT NOT NULL DEFAULT 0, -- when a turn last came to its end; 0 for never
    known_from   BIGINT NOT NULL DEFAULT 0, -- every post since then is known, but for the newest
    -- The class of the network error that ended the last turn; empty if there was none.
    failed_by    TEXT NOT NULL DEFAULT ''
);
CREATE INDEX account_collections_due ON account_collections (due_at);

-- Figures of an account's posts, including those published elsewhere. A figure that the network never reported is NULL.
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

-- Followers of an account at the end of each of its team's days.
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
