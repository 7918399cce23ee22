-- Everything here is the sandbox networks' side of the world. Times are Unix milliseconds.

create table if not exists settings (
    name  text primary key,
    value blob not null
) strict;

create table if not exists accounts (
    platform     text not null,
    id           text not null,   -- the network's own id
    handle       text not null,
    display_name text not null,
    password     blob not null,   -- keyed hash
    primary key (platform, id),
    unique (platform, handle)
) strict;

-- A session is what one sign-in began; all its tokens die with it.
create table if not exists sessions (
    platform text not null,
    id       text not null,
    account  text not null,
    dead     integer not null default 0,
    primary key (platform, id)
) strict;

create table if not exists refresh_tokens (
    platform   text not null,
    id         text not null,
    session    text not null,
    expires_at integer not null,
    next       text,              -- the token that it was traded for
    primary key (platform, id),
    foreign key (platform, session) references sessions (platform, id)
) strict;

-- What the networks hold. Deleting keeps nothing.
create table if not exists posts (
    seq      integer primary key,
    platform text not null,
    account  text not null,
    id       text not null,       -- the network's own id of the post
    text     text not null,
    media    text not null,       -- JSON array of path, type and description
    at       integer not null,    -- when it was published, as its public sees it
    version  text not null,       -- changes with the content
    body     blob not null,       -- the network's own form of it
    unique (platform, id),
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- Files that were uploaded. Their bytes stand in the folder "blobs", under the cid.
create table if not exists blobs (
    platform text not null,
    account  text not null,
    cid      text not null,       -- the network's own id of the content
    type     text not null,       -- MIME
    size     integer not null,    -- bytes
    primary key (platform, account, cid),
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- Codes and tokens of the networks that are connected by OAuth. Their text is known to the client alone.
create table if not exists oauth_tokens (
    platform   text not null,
    hash       blob not null,     -- keyed hash of the text
    kind       text not null,     -- code or access; a network with refresh tokens spends those as codes are spent
    session    text not null,     -- of the consent
    account    text not null,
    client     text not null,
    redirect   text not null,     -- of a code
    challenge  text not null,     -- of a code, by PKCE; empty where none was given
    issued_at  integer not null,
    expires_at integer not null,
    spent      integer not null default 0,
    primary key (platform, hash),
    foreign key (platform, session) references sessions (platform, id)
) strict;

-- What was allowed at the consent that began a session.
create table if not exists oauth_scopes (
    platform text not null,
    session  text not null,
    scopes   text not null,       -- parted by spaces
    primary key (platform, session),
    foreign key (platform, session) references sessions (platform, id)
) strict;

-- Posts that are made ready before they are published.
create table if not exists containers (
    seq       integer primary key, -- and, with a number in front, its id
    platform  text not null,
    account   text not null,
    form      text not null,      -- what the network calls the kind of post
    item      integer not null,   -- a part of another container
    text      text not null,
    media     text not null,      -- JSON array of path, type and description
    failure   text not null,      -- what it failed by; empty where it did not
    made_at   integer not null,
    post      text not null default '', -- as which it was published
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- Images and videos that LinkedIn was told of. Their parts have arrived when each has its file.
create table if not exists linkedin_assets (
    seq      integer primary key,
    id       text not null unique, -- URN
    owner    text not null,        -- URN
    video    integer not null,
    cid      text not null default '', -- of the whole file, once it has arrived
    type     text not null default '', -- MIME
    whole_at integer not null default 0
) strict;

create table if not exists linkedin_parts (
    secret text primary key,      -- in the address that it goes to
    asset  text not null,
    first  integer not null,      -- byte of the file
    size   integer not null,      -- bytes; 0 where it was not told
    cid    text not null default '', -- of the bytes that came
    foreign key (asset) references linkedin_assets (id)
) strict;

-- Files that are uploaded to X in segments before a post names them.
create table if not exists x_uploads (
    seq      integer primary key, -- and, with a digit in front, its id
    account  text not null,
    type     text not null,       -- MIME, as it was announced
    category text not null,       -- what the network calls the kind of medium
    total    integer not null,    -- bytes, as they were announced
    cid      text not null default '', -- of the whole, once it is there
    failed   integer not null default 0,
    alt      text not null default '',
    made_at  integer not null,
    ended_at integer not null default 0
) strict;

create table if not exists x_segments (
    upload integer not null,
    place  integer not null,
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

-- Videos of Facebook Pages. The chunks stand with the files.
create table if not exists facebook_videos (
    seq         integer primary key,
    id          text not null unique,
    session     text not null unique, -- of the upload
    account     text not null,
    size        integer not null,     -- bytes
    received    integer not null default 0,
    chunks      text not null default '[]', -- JSON array of cids
    failure     text not null default '',   -- what it failed by; empty where it did not
    made_at     integer not null,
    finished_at integer               -- when the upload was ended
) strict;

-- Posts of TikTok from when they were begun, and the parts of videos that are being uploaded.
create table if not exists tiktok_publishes (
    seq      integer primary key, -- and, with more in front, its id
    account  text not null,
    photos   integer not null,
    text     text not null,
    privacy  text not null,       -- who may see it
    secret   blob unique,         -- keyed hash of what the address of an upload holds
    size     integer not null,    -- bytes of a video, as are the next
    chunk    integer not null,
    parts    integer not null,
    uploaded integer not null default 0,
    failure  text not null default '',
    made_at  integer not null,
    done_at  integer not null default 0, -- when all of it had arrived
    posted   integer not null default 0
) strict;

create table if not exists tiktok_parts (
    publish integer not null,
    first   integer not null,     -- byte of the file
    cid     text not null,
    primary key (publish, first),
    foreign key (publish) references tiktok_publishes (seq)
) strict;

-- Videos that are uploaded to Pinterest before a pin names them.
create table if not exists pinterest_uploads (
    seq        integer primary key, -- and, with a digit in front, its id
    account    text not null,
    key        text not null,       -- lets the holder put the file
    cid        text not null default '', -- of the file, once it is there
    type       text not null default '', -- MIME
    arrived_at integer not null default 0
) strict;

-- Markers that act once and have acted.
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
    body     blob not null,       -- what is to be said of the video
    type     text not null,       -- MIME of the file, as announced
    total    integer not null,    -- bytes of the file, as announced
    begun_at integer not null,
    video    text not null default '', -- which it became
    foreign key (platform, account) references accounts (platform, id)
) strict;

-- What an upload session has of its file. The bytes stand in the folder "blobs".
create table if not exists youtube_parts (
    upload text not null,
    start  integer not null,      -- its first byte's place in the file
    size   integer not null,      -- bytes
    cid    text not null,
    primary key (upload, start),
    foreign key (upload) references youtube_uploads (id)
) strict;

-- Videos in the playlist of a channel, the oldest first. YouTube lets a playlist have a video twice.
create table if not exists youtube_playlist_items (
    id       integer primary key,
    playlist text not null,
    video    text not null,
    added_at integer not null
) strict;

-- Hashtags of Instagram that somebody asked the id of, and who asked for which when.
create table if not exists instagram_hashtags (
    id   text primary key,
    name text not null unique
) strict;

create table if not exists instagram_searches (
    account text not null,
    hashtag text not null,
    at      integer not null,     -- first, since the last time that it did not count any more
    primary key (account, hashtag),
    foreign key (hashtag) references instagram_hashtags (id)
) strict;

-- How often a client has asked TikTok's research on a day, since 1970.
create table if not exists tiktok_research (
    client text not null,
    day    integer not null,
    used   integer not null,
    primary key (client, day)
) strict;

-- Posts that not everybody can see.
create table if not exists post_audiences (
    platform text not null,
    post     text not null,
    audience text not null,
    primary key (platform, post)
) strict;

-- When each account last posted with an app that TikTok has not audited.
create table if not exists tiktok_posters (
    client    text not null,
    account   text not null,
    posted_at integer not null,
    primary key (client, account)
) strict;
