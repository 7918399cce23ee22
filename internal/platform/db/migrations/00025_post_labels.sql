-- +goose Up
-- The labels of a post, in order. They are for the team and are not published.
CREATE TABLE post_labels (
    post_id  {{.ID}} NOT NULL REFERENCES posts (id),
    position BIGINT NOT NULL,
    label    TEXT NOT NULL,
    PRIMARY KEY (post_id, position)
);

-- +goose Down
DROP TABLE post_labels;
