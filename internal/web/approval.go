package web

import (
	"context"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/accounts"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxLinkFiles is the maximum number of concurrent downloads through one approval link. It is higher than the number
// of files in a post, but keeps one link from occupying a whole node.
const maxLinkFiles = 48

// errTooManyFiles is the error for too many concurrent downloads through one approval link.
var errTooManyFiles = apierr.New(apierr.RateLimited,
	"Too many files are being loaded through this link. Try again in a moment.").With("scope", "approval_link").
	WithRetryAfter(time.Second)

// approvalThumbnail serves the thumbnail of a post's image to anyone with the approval link.
func (a *App) approvalThumbnail(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Image, a.Media.ThumbnailForTeam)
}

// approvalImage serves an image of a post in full size without metadata.
func (a *App) approvalImage(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Image, a.Media.OpenForTeam)
}

// approvalVideo serves a video of a post, in the requested ranges.
func (a *App) approvalVideo(w http.ResponseWriter, r *http.Request) {
	a.approvalFile(w, r, network.Video, a.Media.OpenForTeam)
}

// approvalFile serves a file of a post. It checks the link's download limit before it queries the database.
func (a *App) approvalFile(
	w http.ResponseWriter, r *http.Request, kind string,
	open func(ctx context.Context, team, id int64) (media.File, error),
) {
	token := r.PathValue("token")
	if !a.linkFiles.TryAcquire(token) {
		a.writeProblem(w, r, errTooManyFiles)
		return
	}
	defer a.linkFiles.Release(token)
	id, err := shell.PathID(r, "id")
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	team, item, err := a.Approvals.File(r.Context(), token, id)
	if err == nil && item.Kind != kind {
		err = apierr.ItemNotFound()
	}
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	file, err := open(r.Context(), team, id)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	defer file.Close()
	w.Header().Set("Cache-Control", "private, max-age=3600")
	serveFile(w, r, file)
}

// approvalAccount serves the profile picture of one of a post's accounts to anyone with the approval link.
func (a *App) approvalAccount(w http.ResponseWriter, r *http.Request) {
	id, err := shell.PathID(r, "id")
	var team int64
	if err == nil {
		team, err = a.Approvals.AccountTeam(r.Context(), r.PathValue("token"), id)
	}
	var picture analytics.Picture
	if err == nil {
		picture, err = a.Analytics.Picture(r.Context(), team, id)
	}
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	accounts.WritePicture(w, r, picture)
}
