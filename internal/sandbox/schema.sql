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

-- Markers that act once and have acted.
create table if not exists spent_markers (
    platform text not null,
    post     text not null,
    marker   text not null,
    primary key (platform, post, marker)
) strict;
