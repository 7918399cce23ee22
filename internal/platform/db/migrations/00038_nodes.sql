-- +goose Up
-- The nodes that serve, as each says of itself now and then: a sealing key is not changed over the head of one.
CREATE TABLE nodes (
    id           {{.ID}} PRIMARY KEY,
    sealing_keys TEXT NOT NULL,  -- the ids of its keys as a JSON list, the one that seals first
    seen_at      BIGINT NOT NULL -- when it last said so
);

-- +goose Down
DROP TABLE nodes;
