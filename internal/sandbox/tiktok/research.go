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
	kindClient     = "client" // kind of a token that belongs to an app, not to a person
	clientLifetime = 2 * time.Hour
	researchQuota  = 1000 // requests per client and UTC day
)

var errResearchQuota = &apiError{
	http.StatusTooManyRequests, "daily_quota_limit_exceeded", "The daily quota of requests is used up.",
}

// clientToken issues a token that belongs to an app instead of a person.
func (n *Network) clientToken(r *http.Request) (any, error) {
	text := "clt." + base.NewID() + base.NewID()
	now := n.Now()
	token := store.Token{
		Kind: kindClient, Session: base.NewID(), Account: "", Client: r.Form.Get("client_key"), IssuedAt: now,
		ExpiresAt: now.Add(clientLifetime),
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

// authenticateResearch checks the request's token and counts the request against the app's quota.
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
	var requestCount int
	err := t.QueryRowContext(ctx, `insert into tiktok_research (client, day, used) values (?, ?, 1)
		on conflict (client, day) do update set used = used + 1 returning used`, client, day).Scan(&requestCount)
	if err != nil {
		return fmt.Errorf("counting a request: %w", err)
	}
	if requestCount > researchQuota {
		return errResearchQuota
	}
	return nil
}

// The fields of profiles and videos, and whether the sandbox returns them.
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

// parseResearchFields returns the requested fields. It returns an error for unknown fields.
func parseResearchFields(r *http.Request, knownFields map[string]bool) ([]string, error) {
	fields := strings.Split(r.URL.Query().Get("fields"), ",")
	for _, field := range fields {
		if _, ok := knownFields[field]; !ok {
			return nil, invalidParams("Fields: " + strconv.Quote(field) + " is not supported")
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
	details := profile.Details(day, len(posts))
	likes := int64(0)
	for _, post := range posts {
		likes += post.Metrics(world.StartOf(day)).Likes
	}
	return pickFields(fields, map[string]any{
		"display_name": details.DisplayName, "bio_description": details.Biography, "bio_url": details.Website,
		"is_verified": details.Followers > 500_000,
		"avatar_url":  n.BaseURL(r) + "/vendor/files/" + profile.Avatar().Path(), "follower_count": details.Followers,
		"following_count": details.Follows, "likes_count": likes, "video_count": details.Posts,
	}), nil
}

// checkResearchUser returns the error for a profile that cannot be read.
func (n *Network) checkResearchUser(name string) error {
	switch {
	case strings.HasPrefix(name, world.PrefixPrivate):
		return invalidParams("user is private")
	case !isResearchVisible(name):
		return invalidParams("cannot find the user")
	case strings.HasPrefix(name, world.PrefixFailing):
		return errInternal
	case strings.HasPrefix(name, world.PrefixSlow) && !n.Pause(world.SlowDelay):
		return marker.ErrLost
	}
	return nil
}

func isResearchVisible(name string) bool {
	return world.UsernamePattern.MatchString(name) && !strings.HasPrefix(name, world.PrefixMissing) &&
		!strings.HasPrefix(name, world.PrefixPrivate)
}

// researchVideos returns the videos that match a query.
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
	var matches []researchVideo
	for _, name := range in.usernames() {
		switch {
		case strings.HasPrefix(name, world.PrefixFailing):
			return nil, errInternal
		case strings.HasPrefix(name, world.PrefixSlow) && !n.Pause(world.SlowDelay):
			return nil, marker.ErrLost
		case isResearchVisible(name):
			matches = append(matches, in.findVideos(world.Profile{Platform: Name, Name: name})...)
		}
	}
	slices.SortFunc(matches, func(a, b researchVideo) int {
		return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(b.ID, a.ID))
	})
	from := min(in.Cursor, len(matches))
	to := min(from+in.limit(), len(matches))
	videos := []map[string]any{}
	for _, video := range matches[from:to] {
		videos = append(videos, pickFields(fields, video.view(world.StartOf(in.day))))
	}
	return map[string]any{"videos": videos, "cursor": to, "has_more": to < len(matches), "search_id": in.SearchID}, nil
}
