-- +goose Up
-- Posts as a person last typed them without saving. They are offered when the person opens the form again.
CREATE TABLE unsaved_forms (
    person_id BIGINT NOT NULL,
    id        {{.ID}} NOT NULL, -- of the opened form
    team_id   BIGINT NOT NULL,
    post_id   {{.ID}} NOT NULL DEFAULT '', -- empty for a new post
    fields    TEXT NOT NULL, -- as a form is sent; empty once the form was saved
    kept_at   BIGINT NOT NULL,
    PRIMARY KEY (person_id, id)
);
CREATE INDEX unsaved_forms_by_time ON unsaved_forms (kept_at);

-- +goose Down
DROP TABLE unsaved_forms;
