package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Account is an account of one of the networks.
type Account struct {
	ID          string // the network's own ID
	Handle      string
	DisplayName string
	Password    []byte // keyed hash
}

// Post is a post or a comment as its network stores it.
type Post struct {
	Platform    string
	Account     string // the network's own ID of the account
	Handle      string // account's Handle and DisplayName; ignored by SavePost
	DisplayName string
	ID          string
	Text        string
	Media       []Medium
	At          time.Time
	Version     string // changes with the content
	Body        []byte // in the network's own format
	Audience    Audience
	ReplyTo     string // ID of the post that this one replies to; empty if it is not a reply
	Format      string // FormatStory, or empty for a post in the feed
}

// FormatStory is the Format of stories. A story is listed for one day, and only in the list of stories.
const FormatStory = "story"

// Audience is who can see a post.
type Audience string

// The audiences of posts.
const (
	AudiencePublic Audience = ""
	AudienceRoles  Audience = "roles"   // people with a role in the app that published the post
	AudienceOwner  Audience = "account" // the account itself
)

// Medium is an image or a video of a post.
type Medium struct {
	Path string `json:"path"` // relative to the sandbox's URL
	Type string `json:"type"` // MIME type
	Alt  string `json:"alt"`
}

// IsVideo reports whether the medium is a video.
func (m Medium) IsVideo() bool { return strings.HasPrefix(m.Type, "video/") }

const accountColumns = `select id, handle, display_name, password from accounts where platform = ? and `

// Account returns the account with the given ID or handle, and reports whether it exists.
func (t Tx) Account(ctx context.Context, platform, idOrHandle string) (Account, bool, error) {
	var a Account
	row := t.QueryRowContext(ctx, accountColumns+`(id = ? or handle = ?)`, platform, idOrHandle, idOrHandle)
	err := row.Scan(&a.ID, &a.Handle, &a.DisplayName, &a.Password)
	if errors.Is(err, sql.ErrNoRows) {
		return Account{}, false, nil
	}
	if err != nil {
		return Account{}, false, fmt.Errorf("finding an account: %w", err)
	}
	return a, true, nil
}

// SaveAccount inserts or updates the account.
func (t Tx) SaveAccount(ctx context.Context, platform string, a Account) error {
	return t.Run(ctx, "saving an account",
		`insert into accounts (platform, id, handle, display_name, password) values (?, ?, ?, ?, ?)
		on conflict (platform, id) do update set display_name = excluded.display_name, password = excluded.password`,
		platform, a.ID, a.Handle, a.DisplayName, a.Password)
}

const postColumns = `select p.platform, p.account, a.handle, a.display_name, p.id, p.text, p.media, p.at, p.version,
	p.body, coalesce(v.audience, ''), coalesce(r.reply_to, ''), coalesce(f.format, '')
	from posts p join accounts a on a.platform = p.platform and a.id = p.account
	left join post_audiences v on v.platform = p.platform and v.post = p.id
	left join post_replies r on r.platform = p.platform and r.post = p.id
	left join post_formats f on f.platform = p.platform and f.post = p.id `

// Post returns the post with the given ID, and reports whether it exists.
func (t Tx) Post(ctx context.Context, platform, id string) (Post, bool, error) {
	posts, err := t.Posts(ctx, `where p.platform = ? and p.id = ?`, platform, id)
	if err != nil || len(posts) == 0 {
		return Post{}, false, err
	}
	return posts[0], true, nil
}

// Posts returns the posts that an SQL WHERE clause selects. The clause may be followed by ORDER BY and LIMIT.
func (t Tx) Posts(ctx context.Context, condition string, args ...any) ([]Post, error) {
	rows, err := t.QueryContext(ctx, postColumns+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("reading posts: %w", err)
	}
	defer rows.Close()
	var posts []Post
	for rows.Next() {
		p, err := scanPost(rows)
		if err != nil {
			return nil, err
		}
		posts = append(posts, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading posts: %w", err)
	}
	return posts, nil
}

func scanPost(rows *sql.Rows) (Post, error) {
	var p Post
	var media string
	var at int64
	if err := rows.Scan(&p.Platform, &p.Account, &p.Handle, &p.DisplayName, &p.ID, &p.Text, &media, &at, &p.Version,
		&p.Body, &p.Audience, &p.ReplyTo, &p.Format); err != nil {
		return Post{}, fmt.Errorf("reading a post: %w", err)
	}
	if err := json.Unmarshal([]byte(media), &p.Media); err != nil {
		return Post{}, fmt.Errorf("reading a post's media: %w", err)
	}
	p.At = time.UnixMilli(at).UTC()
	return p, nil
}

// SavePost inserts the post, or updates the post with the same ID.
func (t Tx) SavePost(ctx context.Context, p Post) error {
	media, err := json.Marshal(append([]Medium{}, p.Media...))
	if err != nil {
		return fmt.Errorf("writing a post's media: %w", err)
	}
	err = t.Run(ctx, "saving a post", `insert into posts (platform, account, id, text, media, at, version, body)
		values (?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (platform, id) do update set text = excluded.text, media = excluded.media, at = excluded.at,
			version = excluded.version, body = excluded.body`,
		p.Platform, p.Account, p.ID, p.Text, string(media), p.At.UnixMilli(), p.Version, p.Body)
	if err == nil && p.ReplyTo != "" {
		err = t.Run(ctx, "saving a reply", `insert into post_replies (platform, post, reply_to) values (?, ?, ?)
			on conflict (platform, post) do update set reply_to = excluded.reply_to`, p.Platform, p.ID, p.ReplyTo)
	}
	if err == nil && p.Format != "" {
		err = t.Run(ctx, "saving a post's format", `insert into post_formats (platform, post, format) values (?, ?, ?)
			on conflict (platform, post) do update set format = excluded.format`, p.Platform, p.ID, p.Format)
	}
	if err != nil || p.Audience == AudiencePublic {
		return err
	}
	return t.Run(ctx, "saving a post's audience", `insert into post_audiences (platform, post, audience) values (?, ?, ?)
		on conflict (platform, post) do update set audience = excluded.audience`, p.Platform, p.ID, string(p.Audience))
}

// DeletePost deletes a post.
func (t Tx) DeletePost(ctx context.Context, platform, id string) error {
	return t.Run(ctx, "deleting a post", `delete from posts where platform = ? and id = ?`, platform, id)
}

// ConsumeMarker records that a marker has affected a post, and reports whether this is the first time.
func (t Tx) ConsumeMarker(ctx context.Context, platform, postID, marker string) (bool, error) {
	result, err := t.ExecContext(ctx,
		`insert into spent_markers (platform, post, marker) values (?, ?, ?) on conflict do nothing`,
		platform, postID, marker)
	if err != nil {
		return false, fmt.Errorf("recording a marker: %w", err)
	}
	inserted, err := result.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("recording a marker: %w", err)
	}
	return inserted > 0, nil
}

// Accounts returns the accounts of a network in the order of their creation.
func (t Tx) Accounts(ctx context.Context, platform string) ([]Account, error) {
	rows, err := t.QueryContext(ctx,
		`select id, handle, display_name, password from accounts where platform = ? order by rowid`, platform)
	if err != nil {
		return nil, fmt.Errorf("reading accounts: %w", err)
	}
	defer rows.Close()
	var accounts []Account
	for rows.Next() {
		var a Account
		if err := rows.Scan(&a.ID, &a.Handle, &a.DisplayName, &a.Password); err != nil {
			return nil, fmt.Errorf("reading an account: %w", err)
		}
		accounts = append(accounts, a)
	}
	return accounts, rows.Err()
}

// NextPost returns the sequence number of the next post. Posts on all networks are counted together. Networks derive
// the ID of the post from this number.
func (t Tx) NextPost(ctx context.Context) (int64, error) {
	var next int64
	if err := t.QueryRowContext(ctx, `select coalesce(max(seq), 0) + 1 from posts`).Scan(&next); err != nil {
		return 0, fmt.Errorf("numbering a post: %w", err)
	}
	return next, nil
}
