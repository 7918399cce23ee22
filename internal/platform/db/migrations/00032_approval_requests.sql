-- +goose Up
-- Links by which clients approve posts. A link shows the version of each post that it was made for.
CREATE TABLE approval_requests (
    id          {{.ID}} PRIMARY KEY,
    team_id     BIGINT NOT NULL REFERENCES teams (id),
    person_id   BIGINT NOT NULL, -- who made the link
    schedules   BIGINT NOT NULL DEFAULT 0, -- 1 if posts are scheduled once the client approves them
    email       TEXT NOT NULL DEFAULT '', -- the client's address; empty if the link is not mailed
    mails       BIGINT NOT NULL DEFAULT 0,
    mailed_at   BIGINT NOT NULL DEFAULT 0,
    client_name TEXT NOT NULL DEFAULT '', -- as last entered on the link's page
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    revoked_at  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX approval_requests_of_team ON approval_requests (team_id, id);
CREATE INDEX approval_requests_mailed ON approval_requests (mailed_at) WHERE mailed_at > 0;

CREATE TABLE approval_request_posts (
    request_id {{.ID}} NOT NULL REFERENCES approval_requests (id),
    post_id    {{.ID}} NOT NULL REFERENCES posts (id),
    position   BIGINT NOT NULL,
    round      BIGINT NOT NULL, -- the version that the link shows
    links      BIGINT NOT NULL, -- posts.approval_links when the link was made
    PRIMARY KEY (request_id, post_id)
);
CREATE INDEX approval_request_posts_of_post ON approval_request_posts (post_id);

-- Comments of clients on posts, and the team's answers. Comments on a decision are in post_approvals.
CREATE TABLE approval_comments (
    id          {{.Key}},
    team_id     BIGINT NOT NULL REFERENCES teams (id),
    post_id     {{.ID}} NOT NULL REFERENCES posts (id),
    link        TEXT NOT NULL DEFAULT '', -- by which link a client commented; empty for signed-in people
    person_id   BIGINT NOT NULL DEFAULT 0, -- 0 for a client without an account
    client_name TEXT NOT NULL DEFAULT '', -- of a client
    comment     TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    answered_at BIGINT NOT NULL DEFAULT 0 -- of a client's comment: when it was answered or set aside
);
CREATE INDEX approval_comments_of_post ON approval_comments (post_id, id);
CREATE INDEX approval_comments_of_link ON approval_comments (link, created_at) WHERE link <> '';
CREATE INDEX approval_comments_open ON approval_comments (team_id, id) WHERE answered_at = 0 AND client_name <> '';

-- As whom a post is scheduled once this version is approved; 0 if it is not. If that fails, the code of the error.
ALTER TABLE post_approvals ADD COLUMN schedule_as BIGINT NOT NULL DEFAULT 0;
ALTER TABLE post_approvals ADD COLUMN schedule_error TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE post_approvals DROP COLUMN schedule_error;
ALTER TABLE post_approvals DROP COLUMN schedule_as;
DROP TABLE approval_comments;
DROP TABLE approval_request_posts;
DROP TABLE approval_requests;
