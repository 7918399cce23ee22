package bridge

import (
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/world"
)

const (
	maxPageSize = 200  // maximum number of posts on a page of a profile
	maxRecent   = 1000 // maximum number of recent posts with a hashtag
)

// PostMetrics contains a post and its metrics. Metrics that the network hides are omitted.
type PostMetrics struct {
	ID       string   `json:"id"`
	Format   string   `json:"format"`
	TakenAt  string   `json:"taken_at"`
	Caption  string   `json:"caption"`
	URL      string   `json:"url"`
	Hashtags []string `json:"hashtags"`
	Likes    *int64   `json:"likes,omitempty"`
	Comments int64    `json:"comments"`
	Shares   int64    `json:"shares"`
	Views    *int64   `json:"views,omitempty"`
	Duration float64  `json:"duration_seconds,omitempty"`
}

type profileInfo struct {
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Biography   string `json:"biography"`
	Website     string `json:"website,omitempty"`
	Followers   int64  `json:"followers"`
	Follows     int64  `json:"follows"`
	Posts       int64  `json:"posts"`
}

// ProfileMetrics is a page of a profile's metrics.
type ProfileMetrics struct {
	Profile profileInfo   `json:"profile"`
	Posts   []PostMetrics `json:"posts"`
	Next    string        `json:"next_cursor,omitempty"`
}

// profile serves the metrics that a profile had at the start of the current day.
func (b *Bridge) profile(w http.ResponseWriter, r *http.Request) {
	profile, query := world.Profile{Platform: r.PathValue("platform"), Name: r.PathValue("username")}, r.URL.Query()
	if _, ok := mediaTypes[profile.Platform]; !ok {
		base.WriteJSON(w, http.StatusNotFound, apiError{"not_offered"})
		return
	}
	if !b.checkProfile(w, profile.Name) {
		return
	}
	limit, validLimit := parseLimit(query.Get("limit"), maxPageSize)
	since, err := parseSince(query.Get("since"))
	cursor := world.Cursor{Type: "metrics", Day: world.DayOf(b.Now())}
	validCursor := true
	if text := query.Get("cursor"); text != "" {
		cursor, validCursor = cursor.Resume(text)
	}
	switch {
	case !validLimit:
		base.WriteJSON(w, http.StatusBadRequest, apiError{"invalid_limit"})
	case err != nil:
		base.WriteJSON(w, http.StatusBadRequest, apiError{"invalid_since"})
	case !validCursor:
		base.WriteJSON(w, http.StatusBadRequest, apiError{"invalid_cursor"})
	default:
		base.WriteJSON(w, http.StatusOK, newProfileMetrics(profile, cursor, limit, since, b.BaseURL(r)))
	}
}

// parseSince parses the minimum time of posts and returns it in Unix seconds. It returns 0 for an empty string.
func parseSince(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	since, err := time.Parse(time.RFC3339, text)
	return since.Unix(), err
}

// newProfileMetrics returns a page of a profile's metrics on the cursor's day. It contains only posts since the given
// time.
func newProfileMetrics(p world.Profile, cursor world.Cursor, limit int, since int64, base string) ProfileMetrics {
	posts, traits := p.Posts(cursor.Day), p.Traits()
	details := p.Details(cursor.Day, len(posts))
	page := ProfileMetrics{Profile: profileInfo{
		Username: p.Name, DisplayName: details.DisplayName, Biography: details.Biography, Website: details.Website,
		Followers: details.Followers, Follows: details.Follows, Posts: details.Posts,
	}, Posts: []PostMetrics{}}
	count := len(posts)
	for count > 0 && posts[count-1].At < since {
		count--
	}
	from, to, next := cursor.Page(count, limit)
	for _, post := range posts[from:to] {
		metrics := newPostMetrics(post, world.StartOf(cursor.Day), world.PostURL(base, p.Platform, p.Name, post))
		if traits.HidesLikes {
			metrics.Likes = nil
		}
		page.Posts = append(page.Posts, metrics)
	}
	page.Next = next
	return page
}

// newPostMetrics returns a post with its metrics at a time in Unix seconds.
func newPostMetrics(post world.Post, at int64, url string) PostMetrics {
	metrics := post.Metrics(at)
	result := PostMetrics{
		ID: post.ID, Format: post.Format, TakenAt: time.Unix(post.At, 0).UTC().Format(time.RFC3339),
		Caption: post.Caption, URL: url,
		Hashtags: post.Tags, Likes: &metrics.Likes, Comments: metrics.Comments, Shares: metrics.Shares,
		Duration: post.File.Seconds,
	}
	if post.Views > 0 {
		result.Views = &metrics.Views
	}
	return result
}

// HashtagMetrics contains the statistics of a hashtag.
type HashtagMetrics struct {
	Hashtag struct {
		Posts int64 `json:"posts"`
	} `json:"hashtag"`
	Top        []PostMetrics `json:"top"`
	Recent     []PostMetrics `json:"recent"`
	RecentFrom string        `json:"recent_from"`
}

// hashtag serves the statistics of a hashtag: its number of posts, the top posts and the most recent posts.
func (b *Bridge) hashtag(w http.ResponseWriter, r *http.Request) {
	platform, name := r.PathValue("platform"), r.PathValue("hashtag")
	hashtag, exists := world.NewHashtag(platform, name)
	limit, validLimit := parseLimit(r.URL.Query().Get("limit"), maxRecent)
	_, supported := mediaTypes[platform]
	switch {
	case !supported:
		base.WriteJSON(w, http.StatusNotFound, apiError{"not_offered"})
	case !exists:
		base.WriteJSON(w, http.StatusNotFound, apiError{"hashtag_not_found"})
	case strings.HasPrefix(hashtag.Name, world.HashtagFailing):
		base.WriteJSON(w, http.StatusInternalServerError, apiError{"internal"})
	case !validLimit:
		base.WriteJSON(w, http.StatusBadRequest, apiError{"invalid_limit"})
	default:
		base.WriteJSON(w, http.StatusOK, newHashtagMetrics(hashtag, b.Now(), limit, b.BaseURL(r)))
	}
}

func newHashtagMetrics(h world.Hashtag, now time.Time, limit int, base string) HashtagMetrics {
	metrics := HashtagMetrics{Top: []PostMetrics{}, Recent: []PostMetrics{}}
	metrics.Hashtag.Posts = h.Size(now.Unix())
	top := h.Top(world.DayOf(now))
	for _, post := range top[:min(limit, len(top))] {
		metrics.Top = append(metrics.Top,
			newPostMetrics(post, topPostsTime(now), world.PostURL(base, h.Platform, "someone", post)))
	}
	recent, _, truncated := h.Recent(h.StartRecent(now.Unix()), limit)
	from := now.Unix() - world.SecondsPerDay + 1
	for _, post := range recent {
		metrics.Recent = append(metrics.Recent,
			newPostMetrics(post, now.Unix(), world.PostURL(base, h.Platform, "someone", post)))
		if truncated {
			from = post.At + 1 // other posts from this second may be missing from the list
		}
	}
	metrics.RecentFrom = time.Unix(min(from, now.Unix()), 0).UTC().Format(time.RFC3339)
	return metrics
}

// topPostsTime returns the time for which the metrics of top posts are computed, which is the end of the current day.
// The metrics therefore do not change during the day, and even the newest posts have likes and comments.
func topPostsTime(now time.Time) int64 { return world.StartOf(world.DayOf(now) + 1) }
