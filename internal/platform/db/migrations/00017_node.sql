-- +goose Up
-- The restore guard: where this database lives, and whether publishing is held. One row.
CREATE TABLE hold (
    id      BIGINT PRIMARY KEY CHECK (id = 1),
    place   TEXT NOT NULL DEFAULT '', -- where it lives, as JSON; empty until it was first served
    starts  BIGINT NOT NULL DEFAULT 0, -- counts up while it is served; a file beside SQLite's says how far
    held_at BIGINT NOT NULL DEFAULT 0, -- 0 if publishing is not held
    why     TEXT NOT NULL DEFAULT '', -- restored, copied, went_back, failed_over or by_hand
    reason  TEXT NOT NULL DEFAULT '', -- the operator's own words
    since   BIGINT NOT NULL DEFAULT 0 -- from when on something may have gone out that is not known here
);
INSERT INTO hold (id) VALUES (1);

-- Running nodes and their encryption keys, so that a key is not replaced before every node has the new one.
CREATE TABLE nodes (
    id           {{.ID}} PRIMARY KEY,
    sealing_keys TEXT NOT NULL, -- the ids of its keys as a JSON list, the one that seals first
    seen_at      BIGINT NOT NULL -- when it last said so
);

-- Figures of the whole installation, measured by one node for all. Each row is measured on its own.
CREATE TABLE cluster_stats (
    name        {{.ID}} PRIMARY KEY,
    due_at      BIGINT NOT NULL, -- when it is measured next; advanced by the node that takes the turn
    measured_at BIGINT NOT NULL DEFAULT 0, -- 0 for never
    figures     TEXT NOT NULL DEFAULT '[]'
);

-- +goose Down
DROP TABLE cluster_stats;
DROP TABLE nodes;
DROP TABLE hold;
