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
	hashtagQuota  = 30 // different ones that an account may ask for in hashtagWindow
	hashtagWindow = 7 * 24 * time.Hour
	hashtagPage   = 50 // posts at most
)

// The network's documents name neither code; these are what it is known to answer.
var (
	errNoHashtag = &graphError{
		status: http.StatusBadRequest, code: 24, subcode: 2207024, message: "The requested resource does not exist",
	}
	errHashtagQuota = &graphError{
		status: http.StatusBadRequest, code: 18, subcode: 2207034,
		message: "The account has asked for the most different hashtags that it may in seven days",
	}
)

// hashtagID gives a hashtag the same id in every sandbox.
func hashtagID(name string) string { return graphID("17", "instagram hashtag "+name) }

// searchHashtag is the id of a hashtag.
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
		if err := t.keepHashtag(r.Context(), id, hashtag.name); err != nil {
			return err
		}
		return t.countHashtag(r.Context(), a.id, id, n.now())
	})
	return map[string]any{"data": []map[string]string{{"id": id}}}, err
}

// hashtagOf is the name of the hashtag that the path names by its id; empty where there is none. Everybody may know it.
func (n *instagram) hashtagOf(r *http.Request) (string, error) {
	var name string
	err := n.store.in(r.Context(), func(t tx) error {
		if _, _, err := n.bearer(r, t); err != nil {
			return err
		}
		var err error
		name, err = t.hashtag(r.Context(), r.PathValue("id"))
		return err
	})
	return name, err
}

// askHashtag counts that an account asks for a hashtag's posts, and finds the hashtag and who asks.
func (n *instagram) askHashtag(r *http.Request) (worldHashtag, account, error) {
	a, err := n.operator(r, r.Form.Get("user_id"), "instagram_basic")
	if err != nil {
		return worldHashtag{}, a, err
	}
	var name string
	err = n.store.in(r.Context(), func(t tx) error {
		var err error
		if name, err = t.hashtag(r.Context(), r.PathValue("id")); err != nil {
			return err
		}
		if name == "" {
			return errNoObject
		}
		return t.countHashtag(r.Context(), a.id, r.PathValue("id"), n.now())
	})
	return worldHashtag{instagramName, name}, a, err
}

// topMedia is a page of a hashtag's best posts.
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

// hashtagPosts is a page of posts, of which nobody is told who posted them.
func (n *instagram) hashtagPosts(r *http.Request, posts []worldPost, now int64, next string) (any, error) {
	asked := []graphField{{name: "id"}}
	if text := r.Form.Get("fields"); text != "" {
		var good bool
		if asked, good = parseGraphFields(text); !good {
			return nil, errGraphSyntax
		}
	}
	data := []map[string]any{}
	for _, post := range posts {
		one, err := told(asked, graphMedia(n.baseURL(r), post, now))
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

// hashtagWalks are where each account stands in each hashtag's recent posts: the network's cursor is the same on every
// page of them, so that it has to remember.
type hashtagWalks struct {
	mu    sync.Mutex
	stand map[string]hashtagPlace
}

// mostWalks bounds what is remembered; past it, all walks begin anew.
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

// recentMedia is the next page of a hashtag's posts of the last 24 hours.
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

// searchedHashtags are those that count for the account now.
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
		ids, err := t.searches(r.Context(), a.id, n.now())
		for _, id := range ids[:min(limit, len(ids))] {
			data = append(data, map[string]string{"id": id})
		}
		return err
	})
	return map[string]any{"data": data}, err
}

func (t tx) keepHashtag(ctx context.Context, id, name string) error {
	if _, err := t.ExecContext(ctx, `insert into instagram_hashtags (id, name) values (?, ?) on conflict do nothing`,
		id, name); err != nil {
		return fmt.Errorf("keeping a hashtag: %w", err)
	}
	return nil
}

// hashtag is the name of one; empty where the id is of none.
func (t tx) hashtag(ctx context.Context, id string) (string, error) {
	var name string
	err := t.QueryRowContext(ctx, `select name from instagram_hashtags where id = ?`, id).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("finding a hashtag: %w", err)
	}
	return name, nil
}

// searches are the hashtags that an account has asked for in the last days, the first ones first.
func (t tx) searches(ctx context.Context, account string, now time.Time) ([]string, error) {
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

// countHashtag counts that an account asks for a hashtag: once in the window, from the first time on.
func (t tx) countHashtag(ctx context.Context, account, id string, now time.Time) error {
	ids, err := t.searches(ctx, account, now)
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
