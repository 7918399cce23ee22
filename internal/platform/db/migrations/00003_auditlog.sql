-- +goose Up
-- Who did what, when, through which key. Rows are only ever added.
CREATE TABLE events (
    id         {{.Key}},
    team_id    BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    person_id  BIGINT NOT NULL DEFAULT 0,
    key_id     BIGINT NOT NULL DEFAULT 0,
    request_id TEXT NOT NULL DEFAULT '',
    kind       TEXT NOT NULL,
    subject    {{.ID}} NOT NULL,
    detail     TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX events_of_team ON events (team_id, id);
-- One kind of event of a team, the newest first.
CREATE INDEX events_of_kind ON events (team_id, kind, id);
-- When a post was scheduled and unscheduled, for its history.
CREATE INDEX events_of_scheduling ON events (team_id, subject, id) WHERE kind IN ('post.scheduled', 'post.cancelled');
-- The filters of the operator's audit log.
CREATE INDEX events_by_kind ON events (kind, id);
CREATE INDEX events_by_person ON events (person_id, id) WHERE person_id > 0;
CREATE INDEX events_by_subject ON events (subject, id);
-- The days of the operator's audit log.
CREATE INDEX events_by_time ON events (at, id);
{{if .Postgres}}
-- +goose StatementBegin
CREATE FUNCTION events_are_kept() RETURNS trigger AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed';
END $$ LANGUAGE plpgsql;
-- +goose StatementEnd
CREATE TRIGGER events_are_kept BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION events_are_kept();
CREATE TRIGGER events_are_not_emptied BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION events_are_kept();
{{else}}
-- +goose StatementBegin
CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
-- +goose StatementEnd
{{end}}

-- +goose Down
DROP TABLE events;
{{if .Postgres}}DROP FUNCTION events_are_kept;{{end}}
