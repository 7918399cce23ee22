-- +goose Up
CREATE TABLE media_folders (
    id         {{.Key}},
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    name       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    UNIQUE (team_id, name)
);

-- The library. A file is in a team's library once: its digest names it.
CREATE TABLE media (
    id            {{.Key}},
    team_id       BIGINT NOT NULL REFERENCES teams (id),
    folder_id     BIGINT NOT NULL DEFAULT 0, -- 0 for none
    sha256        {{.Bytes}} NOT NULL,
    blob          {{.ID}} NOT NULL UNIQUE,            -- where its bytes are
    thumbnail     {{.ID}} NOT NULL DEFAULT '',        -- where those of its thumbnail are; empty where there is none
    thumbnail_type TEXT NOT NULL DEFAULT '',
    name          TEXT NOT NULL,
    file_name     TEXT NOT NULL,
    search        TEXT NOT NULL,                     -- name and file name, folded for comparison
    type          TEXT NOT NULL,                     -- MIME
    kind          TEXT NOT NULL,                     -- image or video
    size_bytes    BIGINT NOT NULL,
    width         BIGINT NOT NULL,
    height        BIGINT NOT NULL,
    duration      BIGINT NOT NULL DEFAULT 0,         -- microseconds
    detail        TEXT NOT NULL DEFAULT '{}',        -- what else the bytes tell: codecs, frame rate, orientation
    alt           TEXT NOT NULL DEFAULT '',
    person_id     BIGINT NOT NULL DEFAULT 0,
    key_id        BIGINT NOT NULL DEFAULT 0,
    created_at    BIGINT NOT NULL,
    UNIQUE (team_id, sha256)
);
CREATE INDEX media_of_team ON media (team_id, id);
CREATE INDEX media_of_folder ON media (team_id, folder_id, id);
CREATE INDEX media_of_kind ON media (team_id, kind, id);
CREATE INDEX media_of_thumbnail ON media (thumbnail) WHERE thumbnail <> '';

-- Bytes on their way to become an item: written before they are stored, taken away by the transaction that adds the
-- item. What stays is what an interrupted arrival left; doomed is being taken away.
CREATE TABLE media_pending (
    blob       {{.ID}} PRIMARY KEY,
    doomed     BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
);
CREATE INDEX media_pending_by_age ON media_pending (created_at);

-- What a team's library takes up: the sum of its items' sizes.
CREATE TABLE storage (
    team_id    BIGINT PRIMARY KEY REFERENCES teams (id),
    used_bytes BIGINT NOT NULL DEFAULT 0 CHECK (used_bytes >= 0)
);

-- A batch of upload links, and the page on which a person uploads. It goes by its job's id.
CREATE TABLE upload_batches (
    job_id     {{.ID}} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    team_id    BIGINT NOT NULL REFERENCES teams (id),
    person_id  BIGINT NOT NULL,
    key_id     BIGINT NOT NULL,
    folder_id  BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    closed_at  BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX upload_batches_open ON upload_batches (team_id) WHERE closed_at = 0;
CREATE INDEX upload_batches_to_close ON upload_batches (expires_at) WHERE closed_at = 0;

CREATE TABLE upload_files (
    id          {{.ID}} PRIMARY KEY, -- what the link goes by
    job_id      {{.ID}} NOT NULL REFERENCES upload_batches (job_id) ON DELETE CASCADE,
    team_id     BIGINT NOT NULL,
    position    BIGINT NOT NULL,
    sha256      {{.Bytes}} NOT NULL,
    size_bytes  BIGINT NOT NULL,
    file_name   TEXT NOT NULL DEFAULT '',
    mime_type   TEXT NOT NULL DEFAULT '',
    secret_hash {{.Bytes}}, -- of the one secret that opens the link; none where there is no link
    state       TEXT NOT NULL, -- waiting, stored, refused, replaced or expired
    by_page     BIGINT NOT NULL DEFAULT 0, -- chosen by a person on the page, not described beforehand
    arrived_at  BIGINT NOT NULL DEFAULT 0, -- when bytes came by the link or the page
    media_id    BIGINT NOT NULL DEFAULT 0,
    reason      TEXT NOT NULL DEFAULT ''
);
CREATE INDEX upload_files_of_batch ON upload_files (job_id, position);
CREATE INDEX upload_files_waiting ON upload_files (team_id) WHERE state = 'waiting';

CREATE TABLE media_imports (
    job_id    {{.ID}} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    team_id   BIGINT NOT NULL,
    person_id BIGINT NOT NULL,
    key_id    BIGINT NOT NULL,
    address   TEXT NOT NULL,
    file_name TEXT NOT NULL DEFAULT '',
    folder_id BIGINT NOT NULL DEFAULT 0,
    media_id  BIGINT NOT NULL DEFAULT 0,
    already   BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE media_downloads (
    job_id    {{.ID}} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    team_id   BIGINT NOT NULL,
    person_id BIGINT NOT NULL,
    key_id    BIGINT NOT NULL,
    platform  TEXT NOT NULL,
    type      TEXT NOT NULL,
    username  TEXT NOT NULL,
    at_cursor TEXT NOT NULL DEFAULT '', -- the source's own
    to_fetch  BIGINT NOT NULL,
    save      BIGINT NOT NULL,
    fetched   BIGINT NOT NULL DEFAULT 0, -- whether the source has answered
    next_cursor TEXT NOT NULL DEFAULT '' -- the source's own
);
CREATE TABLE media_download_items (
    job_id   {{.ID}} NOT NULL REFERENCES media_downloads (job_id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    item     TEXT NOT NULL,
    kind     TEXT NOT NULL,
    address  TEXT NOT NULL, -- the network's own, until the file is fetched; never shown
    taken_at BIGINT NOT NULL DEFAULT 0,
    caption  TEXT NOT NULL DEFAULT '',
    width    BIGINT NOT NULL DEFAULT 0,
    height   BIGINT NOT NULL DEFAULT 0,
    duration BIGINT NOT NULL DEFAULT 0, -- microseconds
    media_id BIGINT NOT NULL DEFAULT 0,
    done     BIGINT NOT NULL DEFAULT 0,
    reason   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (job_id, position)
);

-- Which store of files belongs to this database.
CREATE TABLE blob_store (
    id   BIGINT PRIMARY KEY CHECK (id = 1),
    name {{.ID}} NOT NULL
);

ALTER TABLE posts ADD COLUMN has_media BIGINT NOT NULL DEFAULT 0; -- whether post_media has to be asked
CREATE TABLE post_media (
    post_id  {{.ID}} NOT NULL REFERENCES posts (id),
    position BIGINT NOT NULL,
    media_id BIGINT NOT NULL REFERENCES media (id),
    PRIMARY KEY (post_id, position)
);
CREATE INDEX post_media_of_media ON post_media (media_id);

-- Work that a job's own record wakes up: who is at it, and when it is looked at again.
ALTER TABLE jobs ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN lease_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN wake_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX jobs_to_wake ON jobs (wake_at) WHERE wake_at > 0;
-- +goose Down
DROP INDEX jobs_to_wake;
ALTER TABLE jobs DROP COLUMN wake_at;
ALTER TABLE jobs DROP COLUMN lease_until;
ALTER TABLE jobs DROP COLUMN epoch;
ALTER TABLE jobs DROP COLUMN owner;
DROP TABLE post_media;
DROP TABLE blob_store;
ALTER TABLE posts DROP COLUMN has_media;
DROP TABLE media_download_items;
DROP TABLE media_downloads;
DROP TABLE media_imports;
DROP TABLE upload_files;
DROP TABLE upload_batches;
DROP TABLE storage;
DROP TABLE media_pending;
DROP TABLE media;
DROP TABLE media_folders;
