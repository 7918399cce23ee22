-- How far the background is with the hashtags of the ready-made lists, which no team asked for. All nodes share one pace for each
-- platform.

-- +goose Up
CREATE TABLE hashtag_ready (
    platform {{.ID}} PRIMARY KEY,
    place    BIGINT NOT NULL DEFAULT 0, -- of the next hashtag among all of the ready-made lists
    next_at  BIGINT NOT NULL DEFAULT 0  -- when it may be measured
);
INSERT INTO hashtag_ready (platform) VALUES ('instagram'), ('tiktok');

-- +goose Down
DROP TABLE hashtag_ready;
