-- +goose Up
-- Where this database lives, and whether it holds back what it would do by itself: one row.
CREATE TABLE hold (
    id       BIGINT PRIMARY KEY CHECK (id = 1),
    place    TEXT NOT NULL DEFAULT '',   -- where it lives, as JSON; empty until it was first served
    starts   BIGINT NOT NULL DEFAULT 0,  -- counts up while it is served; a file beside SQLite's says how far
    held_at  BIGINT NOT NULL DEFAULT 0,  -- 0 where nothing is held
    why      TEXT NOT NULL DEFAULT '',   -- restored, copied, went_back, failed_over or by_hand
    reason   TEXT NOT NULL DEFAULT '',   -- the operator's own words
    since    BIGINT NOT NULL DEFAULT 0   -- from when on something may have gone out that is not known here
);
INSERT INTO hold (id) VALUES (1);
-- +goose Down
DROP TABLE hold;
