-- +goose Up
-- What is known of hashtags, the same for every team: a row for each that somebody saw, wants or measured. Whoever measures
-- one in the background moves due_at behind the longest time that this may last, so that one node has it.
CREATE TABLE hashtags (
    id            {{.Key}},
    platform      TEXT NOT NULL,
    hashtag       {{.ID}} NOT NULL,              -- normalised, without #
    posts         BIGINT,                        -- posts that carry it, in all; null until something is known
    posts_low     BIGINT,                        -- the 95 % interval of an estimate
    posts_high    BIGINT,
    basis         TEXT NOT NULL DEFAULT '',      -- measured or estimated, of posts
    posts_at      BIGINT NOT NULL DEFAULT 0,     -- when a source told of posts
    posts_per_day DOUBLE PRECISION,
    score         DOUBLE PRECISION,              -- 0–100
    measured_at   BIGINT NOT NULL DEFAULT 0,     -- when a source told of it; 0 until then
    missing_at    BIGINT NOT NULL DEFAULT 0,     -- when a source said last that there is none
    seen          BIGINT NOT NULL DEFAULT 0,     -- remembered posts that carry it: its rows of hashtag_links
    wanted_at     BIGINT NOT NULL DEFAULT 0,     -- when somebody asked for it last
    due_at        BIGINT NOT NULL DEFAULT 0,     -- when it is measured in the background next; 0 for never
    turn          BIGINT NOT NULL DEFAULT 0,     -- its place among those that were never measured: the smallest first
    fails         BIGINT NOT NULL DEFAULT 0,     -- attempts in a row
    UNIQUE (platform, hashtag)
);
CREATE INDEX hashtags_unmeasured ON hashtags (platform, turn) WHERE measured_at = 0 AND due_at > 0;
CREATE INDEX hashtags_stale ON hashtags (platform, measured_at) WHERE measured_at > 0 AND due_at > 0;
CREATE INDEX hashtags_crowded ON hashtags (id) WHERE seen > 1000;

-- Counts the changes of figures on a platform: what was made of them is good while it stays.
CREATE TABLE hashtag_versions (
    platform {{.ID}} PRIMARY KEY,
    version  BIGINT NOT NULL DEFAULT 0
);
INSERT INTO hashtag_versions (platform) VALUES ('instagram'), ('tiktok');

-- Posts that were met, for which hashtags they carry.
CREATE TABLE hashtag_posts (
    id       {{.Key}},
    platform TEXT NOT NULL,
    post     {{.ID}} NOT NULL,                   -- the network's id
    hashtags TEXT NOT NULL DEFAULT '',           -- all that it carries, in order, a space between two
    found_by TEXT NOT NULL DEFAULT '',           -- those under which it was met, likewise
    dice     BIGINT NOT NULL,                    -- drawn from its id: the first posts by it are a fair sample of all
    seen_at  BIGINT NOT NULL,                    -- when it was met last
    UNIQUE (platform, post)
);
CREATE INDEX hashtag_posts_sample ON hashtag_posts (platform, dice);
CREATE INDEX hashtag_posts_by_age ON hashtag_posts (seen_at);

-- Which posts carry a hashtag, up to so many of each.
CREATE TABLE hashtag_links (
    hashtag_id BIGINT NOT NULL REFERENCES hashtags (id),
    found      BIGINT NOT NULL,                  -- 1 where the post was met under this hashtag
    post_id    BIGINT NOT NULL REFERENCES hashtag_posts (id),
    PRIMARY KEY (hashtag_id, found, post_id)
);
CREATE UNIQUE INDEX hashtag_links_of_post ON hashtag_links (post_id, hashtag_id);
-- +goose Down
DROP TABLE hashtag_versions;
DROP TABLE hashtag_links;
DROP TABLE hashtag_posts;
DROP TABLE hashtags;
