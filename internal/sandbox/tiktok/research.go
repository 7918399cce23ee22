package tiktok

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/sandbox/world"
)

const (
	kindClient     = "client" // kind of a token that speaks only for an app
	clientLifetime = 2 * time.Hour
	researchQuota  = 1000 // requests of a client per UTC day
)

var errResearchQuota = &apiError{
	http.StatusTooManyRequests, "daily_quota_limit_exceeded", "The daily quota of requests is used up.",
}

// clientToken issues a token of an app.
func (n *Network) clientToken(r *http.Request) (any, error) {
	text := "clt." + base.NewID() + base.NewID()
	now := n.Now()
	token := store.Token{
		Kind: kindClient, Session: base.NewID(), Account: "", Client: r.Form.Get("client_key"), Issued: now,
		Expires: now.Add(clientLifetime),
	}
	err := n.Store.InTx(r.Context(), func(t store.Tx) error {
		if err := t.CreateSession(r.Context(), Name, token.Session, token.Account); err != nil {
			return err
		}
		return t.SaveToken(r.Context(), Name, n.Hash(text), token)
	})
	return map[string]any{
		"access_token": text, "expires_in": int64(clientLifetime / time.Second), "token_type": "Bearer",
	}, err
}

// authenticateResearch counts a request of the app whose token it has.
func (n *Network) authenticateResearch(r *http.Request) error {
	ctx := r.Context()
	return n.Store.InTx(ctx, func(t store.Tx) error {
		token, ok, err := n.Find(ctx, t, kindClient, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if err != nil {
			return err
		}
		if !ok {
			return errToken
		}
		return countResearch(ctx, t, token.Client, world.DayOf(n.Now()))
	})
}

func countResearch(ctx context.Context, t store.Tx, client string, day int64) error {
	var used int
	err := t.QueryRowContext(ctx, `insert into tiktok_research (client, day, used) values (?, ?, 1)
		on conflict (client, day) do update set used = used + 1 returning used`, client, day).Scan(&used)
	if err != nil {
		return fmt.Errorf("counting a request: %w", err)
	}
	if used > researchQuota {
		return errResearchQuota
	}
	return nil
}

// The fields of a profile and of a video. The world has values for those that are true.
var (
	researchUserFields = map[string]bool{
		"display_name": true, "bio_description": true, "avatar_url": true, "is_verified": true, "follower_count": true,
		"following_count": true, "likes_count": true, "video_count": true, "bio_url": true,
	}
	researchVideoFields = map[string]bool{
		"id": true, "video_description": true, "create_time": true, "region_code": true, "share_count": true,
		"view_count": true,
		"like_count": true, "comment_count": true, "music_id": false, "hashtag_names": true, "username": true,
		"effect_ids":  false,
		"playlist_id": false, "voice_to_text": false, "is_stem_verified": false, "favourites_count": false,
		"video_duration":    true,
		"hashtag_info_list": false, "video_mention_list": false, "video_label": false,
	}
)

// parseResearchFields returns the requested fields, and refuses unknown ones.
func parseResearchFields(r *http.Request, known map[string]bool) ([]string, error) {
	fields := strings.Split(r.URL.Query().Get("fields"), ",")
	for _, field := range fields {
		if _, is := known[field]; !is {
			return nil, invalid("Fields: " + strconv.Quote(field) + " is not supported")
		}
	}
	return fields, nil
}

// researchUser returns a profile.
func (n *Network) researchUser(r *http.Request) (any, error) {
	if err := n.authenticateResearch(r); err != nil {
		return nil, err
	}
	fields, err := parseResearchFields(r, researchUserFields)
	if err != nil {
		return nil, err
	}
	var in struct {
		Username string `json:"username"`
	}
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	profile := world.Profile{Platform: Name, Name: strings.ToLower(in.Username)}
	if err := n.checkResearchUser(profile.Name); err != nil {
		return nil, err
	}
	day := world.DayOf(n.Now())
	posts := profile.Posts(day)
	face := profile.Details(day, len(posts))
	likes := int64(0)
	for _, post := range posts {
		likes += post.Metrics(world.StartOf(day)).Likes
	}
	return pickFields(fields, map[string]any{
		"display_name": face.DisplayName, "bio_description": face.Biography, "bio_url": face.Website,
		"is_verified": face.Followers > 500_000,
		"avatar_url":  n.BaseURL(r) + "/vendor/files/" + profile.Avatar().Path(), "follower_count": face.Followers,
		"following_count": face.Follows, "likes_count": likes, "video_count": face.Posts,
	}), nil
}

// checkResearchUser refuses profiles that are not visible.
func (n *Network) checkResearchUser(name string) error {
	switch {
	case strings.HasPrefix(name, world.PrefixPrivate):
		return invalid("user is private") // these two have no code of their own
	case !researchVisible(name):
		return invalid("cannot find the user")
	case strings.HasPrefix(name, world.PrefixFailing):
		return errInternal
	case strings.HasPrefix(name, world.PrefixSlow) && !n.Pause(world.SlowDelay):
		return marker.ErrLost
	}
	return nil
}

func researchVisible(name string) bool {
	return world.UsernamePattern.MatchString(name) && !strings.HasPrefix(name, world.PrefixMissing) &&
		!strings.HasPrefix(name, world.PrefixPrivate)
}

// researchVideos returns the videos that a query matches.
func (n *Network) researchVideos(r *http.Request) (any, error) {
	if err := n.authenticateResearch(r); err != nil {
		return nil, err
	}
	fields, err := parseResearchFields(r, researchVideoFields)
	if err != nil {
		return nil, err
	}
	var in researchSearch
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	if err := in.check(world.DayOf(n.Now())); err != nil {
		return nil, err
	}
	var found []researchVideo
	for _, name := range in.usernames() {
		switch {
		case strings.HasPrefix(name, world.PrefixFailing):
			return nil, errInternal
		case strings.HasPrefix(name, world.PrefixSlow) && !n.Pause(world.SlowDelay):
			return nil, marker.ErrLost
		case researchVisible(name):
			found = append(found, in.videosOf(world.Profile{Platform: Name, Name: name})...)
		}
	}
	slices.SortFunc(found, func(a, b researchVideo) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID))
	})
	from := min(in.Cursor, len(found))
	to := min(from+in.limit(), len(found))
	videos := []map[string]any{}
	for _, video := range found[from:to] {
		videos = append(videos, pickFields(fields, video.view(world.StartOf(in.day))))
	}
	return map[string]any{"videos": videos, "cursor": to, "has_more": to < len(found), "search_id": in.SearchID}, nil
}
