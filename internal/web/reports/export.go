package reports

import (
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/result"
	"pressroom.example/pressroom/internal/web/shell"
)

func formatInt(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func formatFloat(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// ratioCells returns a ratio as three CSV cells: its value and the ends of its confidence interval.
func ratioCells(r *result.FindingRatio) []string {
	if r == nil {
		return []string{"", "", ""}
	}
	return []string{formatFloat(&r.Value), formatFloat(&r.Low), formatFloat(&r.High)}
}

// exportPosts sends all posts of a report as CSV.
func (h *Handlers) exportPosts(w http.ResponseWriter, r *http.Request, kind, id string) {
	v := shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	detail, err := h.reports.Detail(r.Context(), v.Team.ID, v.ID, kind, id)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := shell.NewCSVWriter(w, fileName(detail, "posts"), "id", "shown", "taken_at", "format", "likes", "comments",
		"shares", "views", "duration_seconds", "url", "caption")
	err = h.reports.Export(r.Context(), v.Team.ID, kind, id, func(e report.ExportedPost) error {
		takenAt, length := "", ""
		if !e.TakenAt.IsZero() {
			takenAt = e.TakenAt.In(zone).Format(time.RFC3339)
		}
		if e.Duration > 0 {
			length = strconv.FormatFloat(e.Duration.Seconds(), 'f', -1, 64)
		}
		out.WriteRow(e.ID, e.Shown, takenAt, e.Format, formatInt(e.Likes), formatInt(e.Comments), formatInt(e.Shares),
			formatInt(e.Views), length, e.URL, e.Caption)
		return out.Err()
	})
	out.Flush()
	if err != nil && !shell.IsClientGone(r) {
		h.Log.ErrorContext(r.Context(), "sending a CSV file failed", "report", id, "error", err)
		panic(http.ErrAbortHandler) // the client must notice the truncation
	}
}

// exportHashtags sends all hashtags of a report as CSV.
func (h *Handlers) exportHashtags(w http.ResponseWriter, r *http.Request, kind, id string) {
	var hashtags []result.FindingHashtag
	err := h.readPages(r, kind, id, "hashtags", func(out report.ReportSections) {
		hashtags = append(hashtags, out.Hashtags.Hashtags...)
	})
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.export(w, r, kind, id, "hashtags",
		[]string{
			"hashtag", "posts", "share", "ratio", "ratio_low", "ratio_high", "works", "lift", "lift_low", "lift_high",
			"related",
		}, func(out shell.CSVWriter) {
			for _, tag := range hashtags {
				cells := append([]string{tag.Hashtag, strconv.Itoa(tag.Posts), formatFloat(tag.Share)}, ratioCells(tag.Ratio)...)
				cells = append(append(cells, formatBool(tag.Works)), ratioCells(tag.Lift)...)
				out.WriteRow(append(cells, formatBool(tag.Related))...)
			}
		})
}

// exportTimes sends a report's time blocks of the week as CSV.
func (h *Handlers) exportTimes(w http.ResponseWriter, r *http.Request, kind, id string) {
	var blocks []result.FindingBlock
	err := h.readPages(r, kind, id, "times", func(s report.ReportSections) { blocks = s.Times.Blocks })
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.export(w, r, kind, id, "times",
		[]string{"days", "from_hour", "hours", "posts", "ratio", "ratio_low", "ratio_high"}, func(s shell.CSVWriter) {
			for _, b := range blocks {
				s.WriteRow(append([]string{b.Days, strconv.Itoa(b.Hour), strconv.Itoa(b.Hours), strconv.Itoa(b.Posts)},
					ratioCells(b.Ratio)...)...)
			}
		})
}

// readPages reads all pages of a section of a report, and calls visit for each page.
func (h *Handlers) readPages(r *http.Request, kind, id, section string, visit func(report.ReportSections)) error {
	args := operation.Arguments{"type": kind, "id": id, "sections": []any{section}, "limit": int64(50)}
	for {
		summary, outcome, err := shell.Run[report.ReportSummary](h.Shell, r, "get_report", args)
		if err != nil {
			return err
		}
		visit(*summary.Sections)
		if outcome.Page == nil {
			return nil
		}
		args["cursor"] = outcome.Page.Cursor
	}
}

// export sends a CSV file with the rows that fill writes.
func (h *Handlers) export(
	w http.ResponseWriter, r *http.Request, kind, id, content string, columns []string, fill func(shell.CSVWriter),
) {
	v := shell.VisitorOf(r.Context())
	detail, err := h.reports.Detail(r.Context(), v.Team.ID, v.ID, kind, id)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := shell.NewCSVWriter(w, fileName(detail, content), columns...)
	fill(out)
	out.Flush()
}

func fileName(d report.Detail, content string) string {
	return d.Platform + "-" + d.Kind + "-" + d.Subject + "-" + content + ".csv"
}

func formatBool(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}
