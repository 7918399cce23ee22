package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// GetInput is the input of get_report.
type GetInput struct {
	Ref

	Sections []string `json:"sections,omitempty" maxItems:"20" jsonschema:"Names from sections_available. Omit for the summary only."`
	Cursor   *string  `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the previous page."`
	Limit    int      `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items per page of a long section."`
}

// ReportSummary is a report. Which metrics it has depends on its kind and on the provider.
type ReportSummary struct {
	ReportEntry

	Profile           *ReportAccount              `json:"profile,omitempty" jsonschema:"Profile reports only."`
	Hashtag           *hashtaganalysis.TagHashtag `json:"hashtag,omitempty" jsonschema:"Hashtag reports only."`
	Engagement        *result.FindingEngagement   `json:"engagement,omitempty" jsonschema:"Key engagement metrics."`
	Score             *result.FindingScore        `json:"score,omitempty" jsonschema:"Weighted mean of its components, 0 to 100."`
	TopHashtags       []result.FindingHashtag     `json:"top_hashtags,omitzero" jsonschema:"Most effective or related first."`
	TopWords          []result.FindingWord        `json:"top_words,omitzero" jsonschema:"Words in captions, most used first."`
	BestTime          *result.FindingBestTime     `json:"best_time,omitempty"`
	MeasuredAt        *teamtime.Moment            `json:"measured_at,omitempty" jsonschema:"When the metrics were measured."`
	SectionsAvailable []string                    `json:"sections_available"`
	Sections          *ReportSections             `json:"sections,omitempty" jsonschema:"The requested sections."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ReportSummary) Descriptions() map[string]string {
	return map[string]string{"best_time": "Omitted for fewer than 30 dated posts. May be chance unless stands_out."}
}

// ReportAccount is the profile of a report. Unknown fields are omitted.
type ReportAccount struct {
	Username    string             `json:"username"`
	URL         string             `json:"url"`
	DisplayName *operation.Pointer `json:"display_name,omitempty"`
	Biography   *operation.Pointer `json:"biography,omitempty"`
	Website     *operation.Pointer `json:"website,omitempty"`
	Followers   *int64             `json:"followers,omitempty"`
	Follows     *int64             `json:"follows,omitempty"`
	Posts       *int64             `json:"posts,omitempty"`
}

// account is the stored profile of a report.
type account struct {
	DisplayName string `json:"display_name,omitempty"`
	Biography   string `json:"biography,omitempty"`
	Website     string `json:"website,omitempty"`
	Followers   *int64 `json:"followers,omitempty"`
	Follows     *int64 `json:"follows,omitempty"`
	Posts       *int64 `json:"posts,omitempty"`
}

func (a account) toAccount(quotes *operation.UntrustedTexts, r record) *ReportAccount {
	newSource := func(kind string) operation.Source {
		return operation.Source{Kind: kind, Platform: r.platform, Account: r.subject,
			URL: provider.ProfileURL(r.platform,
				r.subject)}
	}
	return &ReportAccount{
		Username: r.subject, URL: provider.ProfileURL(r.platform, r.subject), DisplayName: quotes.Add(a.DisplayName,
			newSource("display_name")),
		Biography: quotes.Add(a.Biography, newSource("biography")), Website: quotes.Add(a.Website, newSource("biography")),
		Followers: a.Followers, Follows: a.Follows, Posts: a.Posts,
	}
}

// get returns a report with the requested sections.
func (s *Service) get(ctx context.Context, call operation.Call, in GetInput) (operation.Response[ReportSummary], error) {
	out := operation.Response[ReportSummary]{App: "/reports/" + in.ID}
	r, err := find(ctx, s.db, call.TeamID, in.Type, in.ID, db.Micros(call.Now))
	if err != nil {
		return out, err
	}
	out.Data = ReportSummary{ReportEntry: newEntry(call, r), SectionsAvailable: []string{}}
	var quotes operation.UntrustedTexts
	if !r.measuredAt.IsZero() {
		if err := s.addFindings(ctx, call, r, in, &out, &quotes); err != nil {
			return out, err
		}
	} else if err := checkSections(in.Sections, nil); err != nil {
		return out, err
	}
	out.Untrusted = quotes
	if r.measuredAt.IsZero() && in.Cursor != nil {
		_, err = call.Position(*in.Cursor)
	}
	message, failureErr := s.failureMessage(ctx, r)
	out.Notes = append(out.Notes, statusNotes(r, message)...)
	return out, errors.Join(err, failureErr)
}

// failureMessage returns why the report could not be created. It returns "" if the report did not fail or the job was
// deleted.
func (s *Service) failureMessage(ctx context.Context, r record) (string, error) {
	if r.status != Failed {
		return "", nil
	}
	lastJob, err := job.Get(ctx, s.db, r.team, r.lastJobID)
	return job.Message(lastJob.ErrorCode), ignoreMissing(err)
}

// statusNotes returns notes about the status of a report.
func statusNotes(r record, failureText string) []string {
	var notes []string
	if r.status == Pending {
		notes = append(notes, "This report is being created. Try again in a few seconds.")
	}
	if r.status == Failed {
		notes = append(notes, strings.TrimSpace("This report could not be created and was refunded. "+failureText))
	}
	if r.trackingEnded != "" {
		notes = append(notes, trackingEndedNotes[r.trackingEnded])
	}
	return notes
}

// addFindings adds the findings to a response.
func (s *Service) addFindings(ctx context.Context, call operation.Call, r record, in GetInput,
	out *operation.Response[ReportSummary], quotes *operation.UntrustedTexts) error {
	found, notes, err := s.readFindings(ctx, r)
	if err != nil {
		return err
	}
	d := &out.Data
	if r.kind == Profile {
		d.Profile = found.account.toAccount(quotes, r)
	}
	d.Hashtag, d.Engagement, d.Score, d.TopHashtags, d.TopWords, d.BestTime = found.Hashtag, &found.Engagement,
		found.Score, found.TopHashtags, found.TopWords, found.BestTime
	d.MeasuredAt, out.Notes = call.MomentOrNil(r.measuredAt), notes
	sections := found.sections()
	for _, section := range sections {
		d.SectionsAvailable = append(d.SectionsAvailable, section.name)
	}
	if err := checkSections(in.Sections, d.SectionsAvailable); err != nil {
		return err
	}
	return s.addSections(ctx, call, r, in, sections, out, quotes)
}

// checkSections returns an error if a requested section does not exist.
func checkSections(requested, available []string) error {
	for _, name := range requested {
		if !slices.Contains(available, name) {
			return apierr.Invalid(apierr.NotAllowedValue, "sections",
				"This report has no such section. Use names from sections_available.")
		}
	}
	return nil
}

// position is the start of a page. Lists of items are paged by offset, and posts by the last post of the previous page.
type position struct {
	items       int    // number of items of each list on earlier pages
	publishedAt int64  // of the last post; Unix time in microseconds
	post        string // ID of the last post
}

// startPosition is the start of the first page.
var startPosition = position{publishedAt: 1 << 62}

func (p position) String() string {
	return strconv.Itoa(p.items) + "|" + strconv.FormatInt(p.publishedAt, 10) + "|" + p.post
}

func parsePosition(call operation.Call, cursor *string) (position, error) {
	if cursor == nil {
		return startPosition, nil
	}
	text, err := call.Position(*cursor)
	if err != nil {
		return startPosition, err
	}
	parts := strings.SplitN(text, "|", 3)
	var p position
	if len(parts) != 3 {
		return startPosition, fmt.Errorf("cursor position has %d parts", len(parts))
	}
	if p.items, err = strconv.Atoi(parts[0]); err != nil {
		return startPosition, fmt.Errorf("parsing a cursor position: %w", err)
	}
	if p.publishedAt, err = strconv.ParseInt(parts[1], 10, 64); err != nil {
		return startPosition, fmt.Errorf("parsing a cursor position: %w", err)
	}
	p.post = parts[2]
	return p, nil
}

// addSections adds the requested sections. One cursor advances all paged sections together.
func (s *Service) addSections(ctx context.Context, call operation.Call, r record, in GetInput, available []section,
	out *operation.Response[ReportSummary], quotes *operation.UntrustedTexts) error {
	pos, err := parsePosition(call, in.Cursor)
	if err != nil {
		return err
	}
	if len(in.Sections) == 0 {
		return nil
	}
	out.Data.Sections = &ReportSections{}
	next, hasMore := position{items: pos.items + in.Limit, publishedAt: pos.publishedAt, post: pos.post}, false
	for _, section := range available {
		switch {
		case !slices.Contains(in.Sections, section.name):
		case section.write == nil:
			page, morePosts, err := s.readPostPage(ctx, call, r, pos, &next, in.Limit, quotes)
			if err != nil {
				return err
			}
			out.Data.Sections.Posts, hasMore = &page, hasMore || morePosts
		default:
			section.write(out.Data.Sections, min(pos.items, section.count), min(next.items, section.count))
			hasMore = hasMore || next.items < section.count
		}
	}
	if hasMore {
		out.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(next.String())}
	}
	return nil
}

// ReportPosts is a page of the posts that a report is based on.
type ReportPosts struct {
	Posts []ReportPost `json:"posts"`
}

// ReportPost is a post of a report. Unknown metrics are omitted.
type ReportPost struct {
	ID              string             `json:"id"`
	Shown           string             `json:"shown,omitempty" enum:"top|recent" title:"ReportPostList"`
	URL             string             `json:"url,omitempty"`
	TakenAt         *teamtime.Moment   `json:"taken_at,omitempty"`
	Format          string             `json:"format,omitempty"`
	Caption         *operation.Pointer `json:"caption,omitempty"`
	Likes           *int64             `json:"likes,omitempty"`
	Comments        *int64             `json:"comments,omitempty"`
	Shares          *int64             `json:"shares,omitempty"`
	Views           *int64             `json:"views,omitempty"`
	DurationSeconds float64            `json:"duration_seconds,omitempty"`
}

// readPostPage returns a page of posts and reports whether more posts follow. It moves next to the end of the page.
func (s *Service) readPostPage(ctx context.Context, call operation.Call, r record, pos position, next *position,
	limit int, quotes *operation.UntrustedTexts) (ReportPosts, bool, error) {
	out := ReportPosts{Posts: []ReportPost{}}
	posts, err := s.posts(ctx, r.id, pos, limit+1)
	if err != nil {
		return out, false, err
	}
	hasMore := len(posts) > limit
	posts = posts[:min(len(posts), limit)]
	for _, p := range posts {
		out.Posts = append(out.Posts, toPost(call, r, p, quotes))
		next.publishedAt, next.post = db.Micros(p.TakenAt), p.ID
	}
	return out, hasMore, nil
}

func toPost(call operation.Call, r record, p listedPost, quotes *operation.UntrustedTexts) ReportPost {
	source := operation.Source{Kind: "caption", Platform: r.platform, URL: p.URL}
	out := ReportPost{ID: p.ID, URL: p.URL, TakenAt: call.MomentOrNil(p.TakenAt), Format: p.Format, Likes: p.Likes,
		Comments: p.Comments, Shares: p.Shares, Views: p.Views, DurationSeconds: p.Duration.Seconds()}
	if r.kind == Profile {
		source.Account = r.subject
	} else {
		out.Shown = p.list
	}
	out.Caption = quotes.Add(p.Caption, source)
	return out
}

// readStored decodes the stored account, analysis and notes of a report.
func (s *Service) readStored(ctx context.Context, r record, account, analysis, notes any) error {
	var texts [3]string
	if err := s.db.QueryRow(ctx, `SELECT account, analysis, notes FROM reports WHERE id = ?`, r.id).Scan(&texts[0],
		&texts[1], &texts[2]); err != nil {
		return fmt.Errorf("reading the findings of report %s: %w", r.id, err)
	}
	for i, target := range []any{account, analysis, notes} {
		if err := json.Unmarshal([]byte(texts[i]), target); err != nil {
			return fmt.Errorf("reading the findings of report %s: %w", r.id, err)
		}
	}
	return nil
}
