-- +goose Up
-- How the whole installation stands, as one node measures it for all of them. Each row is measured by itself.
CREATE TABLE standings (
    name        {{.ID}} PRIMARY KEY,
    due_at      BIGINT NOT NULL,           -- when it is measured next; moved on by whoever takes the turn
    measured_at BIGINT NOT NULL DEFAULT 0, -- 0 where nobody has yet
    figures     TEXT NOT NULL DEFAULT '[]'
);

-- Of the request that began a job, by W3C's traceparent, for whoever follows how it went on; empty where nobody does.
ALTER TABLE jobs ADD COLUMN trace TEXT NOT NULL DEFAULT '';
-- +goose Down
ALTER TABLE jobs DROP COLUMN trace;
DROP TABLE standings;
