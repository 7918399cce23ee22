package sandbox

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
)

const (
	hashtagQuota  = 30 // different hashtags that an account may query in hashtagWindow
	hashtagWindow = 7 * 24 * time.Hour
	hashtagPage   = 50 // maximum number of posts
)

// The network's documentation does not name these codes. They are what it is known to answer.
var (
	errNoHashtag = &graphError{
		status: http.StatusBadRequest, code: 24, subcode: 2207024, message: "The requested resource does not exist",
	}
	errHashtagQuota = &graphError{
		status: http.StatusBadRequest, code: 18, subcode: 2207034,
		message: "The account has asked for the most different hashtags that it may in seven days",
	}
)

// hashtagID returns a hashtag's id, which is the same in every sandbox.
func hashtagID(name string) string { return stableID("17", "instagram hashtag "+name) }

// searchHashtag returns the id of a hashtag.
func (n *instagram) searchHashtag(r *http.Request) (any, error) {
	a, err := n.operator(r, r.Form.Get("user_id"), "instagram_basic")
	if err != nil {
		return nil, err
	}
	text := r.Form.Get("q")
	if text == "" {
		return nil, invalidParameter("(#100) The parameter q is required")
	}
	hashtag, good := hashtagNamed(instagramName, text)
	switch {
	case !good:
		return nil, errNoHashtag
	case strings.HasPrefix(hashtag.name, markFailingHashtag):
		return nil, errGraphInternal
	}
	id := hashtagID(hashtag.name)
	err = n.store.in(r.Context(), func(t tx) error {
		if err := insertHashtag(r.Context(), t, id, hashtag.name); err != nil {
			return err
		}
		return countHashtag(r.Context(), t, a.id, id, n.now())
	})
	return map[string]any{"data": []map[string]string{{"id": id}}}, err
}

// hashtagOf returns the name of the hashtag with the path's id, or "" if there is none.
func (n *instagram) hashtagOf(r *http.Request) (string, error) {
	var name string
	err := n.store.in(r.Context(), func(t tx) error {
		if _, _, err := n.bearer(r, t); err != nil {
			return err
		}
		var err error
		name, err = findHashtagName(r.Context(), t, r.PathValue("id"))
		return err
	})
	return name, err
}

// askHashtag counts a query for a hashtag's posts. It returns the hashtag and the account that queries it.
func (n *instagram) askHashtag(r *http.Request) (worldHashtag, account, error) {
	a, err := n.operator(r, r.Form.Get("user_id"), "instagram_basic")
	if err != nil {
		return worldHashtag{}, a, err
	}
	var name string
	err = n.store.in(r.Context(), func(t tx) error {
		var err error
		if name, err = findHashtagName(r.Context(), t, r.PathValue("id")); err != nil {
			return err
		}
		if name == "" {
			return errNoObject
		}
		return countHashtag(r.Context(), t, a.id, r.PathValue("id"), n.now())
	})
	return worldHashtag{platform: instagramName, name: name}, a, err
}

// topMedia returns a page of a hashtag's top posts.
func (n *instagram) topMedia(r *http.Request) (any, error) {
	hashtag, _, err := n.askHashtag(r)
	if err != nil {
		return nil, err
	}
	limit, err := graphLimit(r.Form.Get("limit"), hashtagPage)
	if err != nil {
		return nil, err
	}
	cursor := vendorCursor{Type: "top", Day: dayOf(n.now())}
	if text := r.Form.Get("after"); text != "" {
		var going bool
		if cursor, going = cursor.resumed(text); !going {
			return nil, invalidParameter("(#100) Invalid cursor")
		}
	}
	posts := hashtag.top(cursor.Day)
	from, to, next := cursor.page(len(posts), limit)
	return n.hashtagPosts(r, posts[from:to], startOf(cursor.Day+1), next)
}

// hashtagPosts returns a page of posts, without their authors.
func (n *instagram) hashtagPosts(r *http.Request, posts []worldPost, now int64, next string) (any, error) {
	fields := []graphField{{name: "id"}}
	if text := r.Form.Get("fields"); text != "" {
		var good bool
		if fields, good = parseGraphFields(text); !good {
			return nil, errGraphSyntax
		}
	}
	data := []map[string]any{}
	for _, post := range posts {
		one, err := told(fields, graphMedia(n.baseURL(r), post, now))
		if err != nil {
			return nil, err
		}
		data = append(data, one)
	}
	answer := map[string]any{"data": data}
	if next != "" {
		query := r.URL.Query()
		query.Set("after", next)
		answer["paging"] = map[string]any{
			"cursors": map[string]string{"after": next},
			"next":    n.baseURL(r) + "/" + n.platform + r.URL.Path + "?" + query.Encode(),
		}
	}
	return answer, nil
}

// hashtagWalks hold the position of each account in each hashtag's recent posts, as the network's cursor is the same on
// every page.
type hashtagWalks struct {
	mu    sync.Mutex
	stand map[string]hashtagPlace
}

// mostWalks limits the number of positions. At the limit all are dropped.
const mostWalks = 10_000

func (w *hashtagWalks) keep(key string, place hashtagPlace, going bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stand == nil || len(w.stand) >= mostWalks {
		w.stand = map[string]hashtagPlace{}
	}
	delete(w.stand, key)
	if going {
		w.stand[key] = place
	}
}

func (w *hashtagWalks) at(key string) (hashtagPlace, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	place, known := w.stand[key]
	return place, known
}

// recentMedia returns the next page of a hashtag's posts of the last 24 hours.
func (n *instagram) recentMedia(r *http.Request) (any, error) {
	hashtag, a, err := n.askHashtag(r)
	if err != nil {
		return nil, err
	}
	limit, err := graphLimit(r.Form.Get("limit"), hashtagPage)
	if err != nil {
		return nil, err
	}
	key := a.id + " " + hashtag.name
	cursor := vendorCursor{Type: "recent " + hashtag.name, From: 1}.String()
	place := hashtag.lately(n.now().Unix())
	if text := r.Form.Get("after"); text != "" {
		stood, known := n.walks.at(key)
		if text != cursor || !known {
			return nil, invalidParameter("(#100) Invalid cursor")
		}
		place = stood
	}
	posts, next, more := hashtag.recent(place, limit)
	answer, err := n.hashtagPosts(r, posts, place.now, map[bool]string{true: cursor}[more])
	if err == nil {
		n.walks.keep(key, next, more)
	}
	return answer, err
}

// searchedHashtags lists the hashtags that count against the account's quota.
func (n *instagram) searchedHashtags(r *http.Request) (any, error) {
	a, err := n.operator(r, r.PathValue("user"), "instagram_basic")
	if err != nil {
		return nil, err
	}
	limit, err := graphLimit(r.Form.Get("limit"), hashtagQuota)
	if err != nil {
		return nil, err
	}
	data := []map[string]string{}
	err = n.store.in(r.Context(), func(t tx) error {
		ids, err := listHashtagSearches(r.Context(), t, a.id, n.now())
		for _, id := range ids[:min(limit, len(ids))] {
			data = append(data, map[string]string{"id": id})
		}
		return err
	})
	return map[string]any{"data": data}, err
}

func insertHashtag(ctx context.Context, t tx, id, name string) error {
	if _, err := t.ExecContext(ctx, `insert into instagram_hashtags (id, name) values (?, ?) on conflict do nothing`,
		id, name); err != nil {
		return fmt.Errorf("saving a hashtag: %w", err)
	}
	return nil
}

// findHashtagName returns the name of a hashtag, or "" if there is none with this id.
func findHashtagName(ctx context.Context, t tx, id string) (string, error) {
	var name string
	err := t.QueryRowContext(ctx, `select name from instagram_hashtags where id = ?`, id).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("finding a hashtag: %w", err)
	}
	return name, nil
}

// listHashtagSearches returns the hashtags that an account queried within hashtagWindow, the oldest first.
func listHashtagSearches(ctx context.Context, t tx, account string, now time.Time) ([]string, error) {
	rows, err := t.QueryContext(ctx,
		`select hashtag from instagram_searches where account = ? and at > ? order by at, hashtag`,
		account, now.Add(-hashtagWindow).UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("reading searches: %w", err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("reading a search: %w", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading searches: %w", err)
	}
	return ids, nil
}

// countHashtag counts a query for a hashtag against the account's quota, once in the window.
func countHashtag(ctx context.Context, t tx, account, id string, now time.Time) error {
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
	_, err = t.ExecContext(ctx, `insert into instagram_searches (account, hashtag, at) values (?, ?, ?)
		on conflict (account, hashtag) do update set at = excluded.at`, account, id, now.UnixMilli())
	if err != nil {
		return fmt.Errorf("counting a hashtag: %w", err)
	}
	return nil
}
