-- +goose Up
-- What series repeat stands among a team's posts and is counted with none of them: counting it looks at nothing else.
CREATE INDEX posts_repeated ON posts (team_id, status) WHERE is_template = 1;
-- +goose Down
DROP INDEX posts_repeated;
