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
    id              {{.Key}},
    team_id         BIGINT NOT NULL REFERENCES teams (id),
    folder_id       BIGINT NOT NULL DEFAULT 0, -- 0 for none
    sha256          {{.Bytes}} NOT NULL,
    blob            {{.ID}} NOT NULL UNIQUE, -- its bytes
    thumbnail       {{.ID}} NOT NULL DEFAULT '', -- the blob of its thumbnail; empty if it has none
    thumbnail_type  TEXT NOT NULL DEFAULT '',
    name            TEXT NOT NULL,
    file_name       TEXT NOT NULL,
    search          TEXT NOT NULL, -- name and file name, folded for comparison
    type            TEXT NOT NULL, -- MIME
    kind            TEXT NOT NULL, -- image or video
    size_bytes      BIGINT NOT NULL,
    width           BIGINT NOT NULL,
    height          BIGINT NOT NULL,
    duration        BIGINT NOT NULL DEFAULT 0, -- microseconds
    detail          TEXT NOT NULL DEFAULT '{}', -- what else the bytes tell: codecs, frame rate, orientation
    alt             TEXT NOT NULL DEFAULT '',
    person_id       BIGINT NOT NULL DEFAULT 0,
    key_id          BIGINT NOT NULL DEFAULT 0,
    created_at      BIGINT NOT NULL,
    -- When a person deleted the file, and who; 0 while it is there. The row of a file that went out with a post stays for that
    -- post's record: its name, type and size. Its bytes and all that else was known of it are gone.
    deleted_at      BIGINT NOT NULL DEFAULT 0,
    deleted_by      BIGINT NOT NULL DEFAULT 0,
    clean           BIGINT NOT NULL DEFAULT 0,
    original_sha256 {{.Bytes}},
    stored_bytes    BIGINT NOT NULL DEFAULT 0,
    UNIQUE (team_id, sha256)
);
CREATE INDEX media_of_team ON media (team_id, id);
CREATE INDEX media_of_folder ON media (team_id, folder_id, id);
CREATE INDEX media_of_kind ON media (team_id, kind, id);
CREATE INDEX media_of_thumbnail ON media (thumbnail) WHERE thumbnail <> '';
CREATE INDEX media_found ON media (team_id, id, deleted_at, kind, folder_id, search);
CREATE INDEX media_original ON media (team_id, original_sha256) WHERE original_sha256 IS NOT NULL;
-- Images without alternative text.
CREATE INDEX media_undescribed ON media (team_id, kind, alt, id) WHERE kind = 'image' AND alt = '' AND deleted_at = 0;
-- Blobs that are being added: inserted before the bytes are stored, deleted by the transaction that adds the item. Rows that
-- remain belong to interrupted uploads; marked ones are being deleted.
CREATE TABLE media_pending (
    blob       {{.ID}} PRIMARY KEY,
    deleting   BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL
);
CREATE INDEX media_pending_by_age ON media_pending (created_at);

CREATE TABLE media_derived (
    media_id   BIGINT NOT NULL,
    variant    {{.ID}} NOT NULL,
    team_id    BIGINT NOT NULL,
    blob       {{.ID}} NOT NULL DEFAULT '',
    sha256     {{.Bytes}} NOT NULL,
    type       TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    width      BIGINT NOT NULL DEFAULT 0,
    height     BIGINT NOT NULL DEFAULT 0,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (media_id, variant)
);
CREATE UNIQUE INDEX media_derived_blob ON media_derived (blob) WHERE blob <> '';
CREATE INDEX media_derived_age ON media_derived (created_at);

-- The storage that a team uses: the sum of its items' sizes.
CREATE TABLE storage (
    team_id    BIGINT PRIMARY KEY REFERENCES teams (id),
    used_bytes BIGINT NOT NULL DEFAULT 0 CHECK (used_bytes >= 0)
);

-- A batch of upload links, and the page on which a person uploads. It is identified by its job.
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
    id          {{.ID}} PRIMARY KEY, -- the public part of the link
    job_id      {{.ID}} NOT NULL REFERENCES upload_batches (job_id) ON DELETE CASCADE,
    team_id     BIGINT NOT NULL,
    position    BIGINT NOT NULL,
    sha256      {{.Bytes}} NOT NULL,
    size_bytes  BIGINT NOT NULL,
    file_name   TEXT NOT NULL DEFAULT '',
    mime_type   TEXT NOT NULL DEFAULT '',
    secret_hash {{.Bytes}}, -- of the secret that opens the link; NULL if there is no link
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
    job_id      {{.ID}} PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    team_id     BIGINT NOT NULL,
    person_id   BIGINT NOT NULL,
    key_id      BIGINT NOT NULL,
    platform    TEXT NOT NULL,
    type        TEXT NOT NULL,
    username    TEXT NOT NULL,
    at_cursor   TEXT NOT NULL DEFAULT '', -- the source's own
    to_fetch    BIGINT NOT NULL,
    save        BIGINT NOT NULL,
    fetched     BIGINT NOT NULL DEFAULT 0, -- whether the source has answered
    next_cursor TEXT NOT NULL DEFAULT '' -- the source's own
);
-- Finds the downloaded files of a profile, for the thumbnails in its report.
CREATE INDEX media_downloads_of_profile ON media_downloads (team_id, platform, username);

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

-- The file store that belongs to this database.
CREATE TABLE blob_store (
    id   BIGINT PRIMARY KEY CHECK (id = 1),
    name {{.ID}} NOT NULL
);

-- +goose Down
DROP TABLE blob_store;
DROP TABLE media_download_items;
DROP TABLE media_downloads;
DROP TABLE media_imports;
DROP TABLE upload_files;
DROP TABLE upload_batches;
DROP TABLE storage;
DROP TABLE media_derived;
DROP TABLE media_pending;
DROP TABLE media;
DROP TABLE media_folders;
