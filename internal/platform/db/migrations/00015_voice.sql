-- +goose Up
-- Brand voices. A team with voices has exactly one default.
CREATE TABLE brand_voices (
    id         {{.Key}},
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    name       TEXT NOT NULL,
    folded     {{.ID}} NOT NULL, -- the name, as two of them are compared
    is_default BIGINT NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
    guide      TEXT NOT NULL, -- all that a voice says, as JSON
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    UNIQUE (team_id, folded)
);
CREATE INDEX brand_voices_of_team ON brand_voices (team_id, id);
CREATE UNIQUE INDEX brand_voices_default ON brand_voices (team_id) WHERE is_default = 1;

-- Material behind a voice, shown only to the team's writers in the app.
CREATE TABLE voice_materials (
    id         {{.Key}},
    voice_id   BIGINT NOT NULL REFERENCES brand_voices (id) ON DELETE CASCADE,
    kind       TEXT NOT NULL, -- text, link or post
    post_id    {{.ID}} NOT NULL DEFAULT '', -- of a post
    content    TEXT NOT NULL, -- the text, the link, or the post's caption when it was added
    digest     {{.ID}} NOT NULL, -- SHA-256 in hex, which finds duplicates
    created_at BIGINT NOT NULL,
    UNIQUE (voice_id, digest)
);
CREATE INDEX voice_materials_of_voice ON voice_materials (voice_id, id);

-- +goose Down
DROP TABLE voice_materials;
DROP TABLE brand_voices;
