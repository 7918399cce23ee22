-- +goose Up
-- The filters of the operator's audit log.
CREATE INDEX events_by_kind ON events (kind, id);
CREATE INDEX events_by_person ON events (person_id, id) WHERE person_id > 0;
CREATE INDEX events_by_subject ON events (subject, id);

-- +goose Down
DROP INDEX events_by_subject;
DROP INDEX events_by_person;
DROP INDEX events_by_kind;
