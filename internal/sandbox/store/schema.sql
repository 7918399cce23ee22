-- The data of the sandbox networks. Times are Unix milliseconds. "id" is the ID that the network's API uses.

create table if not exists settings (
    name  text primary key,
    value blob not null
) strict;

create table if not exists accounts (
    platform     text not null,
    id           text not null,
    handle       text not null,
    display_name text not null,
    password     blob not null,   -- keyed hash
    primary key (platform, id),
    unique (platform, handle)
) strict;

-- A session is one sign-in. When it ends, all its tokens become invalid.
create table if not exists sessions (
    platform text not null,
    id       text not null,
    account  text not null,
    dead     integer not null default 0, -- 1 after the session has ended
    primary key (platform, id)
) strict;

create table if not exists refresh_tokens (
    platform   text not null,
    id         text not null,
    session    text not null,
    expires_at integer not null,
    next       text,              -- id of the token that it was exchanged for
    primary key (platform, id),
    foreign key (platform, session) references sessions (platform, id)
) strict;

-- Published posts. Deleting a post deletes its row.
create table if not exists posts (
    seq      integer primary key,
    platform text not null,
    account  text not null,
    id       text not null,
    text     text not null,
    media    text not null,       -- JSON array of path, type and alt text
    at       integer not null,    -- time that the network shows
    version  text not null,       -- changes with the content
    body     blob not null,       -- in the network's own format
    unique (platform, id),
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- Records of accounts on Bluesky that are not posts.
create table if not exists records (
    platform text not null,
    account  text not null,
    id       text not null,       -- AT URI
    version  text not null,
    body     blob not null,
    primary key (platform, id),
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- Uploaded files. Their bytes are in the folder "blobs" in files with the cid as name.
create table if not exists blobs (
    platform text not null,
    account  text not null,
    cid      text not null,       -- content identifier
    type     text not null,       -- MIME
    size     integer not null,    -- bytes
    primary key (platform, account, cid),
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- Codes and tokens of networks with OAuth. Only the client knows their text.
create table if not exists oauth_tokens (
    platform   text not null,
    hash       blob not null,     -- keyed hash of the text
    kind       text not null,     -- code, access or refresh
    session    text not null,
    account    text not null,
    client     text not null,     -- ID of the app
    redirect   text not null,     -- redirect URI of a code
    challenge  text not null,     -- PKCE challenge of a code; may be empty
    issued_at  integer not null,
    expires_at integer not null,
    spent      integer not null default 0, -- 1 after a code or a refresh token was used
    primary key (platform, hash),
    foreign key (platform, session) references sessions (platform, id)
) strict;

-- Scopes that were granted to a session.
create table if not exists oauth_scopes (
    platform text not null,
    session  text not null,
    scopes   text not null,       -- separated by spaces
    primary key (platform, session),
    foreign key (platform, session) references sessions (platform, id)
) strict;

-- Posts of Instagram and Threads that are prepared before they are published.
create table if not exists containers (
    seq       integer primary key, -- with a prefix, the id
    platform  text not null,
    account   text not null,
    form      text not null,      -- media type in the API
    item      integer not null,   -- whether it is part of another container
    text      text not null,
    media     text not null,      -- JSON array of path, type and alt text
    failure   text not null,      -- why processing failed; empty if it did not
    made_at   integer not null,
    post      text not null default '', -- id of the published post
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- Images and videos of LinkedIn.
create table if not exists linkedin_assets (
    seq      integer primary key,
    id       text not null unique, -- URN
    owner    text not null,        -- URN
    video    integer not null,
    cid      text not null default '', -- of the complete file
    type     text not null default '', -- MIME
    whole_at integer not null default 0 -- when the upload was completed
) strict;

create table if not exists linkedin_parts (
    secret text primary key,      -- in the upload address
    asset  text not null,
    first  integer not null,      -- offset in the file
    size   integer not null,      -- bytes; 0 for an image
    cid    text not null default '', -- of the uploaded bytes
    foreign key (asset) references linkedin_assets (id)
) strict;

-- Files that are uploaded to X in segments.
create table if not exists x_uploads (
    seq      integer primary key, -- with a prefix, the id
    account  text not null,
    type     text not null,       -- declared MIME type
    category text not null,       -- media category in the API
    total    integer not null,    -- declared size in bytes
    cid      text not null default '', -- of the complete file
    failed   integer not null default 0,
    alt      text not null default '',
    made_at  integer not null,
    ended_at integer not null default 0 -- when the upload was finalized
) strict;

create table if not exists x_segments (
    upload integer not null,
    place  integer not null,      -- segment index
    cid    text not null,
    primary key (upload, place),
    foreign key (upload) references x_uploads (seq)
) strict;

-- Videos that the video service of Bluesky processes.
create table if not exists bluesky_videos (
    job     text primary key,
    account text not null,
    cid     text not null,
    type    text not null,
    size    integer not null, -- bytes
    made_at integer not null
) strict;

-- Videos of Facebook Pages.
create table if not exists facebook_videos (
    seq         integer primary key,
    id          text not null unique,
    session     text not null unique, -- of the upload
    account     text not null,
    size        integer not null,     -- bytes
    received    integer not null default 0,
    chunks      text not null default '[]', -- JSON array of cids
    failure     text not null default '',   -- why processing failed; empty if it did not
    made_at     integer not null,
    finished_at integer               -- when the upload was finished
) strict;

-- Posts of TikTok from initialization on.
create table if not exists tiktok_publishes (
    seq      integer primary key, -- with a prefix, the id
    account  text not null,
    photos   integer not null,    -- whether it is a photo post
    text     text not null,
    privacy  text not null,       -- privacy level in the API
    secret   blob unique,         -- keyed hash of the secret in the upload address
    size     integer not null,    -- bytes of a video
    chunk    integer not null,    -- bytes of a chunk
    parts    integer not null,    -- number of chunks
    uploaded integer not null default 0, -- bytes
    failure  text not null default '',
    made_at  integer not null,
    done_at  integer not null default 0, -- when the upload was complete
    posted   integer not null default 0
) strict;

create table if not exists tiktok_parts (
    publish integer not null,
    first   integer not null,     -- offset in the file
    cid     text not null,
    primary key (publish, first),
    foreign key (publish) references tiktok_publishes (seq)
) strict;

-- Videos that are uploaded to Pinterest.
create table if not exists pinterest_uploads (
    seq        integer primary key, -- with a prefix, the id
    account    text not null,
    key        text not null,       -- authorizes the upload
    cid        text not null default '', -- of the uploaded file
    type       text not null default '', -- MIME
    arrived_at integer not null default 0 -- when the file was uploaded
) strict;

-- Markers that act once on a post and have acted.
create table if not exists spent_markers (
    platform text not null,
    post     text not null,
    marker   text not null,
    primary key (platform, post, marker)
) strict;

-- Upload sessions of YouTube.
create table if not exists youtube_uploads (
    id       text primary key,    -- in the session's address
    platform text not null,
    account  text not null,
    body     blob not null,       -- metadata of the video
    type     text not null,       -- declared MIME type
    total    integer not null,    -- declared size in bytes
    begun_at integer not null,
    video    text not null default '', -- id of the published video
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- Received parts of upload sessions.
create table if not exists youtube_parts (
    upload text not null,
    start  integer not null,      -- offset in the file
    size   integer not null,      -- bytes
    cid    text not null,
    primary key (upload, start),
    foreign key (upload) references youtube_uploads (id)
) strict;

-- Videos in the playlists of channels. As on YouTube, a playlist can contain a video twice.
create table if not exists youtube_playlist_items (
    id       integer primary key,
    playlist text not null,
    video    text not null,
    added_at integer not null
) strict;

-- Hashtags of Instagram whose ids were requested.
create table if not exists instagram_hashtags (
    id   text primary key,
    name text not null unique
) strict;

-- Hashtags that an account has queried, for its quota.
create table if not exists instagram_searches (
    account text not null,
    hashtag text not null,
    at      integer not null,     -- first query of the current period
    primary key (account, hashtag),
    foreign key (hashtag) references instagram_hashtags (id)
) strict;

-- Requests to TikTok's Research API per app and day.
create table if not exists tiktok_research (
    client text not null,
    day    integer not null,      -- since 1970
    used   integer not null,      -- requests
    primary key (client, day)
) strict;

-- Posts that are not public.
create table if not exists post_audiences (
    platform text not null,
    post     text not null,
    audience text not null,
    primary key (platform, post)
) strict;

-- Posts that reply to posts of the same network.
create table if not exists post_replies (
    platform text not null,
    post     text not null,
    reply_to text not null,
    primary key (platform, post)
) strict;

-- Containers of replies.
create table if not exists container_replies (
    container integer primary key,
    reply_to  text not null
) strict;

-- When each account last posted with an app that TikTok has not audited.
create table if not exists tiktok_posters (
    client    text not null,
    account   text not null,
    posted_at integer not null,
    primary key (client, account)
) strict;

-- Posts that are not in the feed.
create table if not exists post_formats (
    platform text not null,
    post     text not null,
    format   text not null,       -- story
    primary key (platform, post)
) strict;

-- Further parameters of containers.
create table if not exists container_options (
    container integer primary key,
    options   text not null       -- JSON object of strings
) strict;
