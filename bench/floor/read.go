package floor

import (
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// capabilities lists the capabilities of an owner's full key. The benchmarks use only keys of this kind.
var capabilities = []string{"read", "write", "publish", "spend"}

// me sends the identity of the key.
func (f *Server) me(x *request) error {
	var out identity
	err := f.db.me.QueryRowContext(x.ctx, x.hash[:], x.now.UnixMicro()).Scan(&out.Key.ID, &out.Key.Name, &out.Key.Level,
		&out.Team.ID, &out.Team.Name, &out.Timezone, &out.ContentLanguage, &out.Person.ID, &out.Person.Name, &out.Role)
	if errors.Is(err, sql.ErrNoRows) {
		return errUnauthorized
	}
	if err != nil {
		return fmt.Errorf("looking up a key: %w", err)
	}
	zone, err := f.zone(out.Timezone)
	if err != nil {
		return err
	}
	out.Capabilities = capabilities
	return f.respond(x, zone, http.StatusOK, inTeam("/settings/keys", out.Team.ID), out, nil)
}

// retries is the number of retries for an account on which publishing failed.
const retries = 3

// getPost sends a post with its accounts.
func (f *Server) getPost(x *request) error {
	c, err := f.authenticate(x)
	if err != nil {
		return err
	}
	out := post{ID: x.PathValue("id"), Media: []struct{}{}, Accounts: make([]target, 0, 2)}
	var scheduled, published int64
	var created, updated int64
	err = f.db.post.QueryRowContext(x.ctx, out.ID, c.team).
		Scan(&out.Status, &out.Caption, &out.Approval, &scheduled, &published, &created, &updated)
	if errors.Is(err, sql.ErrNoRows) {
		return errNotFound
	}
	if err != nil {
		return fmt.Errorf("reading a post: %w", err)
	}
	out.ScheduledAt, out.PublishedAt = optionalMoment(scheduled, c.zone), optionalMoment(published, c.zone)
	out.CreatedAt, out.UpdatedAt = *optionalMoment(created, c.zone), *optionalMoment(updated, c.zone)
	rows, err := f.db.targets.QueryContext(x.ctx, out.ID)
	if err != nil {
		return fmt.Errorf("reading a post's accounts: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var t target
		var used int
		if err := rows.Scan(&t.ID, &t.Platform, &t.Username, &t.State, &t.Caption, &published, &t.Permalink,
			&t.ErrorCode, &used); err != nil {
			return fmt.Errorf("reading a post's accounts: %w", err)
		}
		t.PublishedAt = optionalMoment(published, c.zone)
		if t.State != "published" {
			t.RetriesLeft = max(0, retries-used)
		}
		out.Accounts = append(out.Accounts, t)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading a post's accounts: %w", err)
	}
	return f.respond(x, c.zone, http.StatusOK, inTeam("/posts/"+out.ID, c.team), out, nil)
}

const pageSize = 20 // pressroom's default, which all benchmarks use

// listPosts sends the newest posts.
func (f *Server) listPosts(x *request) error {
	if x.URL.RawQuery != "limit="+strconv.Itoa(pageSize) {
		return errInvalid
	}
	c, err := f.authenticate(x)
	if err != nil {
		return err
	}
	posts, err := f.newest(x, c)
	if err != nil {
		return err
	}
	var more *next
	if len(posts) > pageSize {
		posts = posts[:pageSize]
		more = &next{true, cursor(c.team, posts[pageSize-1].ID)}
		x.w.Header().Set("Link", "<"+f.publicURL+"/api/v1/posts?cursor="+more.Cursor+"&"+x.URL.RawQuery+`>; rel="next"`)
	}
	if err := f.nameAccounts(x, posts); err != nil {
		return err
	}
	return f.respond(x, c.zone, http.StatusOK, inTeam("/posts", c.team), page{posts}, more)
}

// newest returns the newest posts, up to one more than fits on a page. The additional post shows that there is another
// page.
func (f *Server) newest(x *request, c caller) ([]summary, error) {
	rows, err := f.db.page.QueryContext(x.ctx, c.team, pageSize+1)
	if err != nil {
		return nil, fmt.Errorf("listing posts: %w", err)
	}
	defer rows.Close()
	out := make([]summary, 0, pageSize+1)
	for rows.Next() {
		var p summary
		var scheduled, published int64
		if err := rows.Scan(&p.ID, &p.Status, &p.Excerpt, &scheduled, &published); err != nil {
			return nil, fmt.Errorf("listing posts: %w", err)
		}
		p.ScheduledAt, p.PublishedAt = optionalMoment(scheduled, c.zone), optionalMoment(published, c.zone)
		out = append(out, p)
	}
	return out, rows.Err()
}

// nameAccounts reads the accounts of a page of posts in one query and sorts them in Go.
func (f *Server) nameAccounts(x *request, posts []summary) error {
	ids := make([]any, pageSize)
	for i := range ids {
		ids[i] = "" // pad the arguments if the page is not full
	}
	for i := range posts {
		ids[i] = posts[i].ID
		posts[i].Accounts = make([]account, 0, 2)
	}
	rows, err := f.db.pageTargets.QueryContext(x.ctx, ids...)
	if err != nil {
		return fmt.Errorf("reading account names: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var a account
		if err := rows.Scan(&id, &a.position, &a.ID, &a.Platform, &a.Username); err != nil {
			return fmt.Errorf("reading account names: %w", err)
		}
		p := &posts[slices.IndexFunc(posts, func(p summary) bool { return p.ID == id })]
		at, _ := slices.BinarySearchFunc(p.Accounts, a, func(a, b account) int { return a.position - b.position })
		p.Accounts = slices.Insert(p.Accounts, at, a)
	}
	return rows.Err()
}

// cursor returns the same cursor for the next page as pressroom. It contains a version, the position, and a digest of
// the team, the operation, its filters and the position.
func cursor(team int64, id string) string {
	position := "0|" + id
	sum := binary.BigEndian.AppendUint64(make([]byte, 0, 128), uint64(team))
	for _, part := range []string{"list_posts", "", position} {
		sum = binary.BigEndian.AppendUint32(sum, uint32(len(part)))
		sum = append(sum, part...)
	}
	digest := sha256.Sum256(sum)
	buf := append(append([]byte{1}, position...), digest[:8]...)
	return base64.RawURLEncoding.EncodeToString(buf)
}
