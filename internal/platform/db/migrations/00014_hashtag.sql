-- +goose Up
-- Hashtag statistics, shared by all teams. A node that measures one in the background moves due_at past the longest duration
-- of a measurement, so that only one node does.
CREATE TABLE hashtags (
    id            {{.Key}},
    platform      TEXT NOT NULL,
    hashtag       {{.ID}} NOT NULL, -- normalised, without #
    posts         BIGINT, -- posts that carry it, in all; null until something is known
    posts_low     BIGINT, -- the 95 % interval of an estimate
    posts_high    BIGINT,
    basis         TEXT NOT NULL DEFAULT '', -- measured or estimated, of posts
    posts_at      BIGINT NOT NULL DEFAULT 0, -- when a provider reported posts
    posts_per_day DOUBLE PRECISION,
    score         DOUBLE PRECISION, -- 0–100
    measured_at   BIGINT NOT NULL DEFAULT 0, -- when a provider reported figures; 0 for never
    missing_at    BIGINT NOT NULL DEFAULT 0, -- when a source said last that there is none
    seen          BIGINT NOT NULL DEFAULT 0, -- remembered posts that carry it: its rows of hashtag_links
    wanted_at     BIGINT NOT NULL DEFAULT 0, -- when somebody asked for it last
    due_at        BIGINT NOT NULL DEFAULT 0, -- when it is measured in the background next; 0 for never
    turn          BIGINT NOT NULL DEFAULT 0, -- its place among those that were never measured: the smallest first
    fails         BIGINT NOT NULL DEFAULT 0, -- attempts in a row
    UNIQUE (platform, hashtag)
);
CREATE INDEX hashtags_unmeasured ON hashtags (platform, turn) WHERE measured_at = 0 AND due_at > 0;
CREATE INDEX hashtags_stale ON hashtags (platform, measured_at) WHERE measured_at > 0 AND due_at > 0;
CREATE INDEX hashtags_crowded ON hashtags (id) WHERE seen > 1000;

-- Incremented with every change of a platform's figures, which invalidates caches.
CREATE TABLE hashtag_versions (
    platform {{.ID}} PRIMARY KEY,
    version  BIGINT NOT NULL DEFAULT 0
);
INSERT INTO hashtag_versions (platform) VALUES ('instagram'), ('tiktok');

-- Posts that were seen, with the hashtags they carry.
CREATE TABLE hashtag_posts (
    id       {{.Key}},
    platform TEXT NOT NULL,
    post     {{.ID}} NOT NULL, -- the network's id
    hashtags TEXT NOT NULL DEFAULT '', -- all that it carries, in order, a space between two
    found_by TEXT NOT NULL DEFAULT '', -- those under which it was met, likewise
    dice     BIGINT NOT NULL, -- drawn from its id: the first posts by it are a fair sample of all
    seen_at  BIGINT NOT NULL, -- when it was met last
    UNIQUE (platform, post)
);
CREATE INDEX hashtag_posts_sample ON hashtag_posts (platform, dice);
CREATE INDEX hashtag_posts_by_age ON hashtag_posts (seen_at);

-- Which posts carry a hashtag, up to a limit for each hashtag.
CREATE TABLE hashtag_links (
    hashtag_id BIGINT NOT NULL REFERENCES hashtags (id),
    found      BIGINT NOT NULL, -- 1 where the post was met under this hashtag
    post_id    BIGINT NOT NULL REFERENCES hashtag_posts (id),
    PRIMARY KEY (hashtag_id, found, post_id)
);
CREATE UNIQUE INDEX hashtag_links_of_post ON hashtag_links (post_id, hashtag_id);

-- Offsets of trigrams in a hashtag that is prefixed with ^. A hashtag has at most 100 characters.
CREATE TABLE hashtag_offsets (at INTEGER PRIMARY KEY);
INSERT INTO hashtag_offsets (at) WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 99) SELECT at FROM n;
-- Trigrams of hashtags, largest hashtag first, for substring search. The first trigram is ^ and two characters. Only the
-- triggers below write here. Full-text search is missing from one SQLite driver and cannot return the largest first.
CREATE TABLE hashtag_grams (
    platform      TEXT NOT NULL,
    gram          {{.ID}} NOT NULL,
    place         BIGINT NOT NULL, -- the posts below 0, so that the largest is first; 1 where they are not known
    hashtag_id    BIGINT NOT NULL,
    hashtag       {{.ID}} NOT NULL, -- up to 32 characters, so that reading along needs nothing else; empty for a longer one
    PRIMARY KEY (platform, gram, place, hashtag_id){{if .Postgres}} INCLUDE (hashtag){{end}}
){{if not .Postgres}} WITHOUT ROWID{{end}};
{{if .Postgres}}
-- +goose StatementBegin
CREATE FUNCTION hashtags_become_found() RETURNS trigger AS $$
BEGIN
    INSERT        INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
        SELECT DISTINCT h.platform, SUBSTR('^' || h.hashtag, o.at, 3), COALESCE(-h.posts, 1), h.id,
            CASE WHEN LENGTH(h.hashtag) <= 32 THEN h.hashtag ELSE '' END
        FROM added h JOIN hashtag_offsets o ON o.at < LENGTH(h.hashtag);
    RETURN        NULL;
END $$ LANGUAGE plpgsql;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION hashtag_is_moved() RETURNS trigger AS $$
BEGIN
    DELETE        FROM hashtag_grams WHERE platform = OLD.platform AND place = COALESCE(-OLD.posts, 1) AND hashtag_id = OLD.id
        AND gram IN (SELECT SUBSTR('^' || OLD.hashtag, at, 3) FROM hashtag_offsets WHERE at < LENGTH(OLD.hashtag));
    IF            TG_OP = 'UPDATE' THEN
        INSERT INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
            SELECT DISTINCT NEW.platform, SUBSTR('^' || NEW.hashtag, at, 3), COALESCE(-NEW.posts, 1), NEW.id,
                CASE WHEN LENGTH(NEW.hashtag) <= 32 THEN NEW.hashtag ELSE '' END
            FROM hashtag_offsets WHERE at < LENGTH(NEW.hashtag);
    END           IF;
    RETURN        NULL;
END $$ LANGUAGE plpgsql;
-- +goose StatementEnd
CREATE TRIGGER hashtags_become_found AFTER INSERT ON hashtags REFERENCING NEW TABLE AS added
    FOR           EACH STATEMENT EXECUTE FUNCTION hashtags_become_found();
CREATE TRIGGER hashtag_is_moved AFTER UPDATE OF id, platform, hashtag, posts ON hashtags FOR EACH ROW
    WHEN          ((OLD.id, OLD.platform, OLD.hashtag, OLD.posts) IS DISTINCT FROM (NEW.id, NEW.platform, NEW.hashtag, NEW.posts))
    EXECUTE       FUNCTION hashtag_is_moved();
CREATE TRIGGER hashtag_is_gone AFTER DELETE ON hashtags FOR EACH ROW EXECUTE FUNCTION hashtag_is_moved();
{{else}}
-- +goose StatementBegin
CREATE TRIGGER hashtags_become_found AFTER INSERT ON hashtags BEGIN
    INSERT        INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
        SELECT DISTINCT NEW.platform, SUBSTR('^' || NEW.hashtag, at, 3), COALESCE(-NEW.posts, 1), NEW.id,
            CASE WHEN LENGTH(NEW.hashtag) <= 32 THEN NEW.hashtag ELSE '' END
        FROM hashtag_offsets WHERE at < LENGTH(NEW.hashtag);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER hashtag_is_moved AFTER UPDATE OF id, platform, hashtag, posts ON hashtags
WHEN OLD.id <> NEW.id OR OLD.platform <> NEW.platform OR OLD.hashtag <> NEW.hashtag OR OLD.posts IS NOT NEW.posts BEGIN
    DELETE        FROM hashtag_grams WHERE platform = OLD.platform AND place = COALESCE(-OLD.posts, 1) AND hashtag_id = OLD.id
        AND gram IN (SELECT SUBSTR('^' || OLD.hashtag, at, 3) FROM hashtag_offsets WHERE at < LENGTH(OLD.hashtag));
    INSERT        INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
        SELECT DISTINCT NEW.platform, SUBSTR('^' || NEW.hashtag, at, 3), COALESCE(-NEW.posts, 1), NEW.id,
            CASE WHEN LENGTH(NEW.hashtag) <= 32 THEN NEW.hashtag ELSE '' END
        FROM hashtag_offsets WHERE at < LENGTH(NEW.hashtag);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER hashtag_is_gone AFTER DELETE ON hashtags BEGIN
    DELETE        FROM hashtag_grams WHERE platform = OLD.platform AND place = COALESCE(-OLD.posts, 1) AND hashtag_id = OLD.id
        AND gram IN (SELECT SUBSTR('^' || OLD.hashtag, at, 3) FROM hashtag_offsets WHERE at < LENGTH(OLD.hashtag));
END;
-- +goose StatementEnd
{{end}}

-- A team's own hashtag lists. Ready-made lists are part of the program: their ids are below 1,000,000, and they have no row.
CREATE TABLE hashtag_lists (
    id            {{.Key}},
    team_id       BIGINT NOT NULL REFERENCES teams (id),
    name          TEXT NOT NULL,
    platform      TEXT NOT NULL DEFAULT '', -- empty for all platforms
    color         TEXT NOT NULL DEFAULT '', -- # and six hexadecimal digits in lower case, or empty
    icon          TEXT NOT NULL DEFAULT '', -- ri- and a name of the icon set, or empty
    size          BIGINT NOT NULL DEFAULT 0 CHECK (size >= 0), -- how many hashtags it has
    last_position BIGINT NOT NULL DEFAULT 0, -- that was given to a hashtag
    revision      BIGINT NOT NULL DEFAULT 0, -- counts the changes of what it holds
    created_at    BIGINT NOT NULL,
    CHECK (id >= 1000000)
);
CREATE INDEX hashtag_lists_of_team ON hashtag_lists (team_id, id);
{{if .Postgres}}ALTER TABLE hashtag_lists ALTER COLUMN id RESTART WITH 1000000;{{else}}INSERT INTO sqlite_sequence (name, seq) VALUES ('hashtag_lists', 999999);{{end}}
-- The hashtags of a list, in the order in which they were added.
CREATE TABLE hashtag_list_items (
    list_id     BIGINT NOT NULL REFERENCES hashtag_lists (id) ON DELETE CASCADE,
    position    BIGINT NOT NULL,
    hashtag     {{.ID}} NOT NULL, -- normalised, without #
    subcategory TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (list_id, position),
    UNIQUE (hashtag, list_id)                    -- also finds the lists that hold a hashtag
){{if not .Postgres}} WITHOUT ROWID{{end}};

CREATE TABLE hashtag_ready (
    platform    {{.ID}} PRIMARY KEY,
    place       BIGINT NOT NULL DEFAULT 0, -- of the next hashtag among all of the ready-made lists
    next_at     BIGINT NOT NULL DEFAULT 0 -- when it may be measured
);
INSERT INTO hashtag_ready (platform) VALUES ('instagram'), ('tiktok');

-- A team's hashtag searches: a keyword on a platform, paid for once until paid_until.
CREATE TABLE hashtag_searches (
    id         {{.Key}},
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    platform   TEXT NOT NULL,
    keyword    {{.ID}} NOT NULL, -- its words, each once, sorted
    job_id     {{.ID}} NOT NULL DEFAULT '', -- of the search under way
    result_of  {{.ID}} NOT NULL DEFAULT '', -- the job whose result is served again
    paid_until BIGINT NOT NULL DEFAULT 0, -- 0 while nothing was paid
    UNIQUE (team_id, platform, keyword)
);
CREATE INDEX hashtag_searches_over ON hashtag_searches (paid_until) WHERE job_id = '';

-- The input and notes of a search's job.
CREATE TABLE hashtag_search_jobs (
    job_id        {{.ID}} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    search_id     BIGINT NOT NULL,
    platform      TEXT NOT NULL,
    words         TEXT NOT NULL, -- as they were typed, normalised
    covered_until BIGINT NOT NULL DEFAULT 0, -- until when an earlier search covers it; 0 if it is paid for itself
    notes         TEXT NOT NULL DEFAULT '[]'
);

-- Answers of the provider so far: a job that starts over queries nothing twice.
CREATE TABLE hashtag_search_answers (
    job_id  {{.ID}} NOT NULL REFERENCES hashtag_search_jobs (job_id) ON DELETE CASCADE,
    hashtag {{.ID}} NOT NULL,
    found   BIGINT NOT NULL, -- 0 if the hashtag does not exist
    PRIMARY KEY (job_id, hashtag)
);

-- Results of a job, in the order shown.
CREATE TABLE hashtag_search_results (
    job_id      {{.ID}} NOT NULL REFERENCES hashtag_search_jobs (job_id) ON DELETE CASCADE,
    part        TEXT NOT NULL, -- hashtags, incomplete or related
    position    BIGINT NOT NULL,
    measured_at BIGINT NOT NULL DEFAULT 0, -- when a provider reported the hashtag
    entry       TEXT NOT NULL,
    PRIMARY KEY (job_id, part, position)
);

-- +goose Down
DROP TABLE hashtag_search_results;
DROP TABLE hashtag_search_answers;
DROP TABLE hashtag_search_jobs;
DROP TABLE hashtag_searches;
DROP TABLE hashtag_ready;
DROP TABLE hashtag_list_items;
DROP TABLE hashtag_lists;
DROP TABLE hashtag_grams;
DROP TABLE hashtag_offsets;
DROP TABLE hashtag_links;
DROP TABLE hashtag_posts;
DROP TABLE hashtag_versions;
DROP TABLE hashtags;
{{if .Postgres}}
DROP FUNCTION hashtag_is_moved;
DROP FUNCTION hashtags_become_found;
{{end}}
