package instagram

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/sandbox/world"
)

const (
	hashtagQuota    = 30 // number of different hashtags that an account may query within hashtagWindow
	hashtagWindow   = 7 * 24 * time.Hour
	hashtagPageSize = 50 // maximum number of posts on a page
)

// Errors that Instagram returns but does not document.
var (
	errNoHashtag = &graph.Error{
		Status: http.StatusBadRequest, Code: 24, Subcode: 2207024, Message: "The requested resource does not exist",
	}
	errHashtagQuota = &graph.Error{
		Status: http.StatusBadRequest, Code: 18, Subcode: 2207034,
		Message: "The account has queried the maximum number of different hashtags in seven days",
	}
)

// hashtagID returns the ID of a hashtag. The same hashtag has the same ID in every sandbox.
func hashtagID(name string) string { return base.StableID("17", "instagram hashtag "+name) }

// authorizeHashtags returns the account of the request's token. App Review must have approved the token's app for
// public content.
func (n *Network) authorizeHashtags(r *http.Request) (store.Account, error) {
	err := n.AsCaller(r, func(_ store.Tx, _ store.Account, token store.Token) error {
		return graph.RequireReview(token, "Instagram Public Content Access")
	})
	if err != nil {
		return store.Account{}, err
	}
	return n.authorizeOperator(r, r.Form.Get("user_id"), "instagram_basic")
}

// searchHashtag returns the ID of a hashtag.
func (n *Network) searchHashtag(r *http.Request) (any, error) {
	a, err := n.authorizeHashtags(r)
	if err != nil {
		return nil, err
	}
	text := r.Form.Get("q")
	if text == "" {
		return nil, graph.InvalidParameter("(#100) The parameter q is required")
	}
	hashtag, ok := world.NewHashtag(Name, text)
	switch {
	case !ok:
		return nil, errNoHashtag
	case strings.HasPrefix(hashtag.Name, world.HashtagFailing):
		return nil, graph.ErrInternal
	}
	id := hashtagID(hashtag.Name)
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		if err := insertHashtag(r.Context(), t, id, hashtag.Name); err != nil {
			return err
		}
		return countHashtag(r.Context(), t, a.ID, id, n.Now())
	})
	return map[string]any{"data": []map[string]string{{"id": id}}}, err
}

// findHashtag returns the name of the hashtag with the ID in the path, or "" if it does not exist.
func (n *Network) findHashtag(r *http.Request) (string, error) {
	var name string
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		if _, _, err := n.Authenticate(r, t); err != nil {
			return err
		}
		var err error
		name, err = findHashtagName(r.Context(), t, r.PathValue("id"))
		return err
	})
	return name, err
}

// countQuery counts a query for a hashtag's posts against the caller's quota. The ID of the hashtag is in the path.
// countQuery returns the hashtag and the caller.
func (n *Network) countQuery(r *http.Request) (world.Hashtag, store.Account, error) {
	a, err := n.authorizeHashtags(r)
	if err != nil {
		return world.Hashtag{}, a, err
	}
	var name string
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		var err error
		if name, err = findHashtagName(r.Context(), t, r.PathValue("id")); err != nil {
			return err
		}
		if name == "" {
			return graph.ErrNoObject
		}
		return countHashtag(r.Context(), t, a.ID, r.PathValue("id"), n.Now())
	})
	return world.Hashtag{Platform: Name, Name: name}, a, err
}

// topMedia lists a page of a hashtag's top posts.
func (n *Network) topMedia(r *http.Request) (any, error) {
	hashtag, _, err := n.countQuery(r)
	if err != nil {
		return nil, err
	}
	limit, err := parseLimit(r.Form.Get("limit"), hashtagPageSize)
	if err != nil {
		return nil, err
	}
	cursor := world.Cursor{Type: "top", Day: world.DayOf(n.Now())}
	if text := r.Form.Get("after"); text != "" {
		var valid bool
		if cursor, valid = cursor.Resume(text); !valid {
			return nil, graph.InvalidParameter("(#100) Invalid cursor")
		}
	}
	posts := hashtag.Top(cursor.Day)
	from, to, next := cursor.Page(len(posts), limit)
	return n.hashtagPosts(r, posts[from:to], world.StartOf(cursor.Day+1), next)
}

// hashtagPosts returns the response with a page of posts. now is the time of their metrics. next is the cursor for the
// next page.
func (n *Network) hashtagPosts(r *http.Request, posts []world.Post, now int64, next string) (any, error) {
	fields := []field{{name: "id"}}
	if text := r.Form.Get("fields"); text != "" {
		var ok bool
		if fields, ok = parseFields(text); !ok {
			return nil, errSyntax
		}
	}
	data := []map[string]any{}
	for _, post := range posts {
		view, err := selectFields(fields, mediaView(n.BaseURL(r), post, now))
		if err != nil {
			return nil, err
		}
		data = append(data, view)
	}
	response := map[string]any{"data": data}
	if next != "" {
		query := r.URL.Query()
		query.Set("after", next)
		response["paging"] = map[string]any{
			"cursors": map[string]string{"after": next},
			"next":    n.BaseURL(r) + "/" + n.Platform + r.URL.Path + "?" + query.Encode(),
		}
	}
	return response, nil
}

// hashtagCursors stores the position of each account in the recent posts of each hashtag. The position cannot be in the
// cursor, because Instagram's cursor is the same on every page.
type hashtagCursors struct {
	mu        sync.Mutex
	positions map[string]world.Position
}

// maxCursors is the maximum number of stored positions. When it is reached, all positions are discarded.
const maxCursors = 10_000

func (c *hashtagCursors) set(key string, pos world.Position, hasMore bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.positions == nil || len(c.positions) >= maxCursors {
		c.positions = map[string]world.Position{}
	}
	delete(c.positions, key)
	if hasMore {
		c.positions[key] = pos
	}
}

func (c *hashtagCursors) get(key string) (world.Position, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	pos, ok := c.positions[key]
	return pos, ok
}

// recentMedia lists the next page of a hashtag's posts from the last 24 hours.
func (n *Network) recentMedia(r *http.Request) (any, error) {
	hashtag, a, err := n.countQuery(r)
	if err != nil {
		return nil, err
	}
	limit, err := parseLimit(r.Form.Get("limit"), hashtagPageSize)
	if err != nil {
		return nil, err
	}
	key := a.ID + " " + hashtag.Name
	cursor := world.Cursor{Type: "recent " + hashtag.Name, Offset: 1}.String()
	pos := hashtag.StartRecent(n.Now().Unix())
	if text := r.Form.Get("after"); text != "" {
		position, ok := n.cursors.get(key)
		if text != cursor || !ok {
			return nil, graph.InvalidParameter("(#100) Invalid cursor")
		}
		pos = position
	}
	posts, next, hasMore := hashtag.Recent(pos, limit)
	if !hasMore {
		cursor = ""
	}
	response, err := n.hashtagPosts(r, posts, pos.Now, cursor)
	if err == nil {
		n.cursors.set(key, next, hasMore)
	}
	return response, err
}

// listSearches lists the hashtags that count against the account's quota.
func (n *Network) listSearches(r *http.Request) (any, error) {
	a, err := n.authorizeOperator(r, r.PathValue("user"), "instagram_basic")
	if err != nil {
		return nil, err
	}
	limit, err := parseLimit(r.Form.Get("limit"), hashtagQuota)
	if err != nil {
		return nil, err
	}
	data := []map[string]string{}
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		ids, err := listHashtagSearches(r.Context(), t, a.ID, n.Now())
		for _, id := range ids[:min(limit, len(ids))] {
			data = append(data, map[string]string{"id": id})
		}
		return err
	})
	return map[string]any{"data": data}, err
}

func insertHashtag(ctx context.Context, t store.Tx, id, name string) error {
	return t.Run(ctx, "saving a hashtag",
		`insert into instagram_hashtags (id, name) values (?, ?) on conflict do nothing`, id, name)
}

// findHashtagName returns the name of the hashtag with the given ID, or "" if it does not exist.
func findHashtagName(ctx context.Context, t store.Tx, id string) (string, error) {
	var name string
	err := t.QueryRowContext(ctx, `select name from instagram_hashtags where id = ?`, id).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("finding a hashtag: %w", err)
	}
	return name, nil
}

// listHashtagSearches returns the IDs of the hashtags that an account queried within hashtagWindow, oldest first.
func listHashtagSearches(ctx context.Context, t store.Tx, account string, now time.Time) ([]string, error) {
	return t.Strings(ctx, "reading searches",
		`select hashtag from instagram_searches where account = ? and at > ? order by at, hashtag`,
		account, now.Add(-hashtagWindow).UnixMilli())
}

// countHashtag counts a query for a hashtag against the account's quota, at most once per window.
func countHashtag(ctx context.Context, t store.Tx, account, id string, now time.Time) error {
	ids, err := listHashtagSearches(ctx, t, account, now)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(ids, id):
		return nil
	case len(ids) >= hashtagQuota:
		return errHashtagQuota
	}
	return t.Run(ctx, "counting a hashtag", `insert into instagram_searches (account, hashtag, at) values (?, ?, ?)
		on conflict (account, hashtag) do update set at = excluded.at`, account, id, now.UnixMilli())
}
