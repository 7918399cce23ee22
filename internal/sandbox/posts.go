package sandbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// account is an account of one of the networks.
type account struct {
	id          string // the network's own id
	handle      string
	displayName string
	password    []byte // keyed hash
}

// post is a publication as its network stores it.
type post struct {
	platform    string
	account     string // the network's own id of the account
	handle      string // like the display name set only when read
	displayName string
	id          string
	text        string
	media       []medium
	at          time.Time
	version     string
	body        []byte // in the network's own format
}

// medium is an image or a video of a post.
type medium struct {
	Path string `json:"path"` // below the sandbox's address
	Type string `json:"type"` // MIME
	Alt  string `json:"alt"`
}

// Video reports whether the medium is a video.
func (m medium) Video() bool { return strings.HasPrefix(m.Type, "video/") }

const accountColumns = `select id, handle, display_name, password from accounts where platform = ? and `

// account returns the account with an id or handle, and reports whether it exists.
func (t tx) account(ctx context.Context, platform, idOrHandle string) (account, bool, error) {
	var a account
	row := t.QueryRowContext(ctx, accountColumns+`(id = ? or handle = ?)`, platform, idOrHandle, idOrHandle)
	err := row.Scan(&a.id, &a.handle, &a.displayName, &a.password)
	if errors.Is(err, sql.ErrNoRows) {
		return account{}, false, nil
	}
	if err != nil {
		return account{}, false, fmt.Errorf("finding an account: %w", err)
	}
	return a, true, nil
}

// keepAccount inserts or updates the account.
func (t tx) keepAccount(ctx context.Context, platform string, a account) error {
	_, err := t.ExecContext(ctx,
		`insert into accounts (platform, id, handle, display_name, password) values (?, ?, ?, ?, ?)
		on conflict (platform, id) do update set display_name = excluded.display_name, password = excluded.password`,
		platform, a.id, a.handle, a.displayName, a.password)
	if err != nil {
		return fmt.Errorf("saving an account: %w", err)
	}
	return nil
}

const postColumns = `select p.platform, p.account, a.handle, a.display_name, p.id, p.text, p.media, p.at, p.version, p.body
	from posts p join accounts a on a.platform = p.platform and a.id = p.account `

// post returns the post with the network's own id, and reports whether it exists.
func (t tx) post(ctx context.Context, platform, id string) (post, bool, error) {
	found, err := t.posts(ctx, `where p.platform = ? and p.id = ?`, platform, id)
	if err != nil || len(found) == 0 {
		return post{}, false, err
	}
	return found[0], true, nil
}

// posts returns the posts that the condition selects. It may end in an order and a limit.
func (t tx) posts(ctx context.Context, condition string, args ...any) ([]post, error) {
	rows, err := t.QueryContext(ctx, postColumns+condition, args...)
	if err != nil {
		return nil, fmt.Errorf("reading posts: %w", err)
	}
	defer rows.Close()
	var found []post
	for rows.Next() {
		p, err := scanPost(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading posts: %w", err)
	}
	return found, nil
}

func scanPost(rows *sql.Rows) (post, error) {
	var p post
	var media string
	var at int64
	if err := rows.Scan(&p.platform, &p.account, &p.handle, &p.displayName, &p.id, &p.text, &media, &at, &p.version,
		&p.body); err != nil {
		return post{}, fmt.Errorf("reading a post: %w", err)
	}
	if err := json.Unmarshal([]byte(media), &p.media); err != nil {
		return post{}, fmt.Errorf("reading a post's media: %w", err)
	}
	p.at = time.UnixMilli(at).UTC()
	return p, nil
}

// keepPost inserts the post, or replaces the one with its id.
func (t tx) keepPost(ctx context.Context, p post) error {
	media, err := json.Marshal(append([]medium{}, p.media...))
	if err != nil {
		return fmt.Errorf("writing a post's media: %w", err)
	}
	_, err = t.ExecContext(ctx, `insert into posts (platform, account, id, text, media, at, version, body)
		values (?, ?, ?, ?, ?, ?, ?, ?)
		on conflict (platform, id) do update set text = excluded.text, media = excluded.media, at = excluded.at,
			version = excluded.version, body = excluded.body`,
		p.platform, p.account, p.id, p.text, string(media), p.at.UnixMilli(), p.version, p.body)
	if err != nil {
		return fmt.Errorf("saving a post: %w", err)
	}
	return nil
}

func (t tx) dropPost(ctx context.Context, platform, id string) error {
	if _, err := t.ExecContext(ctx, `delete from posts where platform = ? and id = ?`, platform, id); err != nil {
		return fmt.Errorf("deleting a post: %w", err)
	}
	return nil
}

// spend reports whether a marker acts on a post for the first time.
func (t tx) spend(ctx context.Context, platform, postID, marker string) (bool, error) {
	done, err := t.ExecContext(ctx,
		`insert into spent_markers (platform, post, marker) values (?, ?, ?) on conflict do nothing`,
		platform, postID, marker)
	if err != nil {
		return false, fmt.Errorf("recording a marker: %w", err)
	}
	changed, err := done.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("recording a marker: %w", err)
	}
	return changed > 0, nil
}

// accounts returns the accounts of a network in the order of their creation.
func (t tx) accounts(ctx context.Context, platform string) ([]account, error) {
	rows, err := t.QueryContext(ctx,
		`select id, handle, display_name, password from accounts where platform = ? order by rowid`, platform)
	if err != nil {
		return nil, fmt.Errorf("reading accounts: %w", err)
	}
	defer rows.Close()
	var found []account
	for rows.Next() {
		var a account
		if err := rows.Scan(&a.id, &a.handle, &a.displayName, &a.password); err != nil {
			return nil, fmt.Errorf("reading an account: %w", err)
		}
		found = append(found, a)
	}
	return found, rows.Err()
}

// nextPost returns the number of the next post of any network, for its id.
func (t tx) nextPost(ctx context.Context) (int64, error) {
	var next int64
	if err := t.QueryRowContext(ctx, `select coalesce(max(seq), 0) + 1 from posts`).Scan(&next); err != nil {
		return 0, fmt.Errorf("numbering a post: %w", err)
	}
	return next, nil
}
