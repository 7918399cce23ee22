-- +goose Up
-- Links that show a report to people outside the team. The token in the link is not stored.
CREATE TABLE report_links (
    id         {{.Key}},
    team_id    BIGINT NOT NULL,
    report_id  {{.ID}} NOT NULL REFERENCES reports (id) ON DELETE CASCADE,
    token_hash {{.Bytes}} NOT NULL UNIQUE,
    created_by BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    opened_at  BIGINT NOT NULL DEFAULT 0 -- when it was last opened, to the hour; 0 for never
);
CREATE INDEX report_links_of_report ON report_links (report_id, id);
CREATE INDEX report_links_by_end ON report_links (expires_at);

-- +goose Down
DROP TABLE report_links;
