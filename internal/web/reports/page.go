package reports

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	maxListed     = 25  // maximum number of hashtags and words shown
	postsPerPage  = 15  // number of posts on a page
	captionLength = 280 // maximum number of characters shown of a caption
)

// view is a report's page.
type view struct {
	report.ReportSummary
	report.Detail

	Sections      report.ReportSections // replaces ReportSummary.Sections, which may be nil
	Notes         []string
	Quoted        quotes
	History       history
	Reach         float64 // scale of all ratios; see plot.Range
	First, Next   string  // paths of other pages of posts; "" if there is none
	Shared        bool    // the report is shown through a share link or in an email
	MaySpend      bool
	Balance       *int64
	WaitMinutes   int
	Interval      int    // minimum minutes between refreshes
	RefreshPrice  int64  // credits for a refresh
	Error, At     string // error, and the form that it is about
	Chosen        int    // tracking interval in the form, in days
	zone          *time.Location
	l             *locale.Language
	mayShare      bool
	thumbnailPath func(media int64) string // returns the path of a thumbnail
}

// quotes maps the IDs of untrusted texts in a response to the texts.
type quotes map[string]string

// Of returns the text that a pointer refers to, or "".
func (q quotes) Of(p *operation.Pointer) string {
	if p == nil {
		return ""
	}
	return q[p.Untrusted]
}

// Short returns the beginning of the text that a pointer refers to.
func (q quotes) Short(p *operation.Pointer) string { return truncate(q.Of(p)) }

// truncate returns the beginning of a caption.
func truncate(caption string) string {
	text := []rune(caption)
	if len(text) <= captionLength {
		return caption
	}
	return string(text[:captionLength]) + "…"
}

// add adds the untrusted texts of a response.
func (q quotes) add(texts []operation.Untrusted) {
	for _, u := range texts {
		q[u.ID] = u.Text
	}
}

func (h *Handlers) page(w http.ResponseWriter, r *http.Request, kind, id string) {
	h.show(w, r, http.StatusOK, kind, id, "", "")
}

// show shows a report's page. If formErr is not empty, the page shows it in the given form.
func (h *Handlers) show(w http.ResponseWriter, r *http.Request, status int, kind, id, form, formErr string) {
	out, err := h.readView(r, kind, id)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out.At, out.Error = form, formErr
	h.ShowTitled(w, r, status, pages["report"], subject(out.Kind, out.Subject), out)
}

// readView reads the page's data.
func (h *Handlers) readView(r *http.Request, kind, id string) (view, error) {
	v := shell.VisitorOf(r.Context())
	out := view{Quoted: quotes{}, MaySpend: maySpend(r), thumbnailPath: libraryThumbnailPath, l: h.Language(r)}
	var err error
	if out.zone, err = time.LoadLocation(v.Team.Timezone); err != nil {
		return out, fmt.Errorf("loading the team's time zone: %w", err)
	}
	if out.Detail, err = h.reports.Detail(r.Context(), v.Team.ID, v.ID, kind, id); err != nil {
		return out, err
	}
	out.Ended, out.LastFailed = shell.TranslateText(out.l, out.Ended), shell.TranslateText(out.l, out.LastFailed)
	out.Interval, out.RefreshPrice = h.reports.Catalog.Limits.RefreshMinutes, h.reports.Catalog.Prices.ProfileReport
	if kind == report.Hashtag {
		out.RefreshPrice = h.reports.Catalog.Prices.HashtagReport
	}
	out.NextRefresh, out.Chosen = out.NextRefresh.In(out.zone), out.Frequency
	out.WaitMinutes = int((out.Wait + time.Minute - 1) / time.Minute)
	out.mayShare = v.Is(shell.Writers)
	from := r.URL.Query().Get("posts")
	next, err := h.readMetrics(r.Context(), v.Team.ID, id, h.visitorReader(r, kind, id), from, &out)
	if err != nil {
		return out, err
	}
	if from != "" {
		out.First = pageOf(r.URL, "posts", "") + "#posts"
	}
	if next != "" {
		out.Next = pageOf(r.URL, "posts", next) + "#posts"
	}
	if out.MaySpend {
		credits, err := h.budget(r)
		if err != nil {
			return out, err
		}
		out.Balance = credits.Balance
	}
	return out, nil
}

// reach returns a scale that fits all ratios on the page.
func (v view) reach() float64 {
	var ratios []float64
	add := func(r *result.FindingRatio) {
		if r != nil {
			ratios = append(ratios, r.Low, r.High)
		}
	}
	if s := v.Sections.Times; s != nil {
		for _, b := range s.Blocks {
			add(b.Ratio)
		}
	}
	if s := v.Sections.Formats; s != nil {
		for _, f := range s.Formats {
			add(f.Ratio)
		}
	}
	if s := v.Sections.Hashtags; s != nil {
		for _, h := range s.Hashtags {
			add(h.Ratio)
			add(h.Lift)
		}
	}
	return plot.Reach(ratios...)
}

// ZoneName returns the name of the time zone for hours and days.
func (v view) ZoneName() string { return v.zone.String() }

// EngagementParts returns the interactions that count as engagement, such as "likes and comments".
func (v view) EngagementParts() string {
	if v.ReportSummary.Kind == report.Hashtag {
		return v.l.And(countLabels(v.l, []string{"likes", "comments"}))
	}
	if v.Engagement == nil || len(v.Engagement.Counts) == 0 {
		return v.l.T("engagement")
	}
	return v.l.And(countLabels(v.l, v.Engagement.Counts))
}

// ExcludedPosts returns the number of posts that are excluded from engagement. The notes explain why.
func (v view) ExcludedPosts(posts int) int {
	if v.Engagement == nil || v.ReportSummary.Kind != report.Profile {
		return 0
	}
	return max(0, posts-v.Engagement.PostsAnalysed)
}

// MostUsed returns the highest number of posts with the same hashtag. It is the scale of the bars.
func (v view) MostUsed() float64 {
	most := 0
	if s := v.Sections.Hashtags; s != nil {
		for _, h := range s.Hashtags {
			most = max(most, h.Posts)
		}
	}
	return float64(most)
}

// HasViews reports whether the views of any top or recent post are known.
func (v view) HasViews() bool {
	a := v.Sections.Audience
	return a != nil && (a.Top != nil && a.Top.Views != nil || a.Recent != nil && a.Recent.Views != nil)
}

// HasLift reports whether the lift of any hashtag is known.
func (v view) HasLift() bool {
	s := v.Sections.Hashtags
	return s != nil && slices.ContainsFunc(s.Hashtags, func(h result.FindingHashtag) bool { return h.Lift != nil })
}

// part is a section in the page's table of contents.
type part struct {
	ID   string
	Name locale.Key
}

// Contents returns the available sections in order.
func (v view) Contents() []part {
	s := v.Sections
	var out []part
	add := func(shown bool, id string, name locale.Key) {
		if shown {
			out = append(out, part{id, name})
		}
	}
	add(s.Growth != nil || v.History.Followers() != "", "growth", "Growth")
	if v.ReportSummary.Kind == report.Hashtag {
		add(len(v.History.Best) > 0, "best", "Top posts")
		add(s.Hashtags != nil, "hashtags", "Used together")
		add(v.History.TopHours() != "", "times", "Posting times")
	} else {
		add(len(v.History.Best) > 0, "best", "Best posts")
		add(len(v.History.Spans) > 1, "time", "Engagement over time")
		add(s.Times != nil || v.History.Heat() != "", "times", "Posting times")
	}
	add(s.Formats != nil, "formats", "Formats")
	add(s.Audience != nil, "audience", "Engagement per post")
	add(s.Hashtags != nil && v.ReportSummary.Kind == report.Profile, "hashtags", "Hashtags")
	add(s.Words != nil, "words", "Words")
	add(s.Score != nil, "score", "Score")
	add(v.Engagement != nil, "engagement", "Engagement")
	add(s.Cadence != nil, "cadence", "Frequency")
	add(s.Posts != nil, "posts", "Posts")
	add(true, "method", "Method")
	add(v.Status == report.Ready && !v.Shared, "keep", "Updates")
	add(!v.Shared, "files", "Export")
	return out
}

// Most returns the number of posts that contain the most used word. It is the scale for the size of the words.
func (v view) Most() float64 {
	if s := v.Sections.Words; s != nil && len(s.Words) > 0 {
		return float64(s.Words[0].Posts)
	}
	return 0
}
