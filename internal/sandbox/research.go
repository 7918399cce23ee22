package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	tiktokClient     = "client" // kind of a token that speaks only for an app
	tiktokClientLife = 2 * time.Hour
	researchQuota    = 1000 // requests of a client per UTC day
)

var errResearchQuota = &tiktokError{
	http.StatusTooManyRequests, "daily_quota_limit_exceeded", "The daily quota of requests is used up.",
}

// clientToken issues a token of an app.
func (n *tiktok) clientToken(r *http.Request) (any, error) {
	text := "clt." + newID() + newID()
	now := n.now()
	token := oauthToken{
		kind: tiktokClient, session: newID(), account: "", client: r.Form.Get("client_key"), issued: now,
		expires: now.Add(tiktokClientLife),
	}
	err := n.store.in(r.Context(), func(t tx) error {
		if err := t.beginSession(r.Context(), tiktokName, token.session, token.account); err != nil {
			return err
		}
		return t.keepOAuthToken(r.Context(), tiktokName, n.seal(text), token)
	})
	return map[string]any{
		"access_token": text, "expires_in": int64(tiktokClientLife / time.Second), "token_type": "Bearer",
	}, err
}

// researcher counts a request of the app whose token it has.
func (n *tiktok) researcher(r *http.Request) error {
	ctx := r.Context()
	return n.store.in(ctx, func(t tx) error {
		token, good, err := n.find(ctx, t, tiktokClient, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		if err != nil {
			return err
		}
		if !good {
			return errTikTokToken
		}
		return countResearch(ctx, t, token.client, dayOf(n.now()))
	})
}

func countResearch(ctx context.Context, t tx, client string, day int64) error {
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

// researchAsked returns the requested fields, and refuses unknown ones.
func researchAsked(r *http.Request, known map[string]bool) ([]string, error) {
	fields := strings.Split(r.URL.Query().Get("fields"), ",")
	for _, field := range fields {
		if _, is := known[field]; !is {
			return nil, tiktokInvalid("Fields: " + strconv.Quote(field) + " is not supported")
		}
	}
	return fields, nil
}

// researchUser returns a profile.
func (n *tiktok) researchUser(r *http.Request) (any, error) {
	if err := n.researcher(r); err != nil {
		return nil, err
	}
	fields, err := researchAsked(r, researchUserFields)
	if err != nil {
		return nil, err
	}
	var in struct {
		Username string `json:"username"`
	}
	if err := readTikTok(r, &in); err != nil {
		return nil, err
	}
	profile := worldProfile{platform: tiktokName, name: strings.ToLower(in.Username)}
	if err := n.researchable(profile.name); err != nil {
		return nil, err
	}
	day := dayOf(n.now())
	posts := profile.posts(day)
	face := profile.face(day, len(posts))
	likes := int64(0)
	for _, post := range posts {
		likes += post.figures(startOf(day)).likes
	}
	return tiktokPick(fields, map[string]any{
		"display_name": face.displayName, "bio_description": face.biography, "bio_url": face.website,
		"is_verified": face.followers > 500_000,
		"avatar_url":  n.baseURL(r) + "/vendor/files/" + profile.avatar().path(), "follower_count": face.followers,
		"following_count": face.follows, "likes_count": likes, "video_count": face.posts,
	}), nil
}

// researchable refuses profiles that are not visible.
func (n *tiktok) researchable(name string) error {
	switch {
	case strings.HasPrefix(name, markPrivate):
		return tiktokInvalid("user is private") // these two have no code of their own
	case !researchShows(name):
		return tiktokInvalid("cannot find the user")
	case strings.HasPrefix(name, markFailing):
		return errTikTokInternal
	case strings.HasPrefix(name, markSlowly) && !n.pause(slowWorld):
		return errLost
	}
	return nil
}

func researchShows(name string) bool {
	return usernamePattern.MatchString(name) && !strings.HasPrefix(name, markMissing) && !strings.HasPrefix(name,
		markPrivate)
}

// researchVideos returns the videos that a query matches.
func (n *tiktok) researchVideos(r *http.Request) (any, error) {
	if err := n.researcher(r); err != nil {
		return nil, err
	}
	fields, err := researchAsked(r, researchVideoFields)
	if err != nil {
		return nil, err
	}
	var in researchSearch
	if err := readTikTok(r, &in); err != nil {
		return nil, err
	}
	if err := in.check(dayOf(n.now())); err != nil {
		return nil, err
	}
	var found []researchVideo
	for _, name := range in.usernames() {
		switch {
		case strings.HasPrefix(name, markFailing):
			return nil, errTikTokInternal
		case strings.HasPrefix(name, markSlowly) && !n.pause(slowWorld):
			return nil, errLost
		case researchShows(name):
			found = append(found, in.of(worldProfile{platform: tiktokName, name: name})...)
		}
	}
	slices.SortFunc(found, func(a, b researchVideo) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.id, a.id))
	})
	from := min(in.Cursor, len(found))
	to := min(from+in.most(), len(found))
	videos := []map[string]any{}
	for _, video := range found[from:to] {
		videos = append(videos, tiktokPick(fields, video.told(startOf(in.day))))
	}
	return map[string]any{"videos": videos, "cursor": to, "has_more": to < len(found), "search_id": in.SearchID}, nil
}
