package reports

import (
	"context"
	"net/http"
	"strconv"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/web/shell"
)

// metadata is the data that a reportReader returns in addition to the report.
type metadata struct {
	Notes     []string
	Untrusted []operation.Untrusted
	Cursor    string // cursor of the next page; empty on the last page
}

// reportReader reads a report with the given sections, starting at a cursor.
type reportReader func(sections []string, limit int, cursor string) (report.ReportSummary, metadata, error)

// visitorReader returns a reportReader that reads a report for the visitor, with the API's checks.
func (h *Handlers) visitorReader(r *http.Request, kind, id string) reportReader {
	return func(sections []string, limit int, cursor string) (report.ReportSummary, metadata, error) {
		args := operation.Arguments{"type": kind, "id": id, "limit": int64(limit)}
		if len(sections) > 0 {
			names := make([]any, len(sections))
			for i, name := range sections {
				names[i] = name
			}
			args["sections"] = names
		}
		if cursor != "" {
			args["cursor"] = cursor
		}
		out, outcome, err := shell.Run[report.ReportSummary](h.Shell, r, "get_report", args)
		meta := metadata{Notes: outcome.Notes, Untrusted: outcome.Untrusted}
		if outcome.Page != nil {
			meta.Cursor = outcome.Page.Cursor
		}
		return out, meta, err
	}
}

// readMetrics reads the summary, all available sections, and the page of posts at cursor into out. It returns the
// cursor of the next page, or "" on the last page.
func (h *Handlers) readMetrics(
	ctx context.Context, team int64, id string, read reportReader, cursor string, out *view,
) (string, error) {
	summary, meta, err := read(nil, maxListed, "")
	if err != nil {
		return "", err
	}
	out.ReportSummary, out.Notes = summary, notes.Translate(out.l, meta.Notes)
	if summary.MeasuredAt == nil {
		return "", nil
	}
	var sections []string
	for _, name := range summary.SectionsAvailable {
		if name != "posts" {
			sections = append(sections, name)
		}
	}
	if len(sections) > 0 {
		summaryWithSections, _, err := read(sections, maxListed, "")
		if err != nil {
			return "", err
		}
		out.Sections = *summaryWithSections.Sections
	}
	rest, meta, err := read([]string{"posts"}, postsPerPage, cursor)
	if err != nil {
		return "", err
	}
	out.ReportSummary, out.Sections.Posts = rest, rest.Sections.Posts
	out.Quoted.add(meta.Untrusted)
	return meta.Cursor, h.readHistory(ctx, team, id, out)
}

// readHistory reads the history of a profile, or the top posts of a hashtag.
func (h *Handlers) readHistory(ctx context.Context, team int64, id string, out *view) error {
	out.Reach = out.reach()
	if out.Engagement == nil {
		return nil
	}
	var found report.History
	var err error
	if out.ReportSummary.Kind == report.Hashtag {
		found, err = h.reports.TopPosts(ctx, team, id, out.zone)
	} else {
		found, err = h.reports.History(ctx, team, id, out.Engagement.Counts, out.zone)
	}
	out.History = history{found, out.zone, out.l}
	return err
}

// libraryThumbnailPath returns the path where members of the team can see a thumbnail.
func libraryThumbnailPath(media int64) string {
	return "/media/" + strconv.FormatInt(media, 10) + "/thumbnail"
}

// MayShare reports whether the visitor may share the report.
func (v view) MayShare() bool { return v.mayShare && v.Status == report.Ready }
