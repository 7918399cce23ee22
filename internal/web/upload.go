package web

import (
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// uploadView is the upload page.
type uploadView struct {
	media.Batch
	Files    []fileView
	Until    string   // when the page closes, in the team's time zone
	Problems []string // rejected files, for browsers without scripts
}

// fileView is a file of the batch.
type fileView struct {
	media.BatchFile
	Page string // path of the upload page
}

// rejectionTexts maps the error codes of rejected files to messages.
var rejectionTexts = map[string]locale.Key{
	"type_refused": "This file type is not supported, or the file is damaged. Upload an image or video of a type " +
		"listed above.",
	"too_large": "The file is larger than the limit above. Make it smaller and upload it again.",
	"storage_full": "Your team’s storage or the server’s disk is full. Delete files that you do not need, or ask " +
		"the operator for help.",
}

// Why returns the reason why a file was rejected, or "".
func (f fileView) Why() locale.Key {
	if f.Reason == "" {
		return ""
	}
	if text, ok := rejectionTexts[f.Reason]; ok {
		return text
	}
	return "The upload failed. Send the file again."
}

func (a *App) uploadPage(w http.ResponseWriter, r *http.Request) {
	a.showBatch(w, r, http.StatusOK, nil)
}

func (a *App) showBatch(w http.ResponseWriter, r *http.Request, status int, problems []string) {
	v := shell.VisitorOf(r.Context())
	id, err := batchID(r)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	batch, err := a.Library.Batch(r.Context(), v.ID, id)
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	if batch.TeamID != v.Team.ID && r.Method == http.MethodGet {
		a.SwitchTeam(w, r, shell.TeamOrFirst(v.Account, batch.TeamID), r.URL.RequestURI())
		return
	}
	view := uploadView{
		Batch: batch, Until: formatInZone(a.Language(r), batch.ExpiresAt, shell.TeamOrFirst(v.Account, batch.TeamID).Timezone),
		Problems: problems,
	}
	for _, f := range batch.Files {
		view.Files = append(view.Files, fileView{f, "/upload/" + id})
	}
	a.Show(w, r, status, pages["upload"], "Upload files", view)
}

// batchID returns the ID of the batch in the path.
func batchID(r *http.Request) (string, error) {
	id, err := uuid.Parse(r.PathValue("batch"))
	if err != nil || id.String() != r.PathValue("batch") {
		return "", apierr.ItemNotFound()
	}
	return id.String(), nil
}

// formatInZone formats a time in the named zone, or in UTC if the zone is unknown.
func formatInZone(l *locale.Language, at time.Time, zone string) string {
	loc, err := time.LoadLocation(zone)
	if err != nil {
		loc, zone = time.UTC, "UTC"
	}
	return l.Format(at.In(loc), locale.ClockOnDay) + " (" + zone + ")"
}

var errSignedOut = apierr.New(apierr.Unauthorized, "You are signed out. Sign in again in another tab, then try again.")

// uploadResponse is the response to the upload page's script.
type uploadResponse struct {
	MediaID int64  `json:"media_id"`
	Name    string `json:"name"`
	Already bool   `json:"already_in_library"`
}

// upload receives one file as the request's body, or a form's files from browsers without scripts.
func (a *App) upload(w http.ResponseWriter, r *http.Request) {
	body := shell.NewUpload(w, r)
	r.Body = body
	if shell.SendsFiles(r) {
		a.RequireSignIn(func(w http.ResponseWriter, r *http.Request) { a.uploadForm(w, r, body) })(w, r)
		return
	}
	result, err := a.uploadFile(r, body)
	if err != nil {
		// rejectFile discards the rest of the body without holding an upload slot.
		a.rejectFile(w, r, body, a.translateError(r, err))
		return
	}
	writeJSON(w, http.StatusOK, uploadResponse{result.MediaID, result.Name, result.AlreadyExists})
}

// translateError returns err with its Detail in the visitor's language. The page's script shows the Detail.
func (a *App) translateError(r *http.Request, err error) error {
	out := *apierr.FromError(err)
	out.Detail = a.Detail(r, err)
	return &out
}

// uploadFile adds the request's body to the batch as a file. It returns as soon as the file is rejected.
func (a *App) uploadFile(r *http.Request, body *shell.Upload) (media.AddResult, error) {
	if shell.VisitorOf(r.Context()) == nil {
		return media.AddResult{}, errSignedOut
	}
	release, err := a.AcquireUploadRequest(r)
	if err != nil {
		return media.AddResult{}, err
	}
	defer release()
	return a.add(r,
		media.Incoming{
			Name: r.URL.Query().Get("name"), Type: r.Header.Get("Content-Type"), Size: r.ContentLength, Body: body,
		})
}

// add adds a file to the batch in the path while holding an upload slot.
func (a *App) add(r *http.Request, file media.Incoming) (media.AddResult, error) {
	id, err := batchID(r)
	if err != nil {
		return media.AddResult{}, err
	}
	release, err := a.AcquireUploadSlot(r)
	if err != nil {
		return media.AddResult{}, err
	}
	defer release()
	return a.Library.AddToBatch(r.Context(), shell.VisitorOf(r.Context()).ID, id, file)
}

// uploadForm adds the files of a form to the batch in the path.
func (a *App) uploadForm(w http.ResponseWriter, r *http.Request, body *shell.Upload) {
	release, err := a.AcquireUploadRequest(r)
	if err == nil {
		defer release()
		err = a.checkForm(r)
	}
	if err != nil {
		body.Reject(w, r, func() { a.ShowError(w, r, err) })
		return
	}
	problems, err := a.addParts(r)
	switch {
	case err != nil:
		body.Reject(w, r, func() { a.ShowError(w, r, err) })
	case len(problems) > 0:
		body.Reject(w, r, func() { a.showBatch(w, r, http.StatusUnprocessableEntity, problems) })
	default:
		shell.Redirect(w, r, "/upload/"+r.PathValue("batch"))
	}
}

// checkForm returns an error if a form's Content-Length shows that its files exceed a limit.
func (a *App) checkForm(r *http.Request) error {
	id, err := batchID(r)
	if err != nil {
		return err
	}
	return a.Library.CheckBatchForm(r.Context(), shell.VisitorOf(r.Context()).ID, id, r.ContentLength)
}

// maxFieldBytes is the maximum size in bytes of the upload page's form, not counting the files.
const maxFieldBytes = 64 << 10

// addParts adds each file of a form and returns the errors of rejected files. It stops and returns an error if the
// batch is not found, an internal error occurs, the first file fails with a server error, or the form cannot be read.
func (a *App) addParts(r *http.Request) ([]string, error) {
	var problems []string
	fileCount := 0
	_, err := shell.ReadParts(r, maxFieldBytes, func(part *multipart.Part, _ url.Values) error {
		if fileCount++; fileCount > media.MaxFormFiles {
			if fileCount == media.MaxFormFiles+1 {
				problems = append(problems, a.T(r, media.TooManyFormFiles, media.MaxFormFiles))
			}
			return nil
		}
		_, err := a.add(r,
			media.Incoming{Name: part.FileName(), Type: part.Header.Get("Content-Type"), Size: -1, Body: part})
		switch f := apierr.FromError(err); {
		case err == nil:
		case f.Code == apierr.NotFound, f.Code == apierr.Internal, f.IsServerError() && fileCount == 1:
			return err
		default:
			problems = append(problems, part.FileName()+": "+a.Detail(r, err))
		}
		return nil
	})
	return problems, err
}

// errUploadInterrupted is the error if the client disconnected or sent nothing for a while. A client that has
// disconnected does not see it.
var errUploadInterrupted = apierr.Invalid(apierr.Malformed, "", "The upload was interrupted. Send the file again.")

// rejectFile writes the error response for a rejected file.
func (a *App) rejectFile(w http.ResponseWriter, r *http.Request, body *shell.Upload, err error) {
	if body.Err() != nil {
		err = errUploadInterrupted
	}
	body.Reject(w, r, func() { a.writeProblem(w, r, err) })
}

func (a *App) uploadDone(w http.ResponseWriter, r *http.Request) {
	id, err := batchID(r)
	if err == nil {
		err = a.Library.CloseBatch(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	}
	if err != nil {
		a.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, "/upload/"+id)
}

// describe saves an image's alternative text from an upload page. Requests that accept JSON get status 204 or a problem
// document instead of a page. It acts in the file's team, even if the visitor has selected another team.
func (a *App) describe(w http.ResponseWriter, r *http.Request) {
	wantsJSON := strings.Contains(r.Header.Get("Accept"), "application/json")
	if shell.VisitorOf(r.Context()) == nil && wantsJSON {
		a.writeProblem(w, r, a.translateError(r, errSignedOut))
		return
	}
	a.RequireSignIn(func(w http.ResponseWriter, r *http.Request) {
		if !a.ReadForm(w, r) {
			return
		}
		id, err := shell.PathID(r, "id")
		if err == nil {
			err = a.Library.Describe(r.Context(), shell.VisitorOf(r.Context()).ID, id, r.PostForm.Get("alt"))
		}
		switch {
		case err != nil && wantsJSON:
			a.writeProblem(w, r, a.translateError(r, err))
		case err != nil:
			a.ShowError(w, r, err)
		case wantsJSON:
			w.WriteHeader(http.StatusNoContent)
		default:
			a.Flash(r, "The alt text is saved.")
			shell.Redirect(w, r, shell.LocalPath(r.PostForm.Get("next")))
		}
	})(w, r)
}

// linkUploadResponse is the response to an upload through a one-time link.
type linkUploadResponse struct {
	Data receivedData `json:"data"`
}

type receivedData struct {
	MediaID int64 `json:"media_id"`
}

// receive accepts a file through a one-time upload link. It checks only the link's secret, not a session.
func (a *App) receive(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		w.Header().Set("Allow", http.MethodPut)
		a.writeProblem(w, r, apierr.New(apierr.MethodNotAllowed, "Use PUT to upload to this link."))
		return
	}
	body := shell.NewUpload(w, r)
	result, err := a.receiveLink(r, body)
	if err != nil {
		a.rejectFile(w, r, body, err) // discards the rest of the body without holding an upload slot
		return
	}
	writeJSON(w, http.StatusCreated, linkUploadResponse{receivedData{result.MediaID}})
}

// receiveLink accepts a file through an upload link while holding an upload slot. The library limits concurrent uploads
// per link and team.
func (a *App) receiveLink(r *http.Request, body *shell.Upload) (media.AddResult, error) {
	release, err := a.AcquireUploadSlot(r)
	if err != nil {
		return media.AddResult{}, err
	}
	defer release()
	link, err := a.Library.Link(r.Context(), r.PathValue("link"), apikey.BearerToken(r))
	if err != nil {
		return media.AddResult{}, err
	}
	return a.Library.Receive(r.Context(), link,
		media.Incoming{Type: r.Header.Get("Content-Type"), Size: r.ContentLength, Body: body})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // plain structs; the client may have disconnected
}
