-- +goose Up
-- What a team searches hashtags for: a keyword on a platform, which it pays for once until its time is over.
CREATE TABLE hashtag_searches (
    id         {{.Key}},
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    platform   TEXT NOT NULL,
    keyword    {{.ID}} NOT NULL,                 -- its words, each once, sorted
    job_id     {{.ID}} NOT NULL DEFAULT '',      -- of the search under way
    result_of  {{.ID}} NOT NULL DEFAULT '',      -- the job whose result is served again
    paid_until BIGINT NOT NULL DEFAULT 0,        -- 0 while nothing was paid
    UNIQUE (team_id, platform, keyword)
);
CREATE INDEX hashtag_searches_over ON hashtag_searches (paid_until) WHERE job_id = '';

-- What a job of a search looks for, and what it has to say.
CREATE TABLE hashtag_search_jobs (
    job_id        {{.ID}} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    search_id     BIGINT NOT NULL,
    platform      TEXT NOT NULL,
    words         TEXT NOT NULL,                 -- as they were typed, normalised
    covered_until BIGINT NOT NULL DEFAULT 0,     -- until when it is paid for by something else; 0 where it is paid for itself
    notes         TEXT NOT NULL DEFAULT '[]'
);

-- What the source said to a job so far: it may begin again, and asks for nothing twice.
CREATE TABLE hashtag_search_answers (
    job_id  {{.ID}} NOT NULL REFERENCES hashtag_search_jobs (job_id) ON DELETE CASCADE,
    hashtag {{.ID}} NOT NULL,
    found   BIGINT NOT NULL,                     -- 0 where there is no such hashtag
    PRIMARY KEY (job_id, hashtag)
);

-- What a job found, in the order in which it is shown.
CREATE TABLE hashtag_search_results (
    job_id      {{.ID}} NOT NULL REFERENCES hashtag_search_jobs (job_id) ON DELETE CASCADE,
    part        TEXT NOT NULL,                   -- hashtags, incomplete or related
    position    BIGINT NOT NULL,
    measured_at BIGINT NOT NULL DEFAULT 0,       -- when a source told of the hashtag
    entry       TEXT NOT NULL,
    PRIMARY KEY (job_id, part, position)
);
-- +goose Down
DROP TABLE hashtag_search_results;
DROP TABLE hashtag_search_answers;
DROP TABLE hashtag_search_jobs;
DROP TABLE hashtag_searches;
