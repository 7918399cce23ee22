package web

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/domain/media"
	"pressroom/internal/web/shell"
)

// uploadView is what the upload page shows.
type uploadView struct {
	media.Batch
	Files    []fileView
	Until    string   // when the page closes, in the team's zone
	Problems []string // what was refused just now, where the browser runs no scripts
}

// fileView is a file of the batch as it is shown.
type fileView struct {
	media.BatchFile
	Page string // the address of the page that it is on
}

// reasons are what a file was refused for, in words (contract, job error codes).
var reasons = map[string]string{
	"type_refused": "This file type is not supported, or the file is damaged. Upload an image or video of a type " +
		"listed above.",
	"too_large": "The file is larger than the limit above. Make it smaller and upload it again.",
	"storage_full": "Your team’s storage or the service’s disk is full. Delete files that you do not need, " +
		"or ask the " +
		"operator of the service.",
}

// Why says why a file was refused; nothing of one that was not.
func (f fileView) Why() string {
	if f.Reason == "" {
		return ""
	}
	if text, ok := reasons[f.Reason]; ok {
		return text
	}
	return "It could not be taken. Send it again."
}

func (a *App) uploadPage(w http.ResponseWriter, r *http.Request) {
	a.showBatch(w, r, http.StatusOK, nil)
}

func (a *App) showBatch(w http.ResponseWriter, r *http.Request, status int, problems []string) {
	v := shell.VisitorOf(r.Context())
	id, err := batchID(r)
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	batch, err := a.Library.Batch(r.Context(), v.ID, id)
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	if batch.TeamID != v.Team.ID && r.Method == http.MethodGet {
		a.Turn(w, r, shell.LookedAt(v.Account, batch.TeamID), r.URL.RequestURI())
		return
	}
	view := uploadView{
		Batch: batch, Until: inZone(batch.ExpiresAt, shell.LookedAt(v.Account, batch.TeamID).Timezone),
		Problems: problems,
	}
	for _, f := range batch.Files {
		view.Files = append(view.Files, fileView{f, "/upload/" + id})
	}
	a.Show(w, r, status, pages["upload"], "Upload files", view)
}

// batchID is the batch's own part of the address.
func batchID(r *http.Request) (string, error) {
	id, err := uuid.Parse(r.PathValue("batch"))
	if err != nil || id.String() != r.PathValue("batch") {
		return "", apierr.Missing()
	}
	return id.String(), nil
}

func inZone(at time.Time, zone string) string {
	place, err := time.LoadLocation(zone)
	if err != nil {
		place, zone = time.UTC, "UTC"
	}
	return at.In(place).Format("15:04 on Monday 2 January") + " (" + zone + ")"
}

var errSignedOut = apierr.New(apierr.Unauthorized, "You are signed out. Sign in again in another tab, then repeat.")

// answer is how the page's script is told of a file that has arrived.
type answer struct {
	MediaID int64  `json:"media_id"`
	Name    string `json:"name"`
	Already bool   `json:"already_in_library"`
}

// upload takes one file as the request's body, or a form's files where the browser runs no scripts.
func (a *App) upload(w http.ResponseWriter, r *http.Request) {
	body := shell.ArrivingIn(w, r)
	r.Body = body
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		a.ForPeople(func(w http.ResponseWriter, r *http.Request) { a.uploadForm(w, r, body) })(w, r)
		return
	}
	arrived, err := a.uploadFile(r, body)
	if err != nil {
		a.refuseFile(w, r, body, err) // the rest of what is refused is read in nobody's place
		return
	}
	tell(w, http.StatusOK, answer{arrived.MediaID, arrived.Name, arrived.Already})
}

// uploadFile adds the file that is a request's whole body. It returns as soon as the file is refused.
func (a *App) uploadFile(r *http.Request, body *shell.Arriving) (media.Arrived, error) {
	if shell.VisitorOf(r.Context()) == nil {
		return media.Arrived{}, errSignedOut
	}
	leave, err := a.EnterUploads(r)
	if err != nil {
		return media.Arrived{}, err
	}
	defer leave()
	return a.add(r,
		media.Incoming{
			Name: r.URL.Query().Get("name"), Type: r.Header.Get("Content-Type"), Size: r.ContentLength, Body: body,
		})
}

// add adds a file in a place among uploads.
func (a *App) add(r *http.Request, f media.Incoming) (media.Arrived, error) {
	id, err := batchID(r)
	if err != nil {
		return media.Arrived{}, err
	}
	leave, err := a.EnterUpload(r)
	if err != nil {
		return media.Arrived{}, err
	}
	defer leave()
	return a.Library.AddToBatch(r.Context(), shell.VisitorOf(r.Context()).ID, id, f)
}

// uploadForm adds the files of a form.
func (a *App) uploadForm(w http.ResponseWriter, r *http.Request, body *shell.Arriving) {
	leave, err := a.EnterUploads(r)
	if err == nil {
		defer leave()
		err = a.checkForm(r)
	}
	if err != nil {
		body.Refuse(w, r, func() { a.Refuse(w, r, err) })
		return
	}
	problems, err := a.addParts(r)
	switch {
	case err != nil:
		body.Refuse(w, r, func() { a.Refuse(w, r, err) })
	case len(problems) > 0:
		body.Refuse(w, r, func() { a.showBatch(w, r, http.StatusUnprocessableEntity, problems) })
	default:
		shell.Redirect(w, r, "/upload/"+r.PathValue("batch"))
	}
}

// checkForm refuses a form whose length shows that its files cannot be taken.
func (a *App) checkForm(r *http.Request) error {
	id, err := batchID(r)
	if err != nil {
		return err
	}
	return a.Library.CheckBatchForm(r.Context(), shell.VisitorOf(r.Context()).ID, id, r.ContentLength)
}

var errForm = apierr.Invalid(apierr.Malformed, "", "This form cannot be read.")

// addParts adds each file of a form and returns what was refused, in words. An error ends the form: nothing of it was
// added, or the rest cannot be read.
func (a *App) addParts(r *http.Request) ([]string, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, errForm.Wrap(err)
	}
	var problems []string
	for files := 0; ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return problems, nil
		}
		if err != nil {
			return nil, errForm.Wrap(err)
		}
		if part.FileName() == "" {
			continue
		}
		if files++; files > media.MaxFormFiles {
			return append(problems, media.TooManyFormFiles), nil
		}
		_, err = a.add(r,
			media.Incoming{Name: part.FileName(), Type: part.Header.Get("Content-Type"), Size: -1, Body: part})
		switch f := apierr.Of(err); {
		case err == nil:
		case f.Code == apierr.NotFound, f.Code == apierr.Internal, f.IsServerError() && files == 1:
			return nil, err
		default:
			problems = append(problems, part.FileName()+": "+f.Detail)
		}
	}
}

// errBrokenOff is told where the client ended the upload or sent nothing for a while; mostly nobody hears it.
var errBrokenOff = apierr.Invalid(apierr.Malformed, "", "The upload broke off. Send the file again.")

// refuseFile answers for a file that was not taken.
func (a *App) refuseFile(w http.ResponseWriter, r *http.Request, body *shell.Arriving, err error) {
	if body.Err() != nil {
		err = errBrokenOff
	}
	body.Refuse(w, r, func() { a.tellProblem(w, r, err) })
}

func (a *App) uploadDone(w http.ResponseWriter, r *http.Request) {
	id, err := batchID(r)
	if err == nil {
		err = a.Library.CloseBatch(r.Context(), shell.VisitorOf(r.Context()).ID, id)
	}
	if err != nil {
		a.Refuse(w, r, err)
		return
	}
	shell.Redirect(w, r, "/upload/"+id)
}

// describe keeps the text that stands for a picture. The script is answered without a page. What an upload's page sends
// is for its file whatever team is looked at, as the files are; the form on a file's own page is of the page's team.
func (a *App) describe(w http.ResponseWriter, r *http.Request) {
	script := strings.Contains(r.Header.Get("Accept"), "application/json")
	if shell.VisitorOf(r.Context()) == nil && script {
		a.tellProblem(w, r, errSignedOut)
		return
	}
	a.ForPeople(func(w http.ResponseWriter, r *http.Request) {
		if !a.ReadForm(w, r) {
			return
		}
		own := "/media/" + r.PathValue("id")
		if !script && r.PostForm.Get("next") == own && shell.Astray(r, r.PostForm) {
			a.TurnBack(w, r, r.PostForm, own)
			return
		}
		id, err := mediaID(r)
		if err == nil {
			err = a.Library.Describe(r.Context(), shell.VisitorOf(r.Context()).ID, id, r.PostForm.Get("alt"))
		}
		switch {
		case err != nil && script:
			a.tellProblem(w, r, err)
		case err != nil:
			a.Refuse(w, r, err)
		case script:
			w.WriteHeader(http.StatusNoContent)
		default:
			a.Say(r, "The description is saved.")
			shell.Redirect(w, r, shell.OwnPath(r.PostForm.Get("next")))
		}
	})(w, r)
}

// received is how a machine is told of its file.
type received struct {
	Data receivedData `json:"data"`
}

type receivedData struct {
	MediaID int64 `json:"media_id"`
}

// receive takes a file by a link that works once. Its secret is all that counts: no session, no cookie.
func (a *App) receive(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPut {
		w.Header().Set("Allow", http.MethodPut)
		a.tellProblem(w, r, apierr.New(apierr.MethodNotAllowed, "An upload link takes PUT alone."))
		return
	}
	body := shell.ArrivingIn(w, r)
	arrived, err := a.takeIn(r, body)
	if err != nil {
		a.refuseFile(w, r, body, err) // the rest of what is refused is read in nobody's place
		return
	}
	tell(w, http.StatusCreated, received{receivedData{arrived.MediaID}})
}

// takeIn receives the file of a link in a place among uploads. The library bounds how many a link and a team have
// under way.
func (a *App) takeIn(r *http.Request, body *shell.Arriving) (media.Arrived, error) {
	leave, err := a.EnterUpload(r)
	if err != nil {
		return media.Arrived{}, err
	}
	defer leave()
	link, err := a.Library.Link(r.Context(), r.PathValue("link"), apikey.Bearer(r))
	if err != nil {
		return media.Arrived{}, err
	}
	return a.Library.Receive(r.Context(), link,
		media.Incoming{Type: r.Header.Get("Content-Type"), Size: r.ContentLength, Body: body})
}

func tell(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // plain structs; the client may be gone
}
