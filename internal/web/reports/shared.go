package reports

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/domain/report/sharelink"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxLinkFiles is the maximum number of concurrent downloads through one share link. It is higher than the number of
// thumbnails in a report.
const maxLinkFiles = 16

// sharedView is the page that a share link shows.
type sharedView struct {
	view

	TeamName string
	Ends     time.Time
}

// sharedPage shows a report to anyone with a share link to it.
func (h *Handlers) sharedPage(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	out, err := h.readShared(r)
	if apierr.Is(err, apierr.NotFound) {
		h.ShowMessage(w, r, http.StatusNotFound, "This link no longer works",
			"It has expired or was revoked. Ask the team that sent it for a new one.")
		return
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.ShowTitled(w, r, http.StatusOK, pages["shared"], subject(out.Kind, out.Subject), out)
}

// readShared reads the report that the link in the path shows.
func (h *Handlers) readShared(r *http.Request) (sharedView, error) {
	token := r.PathValue("token")
	link, err := h.links.Open(r.Context(), token)
	if err != nil {
		return sharedView{}, err
	}
	out := sharedView{view: view{Quoted: quotes{}, Shared: true, l: h.Language(r)}, TeamName: link.TeamName}
	if out.zone, err = time.LoadLocation(link.Zone); err != nil {
		return out, fmt.Errorf("loading the team's time zone: %w", err)
	}
	out.Ends = link.ExpiresAt.In(out.zone)
	out.thumbnailPath = func(media int64) string {
		return sharelink.Path + token + "/pictures/" + strconv.FormatInt(media, 10)
	}
	_, err = h.readMetrics(r.Context(), link.Team, link.Report,
		h.teamReader(r.Context(), link.Team, link.Kind, link.Report, out.zone), "", &out.view)
	// Set only the fields that the page shows, because the visitor must not see or change anything else.
	out.Detail = report.Detail{
		Kind: link.Kind, Platform: out.ReportSummary.Platform, Subject: out.ReportSummary.Subject, Status: report.Ready,
	}
	return out, err
}

// teamReader returns a reportReader that reads a team's report without a signed-in visitor.
func (h *Handlers) teamReader(ctx context.Context, team int64, kind, id string, zone *time.Location) reportReader {
	return func(sections []string, limit int, cursor string) (report.ReportSummary, metadata, error) {
		in := report.GetInput{Ref: report.Ref{Type: kind, ID: id}, Sections: sections, Limit: limit}
		if cursor != "" {
			in.Cursor = &cursor
		}
		out, err := h.reports.GetShared(ctx, team, zone, in)
		return out.Data, metadata{Notes: out.Notes, Untrusted: out.Untrusted}, err
	}
}

// errTooManyFiles is the error for too many concurrent downloads through one share link.
var errTooManyFiles = apierr.New(apierr.RateLimited,
	"Too many files are being loaded through this link. Try again in a moment.").With("scope",
	"report_link").WithRetryAfter(time.Second)

// sharedThumbnail serves the thumbnail of one of a shared report's best posts. It applies the link's limit before any
// database lookup.
func (h *Handlers) sharedThumbnail(w http.ResponseWriter, r *http.Request) {
	token := r.PathValue("token")
	if !h.linkFiles.TryAcquire(token) {
		shell.SetRetryAfter(w, errTooManyFiles)
		http.Error(w, errTooManyFiles.Detail, http.StatusTooManyRequests)
		return
	}
	defer h.linkFiles.Release(token)
	w.Header().Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	id, err := shell.PathID(r, "id")
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	link, err := h.links.Open(r.Context(), token)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	showsMedia, err := h.reports.ShowsMedia(r.Context(), link.Team, link.Report, id)
	if err == nil && !showsMedia {
		err = apierr.ItemNotFound()
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	file, err := h.media.ThumbnailForTeam(r.Context(), link.Team, id)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	defer file.Close()
	header := w.Header()
	header.Set("Content-Type", file.Type)
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("ETag", file.ETag)
	header.Set("Cache-Control", "private, max-age=3600")
	http.ServeContent(w, r, "", file.ModTime, file)
}
