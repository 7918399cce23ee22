package bridge

import (
	"net/http"
	"strings"
	"time"

	"pressroom/internal/sandbox/base"
	"pressroom/internal/sandbox/world"
)

// Limits of a page of metrics.
const (
	maxFigures = 200
	maxRecent  = 1000
)

// PostFigures is a post with its metrics. Metrics that the network hides are omitted.
type PostFigures struct {
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

type profileHead struct {
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Biography   string `json:"biography"`
	Website     string `json:"website,omitempty"`
	Followers   int64  `json:"followers"`
	Follows     int64  `json:"follows"`
	Posts       int64  `json:"posts"`
}

// ProfileFigures is a page of a profile's metrics.
type ProfileFigures struct {
	Profile profileHead   `json:"profile"`
	Posts   []PostFigures `json:"posts"`
	Next    string        `json:"next_cursor,omitempty"`
}

// profile serves a profile's metrics as of the start of the day.
func (s *Bridge) profile(w http.ResponseWriter, r *http.Request) {
	profile, query := world.Profile{Platform: r.PathValue("platform"), Name: r.PathValue("username")}, r.URL.Query()
	if _, known := mediaTypes[profile.Platform]; !known {
		base.WriteJSON(w, http.StatusNotFound, apiError{"not_offered"})
		return
	}
	if !s.checkProfile(w, profile.Name) {
		return
	}
	limit, ok := parseLimit(query.Get("limit"), maxFigures)
	since, err := parseSince(query.Get("since"))
	cursor := world.Cursor{Type: "figures", Day: world.DayOf(s.Now())}
	valid := true
	if text := query.Get("cursor"); text != "" {
		cursor, valid = cursor.Resume(text)
	}
	switch {
	case !ok:
		base.WriteJSON(w, http.StatusBadRequest, apiError{"invalid_limit"})
	case err != nil:
		base.WriteJSON(w, http.StatusBadRequest, apiError{"invalid_since"})
	case !valid:
		base.WriteJSON(w, http.StatusBadRequest, apiError{"invalid_cursor"})
	default:
		base.WriteJSON(w, http.StatusOK, newProfileFigures(profile, cursor, limit, since, s.BaseURL(r)))
	}
}

// parseSince parses the time of the oldest post. The default is no limit.
func parseSince(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	since, err := time.Parse(time.RFC3339, text)
	return since.Unix(), err
}

// newProfileFigures returns a page of the profile on the day of the cursor, with posts since a time.
func newProfileFigures(p world.Profile, cursor world.Cursor, limit int, since int64, base string) ProfileFigures {
	posts, h := p.Posts(cursor.Day), p.Traits()
	face := p.Face(cursor.Day, len(posts))
	answer := ProfileFigures{Profile: profileHead{
		Username: p.Name, DisplayName: face.DisplayName, Biography: face.Biography, Website: face.Website,
		Followers: face.Followers, Follows: face.Follows, Posts: face.Posts,
	}, Posts: []PostFigures{}}
	wanted := len(posts)
	for wanted > 0 && posts[wanted-1].At < since {
		wanted--
	}
	from, to, next := cursor.Page(wanted, limit)
	for _, post := range posts[from:to] {
		figures := newPostFigures(post, world.StartOf(cursor.Day), world.PostURL(base, p.Platform, p.Name, post))
		if h.HidesLikes {
			figures.Likes = nil
		}
		answer.Posts = append(answer.Posts, figures)
	}
	answer.Next = next
	return answer
}

// newPostFigures returns a post as it was at a time in Unix seconds.
func newPostFigures(post world.Post, now int64, url string) PostFigures {
	figures := post.Figures(now)
	answer := PostFigures{
		ID: post.ID, Format: post.Format, TakenAt: time.Unix(post.At, 0).UTC().Format(time.RFC3339),
		Caption: post.Caption, URL: url,
		Hashtags: post.Tags, Likes: &figures.Likes, Comments: figures.Comments, Shares: figures.Shares,
		Duration: post.File.Seconds,
	}
	if post.Views > 0 {
		answer.Views = &figures.Views
	}
	return answer
}

// HashtagFigures has the statistics of a hashtag.
type HashtagFigures struct {
	Hashtag struct {
		Posts int64 `json:"posts"`
	} `json:"hashtag"`
	Top        []PostFigures `json:"top"`
	Recent     []PostFigures `json:"recent"`
	RecentFrom string        `json:"recent_from"`
}

// hashtag serves the statistics of a hashtag: its size, today's top posts and the most recent posts.
func (s *Bridge) hashtag(w http.ResponseWriter, r *http.Request) {
	platform, name := r.PathValue("platform"), r.PathValue("hashtag")
	hashtag, ok := world.NewHashtag(platform, name)
	limit, fits := parseLimit(r.URL.Query().Get("limit"), maxRecent)
	_, known := mediaTypes[platform]
	switch {
	case !known:
		base.WriteJSON(w, http.StatusNotFound, apiError{"not_offered"})
	case !ok:
		base.WriteJSON(w, http.StatusNotFound, apiError{"hashtag_not_found"})
	case strings.HasPrefix(hashtag.Name, world.HashtagFailing):
		base.WriteJSON(w, http.StatusInternalServerError, apiError{"internal"})
	case !fits:
		base.WriteJSON(w, http.StatusBadRequest, apiError{"invalid_limit"})
	default:
		base.WriteJSON(w, http.StatusOK, newHashtagFigures(hashtag, s.Now(), limit, s.BaseURL(r)))
	}
}

func newHashtagFigures(h world.Hashtag, now time.Time, limit int, base string) HashtagFigures {
	answer := HashtagFigures{Top: []PostFigures{}, Recent: []PostFigures{}}
	answer.Hashtag.Posts = h.Size(now.Unix())
	for _, post := range firstOf(h.Top(world.DayOf(now)), limit) {
		answer.Top = append(answer.Top,
			newPostFigures(post, topMoment(now), world.PostURL(base, h.Platform, "someone", post)))
	}
	recent, _, cut := h.Recent(h.StartRecent(now.Unix()), limit)
	from := now.Unix() - world.SecondsPerDay + 1
	for _, post := range recent {
		answer.Recent = append(answer.Recent,
			newPostFigures(post, now.Unix(), world.PostURL(base, h.Platform, "someone", post)))
		if cut {
			from = post.At + 1 // the page may omit other posts of that second
		}
	}
	answer.RecentFrom = time.Unix(min(from, now.Unix()), 0).UTC().Format(time.RFC3339)
	return answer
}

func firstOf(posts []world.Post, limit int) []world.Post { return posts[:min(limit, len(posts))] }

// topMoment returns the time as of which top posts are counted. It is the end of the day, so that the day's metrics do
// not change and the newest posts have some.
func topMoment(now time.Time) int64 { return world.StartOf(world.DayOf(now) + 1) }
