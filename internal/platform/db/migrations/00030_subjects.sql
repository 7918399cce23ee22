-- +goose Up
-- What paid work was about, from its end on: a statement tells of it for longer than the record of the work is kept. It
-- holds names, unlike the ledger, and goes with its team.
CREATE TABLE paid_subjects (
    reservation_id BIGINT PRIMARY KEY REFERENCES reservations (id),
    team_id        BIGINT NOT NULL,
    kind           TEXT NOT NULL,              -- of a report: profile or hashtag; else empty
    report_id      {{.ID}} NOT NULL,           -- where the work was a report; else empty
    platform       TEXT NOT NULL,
    subject        TEXT NOT NULL               -- the user name, hashtag or keyword, normalised
);
CREATE INDEX paid_subjects_of_team ON paid_subjects (team_id, reservation_id);

INSERT INTO paid_subjects (reservation_id, team_id, kind, report_id, platform, subject)
SELECT p.id, p.team_id, COALESCE(r.kind, ''), COALESCE(r.id, ''), COALESCE(r.platform, h.platform, m.platform), COALESCE(r.subject, h.words, m.username)
FROM reservations p JOIN jobs j ON j.id = (SELECT MIN(f.id) FROM jobs f WHERE f.reservation_id = p.id AND f.reservation_id > 0)
LEFT JOIN reports r ON r.id = j.subject AND r.team_id = j.team_id LEFT JOIN hashtag_search_jobs h ON h.job_id = j.id LEFT JOIN media_downloads m ON m.job_id = j.id
WHERE p.state = 'settled' AND COALESCE(r.subject, h.words, m.username, '') <> '';

-- Drafts by their times: those whose time has passed wait for a person, among any number of posts that went out.
CREATE INDEX posts_planned ON posts (team_id, slot_at, id) WHERE status = 'draft' AND slot_at > 0 AND is_template = 0;

-- Whose permission an account's grant is was not noted once. Networks tell when it is renewed: that is done now, some grants a
-- minute, so that what their people ask to be deleted is found.
UPDATE social_accounts SET refresh_at = 1 WHERE grant_holder = '' AND refresh_at > 1 AND disconnected_at = 0 AND connection_state <> 'lost'
    AND platform IN ('facebook', 'instagram', 'threads');
-- +goose Down
DROP INDEX posts_planned;
DROP TABLE paid_subjects;
