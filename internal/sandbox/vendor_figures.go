package sandbox

import (
	"net/http"
	"strings"
	"time"
)

// Limits of a page of figures.
const (
	maxVendorFigures = 200
	maxVendorRecent  = 1000
)

// vendorPost is a post with its figures. Figures that the network hides are left out.
type vendorPost struct {
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

type vendorFace struct {
	Username    string `json:"username"`
	DisplayName string `json:"display_name"`
	Biography   string `json:"biography"`
	Website     string `json:"website,omitempty"`
	Followers   int64  `json:"followers"`
	Follows     int64  `json:"follows"`
	Posts       int64  `json:"posts"`
}

type vendorFigures struct {
	Profile vendorFace   `json:"profile"`
	Posts   []vendorPost `json:"posts"`
	Next    string       `json:"next_cursor,omitempty"`
}

// vendorProfile serves the figures of a profile as they were when the day began.
func (s *vendor) vendorProfile(w http.ResponseWriter, r *http.Request) {
	profile, query := worldProfile{platform: r.PathValue("platform"), name: r.PathValue("username")}, r.URL.Query()
	if _, known := vendorTypes[profile.platform]; !known {
		writeJSON(w, http.StatusNotFound, vendorError{"not_offered"})
		return
	}
	if !s.vendorShows(w, profile.name) {
		return
	}
	limit, good := vendorLimit(query.Get("limit"), maxVendorFigures)
	since, err := vendorSince(query.Get("since"))
	cursor := vendorCursor{Type: "figures", Day: dayOf(s.now())}
	going := true
	if text := query.Get("cursor"); text != "" {
		cursor, going = cursor.resumed(text)
	}
	switch {
	case !good:
		writeJSON(w, http.StatusBadRequest, vendorError{"invalid_limit"})
	case err != nil:
		writeJSON(w, http.StatusBadRequest, vendorError{"invalid_since"})
	case !going:
		writeJSON(w, http.StatusBadRequest, vendorError{"invalid_cursor"})
	default:
		writeJSON(w, http.StatusOK, vendorProfileFigures(profile, cursor, limit, since, s.baseURL(r)))
	}
}

// vendorSince parses the time of the oldest post. The default is no limit.
func vendorSince(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	since, err := time.Parse(time.RFC3339, text)
	return since.Unix(), err
}

// vendorProfileFigures returns a page of the profile on the day of the cursor, with posts since a time.
func vendorProfileFigures(p worldProfile, cursor vendorCursor, limit int, since int64, base string) vendorFigures {
	posts, h := p.posts(cursor.Day), p.habits()
	face := p.face(cursor.Day, len(posts))
	answer := vendorFigures{Profile: vendorFace{
		Username: p.name, DisplayName: face.displayName, Biography: face.biography, Website: face.website,
		Followers: face.followers, Follows: face.follows, Posts: face.posts,
	}, Posts: []vendorPost{}}
	wanted := len(posts)
	for wanted > 0 && posts[wanted-1].at < since {
		wanted--
	}
	from, to, next := cursor.page(wanted, limit)
	for _, post := range posts[from:to] {
		figures := vendorPostOf(post, startOf(cursor.Day), postURL(base, p.platform, p.name, post))
		if h.hidesLikes {
			figures.Likes = nil
		}
		answer.Posts = append(answer.Posts, figures)
	}
	answer.Next = next
	return answer
}

// vendorPostOf returns a post as it was at a time in Unix seconds.
func vendorPostOf(post worldPost, now int64, url string) vendorPost {
	figures := post.figures(now)
	answer := vendorPost{
		ID: post.id, Format: post.format, TakenAt: time.Unix(post.at, 0).UTC().Format(time.RFC3339),
		Caption: post.caption, URL: url,
		Hashtags: post.tags, Likes: &figures.likes, Comments: figures.comments, Shares: figures.shares,
		Duration: post.file.seconds,
	}
	if post.views > 0 {
		answer.Views = &figures.views
	}
	return answer
}

type vendorHashtagFigures struct {
	Hashtag struct {
		Posts int64 `json:"posts"`
	} `json:"hashtag"`
	Top        []vendorPost `json:"top"`
	Recent     []vendorPost `json:"recent"`
	RecentFrom string       `json:"recent_from"`
}

// vendorHashtag serves the figures of a hashtag: its size, today's top posts, and the most recent ones.
func (s *vendor) vendorHashtag(w http.ResponseWriter, r *http.Request) {
	platform, name := r.PathValue("platform"), r.PathValue("hashtag")
	hashtag, good := hashtagNamed(platform, name)
	limit, fits := vendorLimit(r.URL.Query().Get("limit"), maxVendorRecent)
	_, known := vendorTypes[platform]
	switch {
	case !known:
		writeJSON(w, http.StatusNotFound, vendorError{"not_offered"})
	case !good:
		writeJSON(w, http.StatusNotFound, vendorError{"hashtag_not_found"})
	case strings.HasPrefix(hashtag.name, markFailingHashtag):
		writeJSON(w, http.StatusInternalServerError, vendorError{"internal"})
	case !fits:
		writeJSON(w, http.StatusBadRequest, vendorError{"invalid_limit"})
	default:
		writeJSON(w, http.StatusOK, vendorHashtagAnswer(hashtag, s.now(), limit, s.baseURL(r)))
	}
}

func vendorHashtagAnswer(h worldHashtag, now time.Time, limit int, base string) vendorHashtagFigures {
	answer := vendorHashtagFigures{Top: []vendorPost{}, Recent: []vendorPost{}}
	answer.Hashtag.Posts = h.size(now.Unix())
	for _, post := range firstOf(h.top(dayOf(now)), limit) {
		answer.Top = append(answer.Top, vendorPostOf(post, topMoment(now), postURL(base, h.platform, "someone", post)))
	}
	recent, _, cut := h.recent(h.lately(now.Unix()), limit)
	from := now.Unix() - secondsPerDay + 1
	for _, post := range recent {
		answer.Recent = append(answer.Recent,
			vendorPostOf(post, now.Unix(), postURL(base, h.platform, "someone", post)))
		if cut {
			from = post.at + 1 // the page may lack others of that second
		}
	}
	answer.RecentFrom = time.Unix(min(from, now.Unix()), 0).UTC().Format(time.RFC3339)
	return answer
}

func firstOf(posts []worldPost, most int) []worldPost { return posts[:min(most, len(posts))] }

// topMoment returns when top posts are counted: at the end of the day, so that the day's figures do not change and the
// newest posts have some.
func topMoment(now time.Time) int64 { return startOf(dayOf(now) + 1) }
