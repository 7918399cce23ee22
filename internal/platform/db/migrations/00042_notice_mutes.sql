-- +goose Up
-- The kinds of notification that a person does not want to see in the app.
CREATE TABLE notice_mutes (
    person_id BIGINT NOT NULL,
    kind      TEXT NOT NULL,
    PRIMARY KEY (person_id, kind)
);

-- +goose Down
DROP TABLE notice_mutes;
