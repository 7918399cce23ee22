package sandbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// account is somebody on one of the networks.
type account struct {
	id          string // the network's own id
	handle      string
	displayName string
	password    []byte // keyed hash
}

// post is what a network holds of one publication.
type post struct {
	platform    string
	account     string // the network's own id of the account
	handle      string // like the display name only filled when read
	displayName string
	id          string
	text        string
	media       []medium
	at          time.Time
	version     string
	body        []byte // the network's own form
}

// medium is an image or a video of a post.
type medium struct {
	Path string `json:"path"` // below the sandbox's address
	Type string `json:"type"` // MIME
	Alt  string `json:"alt"`
}

const accountColumns = `select id, handle, display_name, password from accounts where platform = ? and `

// account finds an account by its id or handle. It is false where there is none.
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

// keepAccount makes the account or brings it up to date.
func (t tx) keepAccount(ctx context.Context, platform string, a account) error {
	_, err := t.ExecContext(ctx,
		`insert into accounts (platform, id, handle, display_name, password) values (?, ?, ?, ?, ?)
		on conflict (platform, id) do update set display_name = excluded.display_name, password = excluded.password`,
		platform, a.id, a.handle, a.displayName, a.password)
	if err != nil {
		return fmt.Errorf("keeping an account: %w", err)
	}
	return nil
}

const postColumns = `select p.platform, p.account, a.handle, a.display_name, p.id, p.text, p.media, p.at, p.version, p.body
	from posts p join accounts a on a.platform = p.platform and a.id = p.account `

// post finds a post by the network's own id. It is false where there is none.
func (t tx) post(ctx context.Context, platform, id string) (post, bool, error) {
	found, err := t.posts(ctx, `where p.platform = ? and p.id = ?`, platform, id)
	if err != nil || len(found) == 0 {
		return post{}, false, err
	}
	return found[0], true, nil
}

// posts are those that the condition, and what stands behind it, selects.
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

// keepPost makes the post or puts it in the place of the one with its id.
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
		return fmt.Errorf("keeping a post: %w", err)
	}
	return nil
}

func (t tx) dropPost(ctx context.Context, platform, id string) error {
	if _, err := t.ExecContext(ctx, `delete from posts where platform = ? and id = ?`, platform, id); err != nil {
		return fmt.Errorf("deleting a post: %w", err)
	}
	return nil
}

// spend lets a marker act once for each post: it is true the first time.
func (t tx) spend(ctx context.Context, platform, postID, marker string) (bool, error) {
	done, err := t.ExecContext(ctx,
		`insert into spent_markers (platform, post, marker) values (?, ?, ?) on conflict do nothing`,
		platform, postID, marker)
	if err != nil {
		return false, fmt.Errorf("noting a marker: %w", err)
	}
	changed, err := done.RowsAffected()
	if err != nil {
		return false, fmt.Errorf("noting a marker: %w", err)
	}
	return changed > 0, nil
}

// accounts are those of a network, in the order in which they were made.
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
