-- +goose Up
-- Where in a hashtag three characters can begin, when a sign for the beginning stands before it. A hashtag has at most
-- 100 characters.
CREATE TABLE hashtag_offsets (at INTEGER PRIMARY KEY);
INSERT INTO hashtag_offsets (at) WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 99) SELECT at FROM n;

-- Which hashtags hold which three characters, the largest first: what they are found by when only a part is known.
-- The first of them are ^ and the first two characters. The triggers below keep it; nothing else writes here.
-- No full text search is in both of the SQLite drivers, and none gives the largest first without reading all.
CREATE TABLE hashtag_grams (
    platform   TEXT NOT NULL,
    gram       {{.ID}} NOT NULL,
    place      BIGINT NOT NULL,                  -- the posts below 0, so that the largest is first; 1 where they are not known
    hashtag_id BIGINT NOT NULL,
    hashtag    {{.ID}} NOT NULL,                 -- up to 32 characters, so that reading along needs nothing else; empty for a longer one
    PRIMARY KEY (platform, gram, place, hashtag_id){{if .Postgres}} INCLUDE (hashtag){{end}}
){{if not .Postgres}} WITHOUT ROWID{{end}};
INSERT INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
    SELECT DISTINCT h.platform, SUBSTR('^' || h.hashtag, o.at, 3), COALESCE(-h.posts, 1), h.id,
        CASE WHEN LENGTH(h.hashtag) <= 32 THEN h.hashtag ELSE '' END
    FROM hashtags h JOIN hashtag_offsets o ON o.at < LENGTH(h.hashtag);
{{if .Postgres}}
-- +goose StatementBegin
CREATE FUNCTION hashtags_become_found() RETURNS trigger AS $$
BEGIN
    INSERT INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
        SELECT DISTINCT h.platform, SUBSTR('^' || h.hashtag, o.at, 3), COALESCE(-h.posts, 1), h.id,
            CASE WHEN LENGTH(h.hashtag) <= 32 THEN h.hashtag ELSE '' END
        FROM added h JOIN hashtag_offsets o ON o.at < LENGTH(h.hashtag);
    RETURN NULL;
END $$ LANGUAGE plpgsql;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION hashtag_is_moved() RETURNS trigger AS $$
BEGIN
    DELETE FROM hashtag_grams WHERE platform = OLD.platform AND place = COALESCE(-OLD.posts, 1) AND hashtag_id = OLD.id
        AND gram IN (SELECT SUBSTR('^' || OLD.hashtag, at, 3) FROM hashtag_offsets WHERE at < LENGTH(OLD.hashtag));
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
            SELECT DISTINCT NEW.platform, SUBSTR('^' || NEW.hashtag, at, 3), COALESCE(-NEW.posts, 1), NEW.id,
                CASE WHEN LENGTH(NEW.hashtag) <= 32 THEN NEW.hashtag ELSE '' END
            FROM hashtag_offsets WHERE at < LENGTH(NEW.hashtag);
    END IF;
    RETURN NULL;
END $$ LANGUAGE plpgsql;
-- +goose StatementEnd
CREATE TRIGGER hashtags_become_found AFTER INSERT ON hashtags REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION hashtags_become_found();
CREATE TRIGGER hashtag_is_moved AFTER UPDATE OF id, platform, hashtag, posts ON hashtags FOR EACH ROW
    WHEN ((OLD.id, OLD.platform, OLD.hashtag, OLD.posts) IS DISTINCT FROM (NEW.id, NEW.platform, NEW.hashtag, NEW.posts))
    EXECUTE FUNCTION hashtag_is_moved();
CREATE TRIGGER hashtag_is_gone AFTER DELETE ON hashtags FOR EACH ROW EXECUTE FUNCTION hashtag_is_moved();
{{else}}
-- +goose StatementBegin
CREATE TRIGGER hashtags_become_found AFTER INSERT ON hashtags BEGIN
    INSERT INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
        SELECT DISTINCT NEW.platform, SUBSTR('^' || NEW.hashtag, at, 3), COALESCE(-NEW.posts, 1), NEW.id,
            CASE WHEN LENGTH(NEW.hashtag) <= 32 THEN NEW.hashtag ELSE '' END
        FROM hashtag_offsets WHERE at < LENGTH(NEW.hashtag);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER hashtag_is_moved AFTER UPDATE OF id, platform, hashtag, posts ON hashtags
WHEN OLD.id <> NEW.id OR OLD.platform <> NEW.platform OR OLD.hashtag <> NEW.hashtag OR OLD.posts IS NOT NEW.posts BEGIN
    DELETE FROM hashtag_grams WHERE platform = OLD.platform AND place = COALESCE(-OLD.posts, 1) AND hashtag_id = OLD.id
        AND gram IN (SELECT SUBSTR('^' || OLD.hashtag, at, 3) FROM hashtag_offsets WHERE at < LENGTH(OLD.hashtag));
    INSERT INTO hashtag_grams (platform, gram, place, hashtag_id, hashtag)
        SELECT DISTINCT NEW.platform, SUBSTR('^' || NEW.hashtag, at, 3), COALESCE(-NEW.posts, 1), NEW.id,
            CASE WHEN LENGTH(NEW.hashtag) <= 32 THEN NEW.hashtag ELSE '' END
        FROM hashtag_offsets WHERE at < LENGTH(NEW.hashtag);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER hashtag_is_gone AFTER DELETE ON hashtags BEGIN
    DELETE FROM hashtag_grams WHERE platform = OLD.platform AND place = COALESCE(-OLD.posts, 1) AND hashtag_id = OLD.id
        AND gram IN (SELECT SUBSTR('^' || OLD.hashtag, at, 3) FROM hashtag_offsets WHERE at < LENGTH(OLD.hashtag));
END;
-- +goose StatementEnd
{{end}}
-- +goose Down
{{if .Postgres}}
DROP TRIGGER hashtag_is_gone ON hashtags;
DROP TRIGGER hashtag_is_moved ON hashtags;
DROP TRIGGER hashtags_become_found ON hashtags;
DROP FUNCTION hashtag_is_moved;
DROP FUNCTION hashtags_become_found;
{{else}}
DROP TRIGGER hashtag_is_gone;
DROP TRIGGER hashtag_is_moved;
DROP TRIGGER hashtags_become_found;
{{end}}
DROP TABLE hashtag_grams;
DROP TABLE hashtag_offsets;
