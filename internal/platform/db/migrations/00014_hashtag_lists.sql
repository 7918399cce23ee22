-- +goose Up
-- A team's own hashtag lists. The ready-made ones come with the program: their ids are below 1,000,000, and they have no row.
CREATE TABLE hashtag_lists (
    id            {{.Key}},
    team_id       BIGINT NOT NULL REFERENCES teams (id),
    name          TEXT NOT NULL,
    platform      TEXT NOT NULL DEFAULT '',      -- empty where it is tied to none
    color         TEXT NOT NULL DEFAULT '',      -- # and six hexadecimal digits in lower case, or empty
    icon          TEXT NOT NULL DEFAULT '',      -- ri- and a name of the icon set, or empty
    size          BIGINT NOT NULL DEFAULT 0 CHECK (size >= 0), -- how many hashtags it has
    last_position BIGINT NOT NULL DEFAULT 0,     -- that was given to a hashtag
    revision      BIGINT NOT NULL DEFAULT 0,     -- counts the changes of what it holds
    created_at    BIGINT NOT NULL,
    CHECK (id >= 1000000)
);
CREATE INDEX hashtag_lists_of_team ON hashtag_lists (team_id, id);
{{if .Postgres}}ALTER TABLE hashtag_lists ALTER COLUMN id RESTART WITH 1000000;{{else}}INSERT INTO sqlite_sequence (name, seq) VALUES ('hashtag_lists', 999999);{{end}}

-- The hashtags of a list, in the order in which they were added.
CREATE TABLE hashtag_list_items (
    list_id     BIGINT NOT NULL REFERENCES hashtag_lists (id) ON DELETE CASCADE,
    position    BIGINT NOT NULL,
    hashtag     {{.ID}} NOT NULL,                -- normalised, without #
    subcategory TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (list_id, position),
    UNIQUE (hashtag, list_id)                    -- which also tells the lists that hold one
){{if not .Postgres}} WITHOUT ROWID{{end}};
-- +goose Down
DROP TABLE hashtag_list_items;
DROP TABLE hashtag_lists;
