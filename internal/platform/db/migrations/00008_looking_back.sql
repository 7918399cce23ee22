-- +goose Up
CREATE INDEX deliveries_shown ON deliveries (account_id, id) WHERE network_id <> '';
CREATE INDEX deliveries_unconfirmed ON deliveries (team_id) WHERE outcome = 'unconfirmed';

-- which frame of a video stands for it, in milliseconds from its beginning; 0 leaves that to the network
ALTER TABLE post_media ADD COLUMN cover_ms BIGINT NOT NULL DEFAULT 0;

-- what an account shows in place of the post's media, where has_media is set
ALTER TABLE post_targets ADD COLUMN has_media BIGINT NOT NULL DEFAULT 0;
CREATE TABLE post_target_media (
    post_id    {{.ID}} NOT NULL,
    account_id BIGINT NOT NULL,
    position   BIGINT NOT NULL,
    media_id   BIGINT NOT NULL REFERENCES media (id),
    cover_ms   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (post_id, account_id, position),
    FOREIGN KEY (post_id, account_id) REFERENCES post_targets (post_id, account_id) ON DELETE CASCADE
);
CREATE INDEX post_target_media_of_media ON post_target_media (media_id);
-- +goose Down
DROP TABLE post_target_media;
ALTER TABLE post_targets DROP COLUMN has_media;
ALTER TABLE post_media DROP COLUMN cover_ms;
DROP INDEX deliveries_unconfirmed;
DROP INDEX deliveries_shown;
