package library

import (
	"net/http"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// addView is the page for adding files.
type addView struct {
	Folders []media.MediaFolder
	Price   int64
	Spends  bool
	Fields  url.Values
	Error   shell.FormError

	Types                        []string // MIME types of files that can be added
	MaxImageBytes, MaxVideoBytes int64
}

// Value returns the value of a field.
func (v addView) Value(name string) string { return v.Fields.Get(name) }

// Into returns the ID of the folder for new files, or 0 if there is none.
func (v addView) Into() int64 { return max(0, parseNumber(v.Value("folder"))) }

// InitialForm returns the name of the form to show first: the form with the error, or "upload".
func (v addView) InitialForm() string {
	switch v.Error.Field {
	case "url", "filename":
		return "link"
	case "platform", "username", "type", "limit":
		return "profile"
	}
	switch {
	case v.Error.Text != "" && v.Fields.Has("username"):
		return "profile"
	case v.Error.Text != "" && v.Fields.Has("url"):
		return "link"
	}
	return "upload"
}

// option is a value of a select field with its label.
type option struct {
	Value string
	Text  locale.Key
}

// kinds lists the kinds of media that can be downloaded from a profile.
var kinds = []option{
	{provider.Posts, "Posts"}, {provider.Reels, "Reels (Instagram)"}, {provider.Stories, "Stories (Instagram)"},
	{provider.Highlights, "Highlights (Instagram)"},
	{provider.Playlists, "Playlists (TikTok)"}, {provider.Avatar, "Profile picture"},
	{provider.Profile, "Profile picture and posts"},
}

// Kinds returns the options for the kind of media.
func (addView) Kinds() []option { return kinds }

func (h *Handlers) addPage(w http.ResponseWriter, r *http.Request) {
	h.showAdd(w, r, http.StatusOK, addView{Fields: url.Values{"folder": {r.URL.Query().Get("folder")}}})
}

func (h *Handlers) showAdd(w http.ResponseWriter, r *http.Request, status int, v addView) {
	var err error
	if v.Folders, err = h.folders(r); err != nil {
		h.ShowError(w, r, err)
		return
	}
	v.Price, v.Spends = h.media.Catalog.Prices.ProfileMediaDownload, shell.VisitorOf(r.Context()).Is(shell.Spenders)
	limits := h.media.Catalog.Limits
	v.Types, v.MaxImageBytes, v.MaxVideoBytes = media.Types, limits.MaxImageBytes, limits.MaxVideoBytes
	h.Show(w, r, status, pages["add"], "Add files", v)
}

// showFormError shows the forms again with the input and the error.
func (h *Handlers) showFormError(w http.ResponseWriter, r *http.Request, err error) {
	if formErr, ok := h.FormErrorOf(w, r, err, fieldNames); ok {
		h.showAdd(w, r, shell.StatusOf(err), addView{Fields: r.PostForm, Error: formErr})
	}
}

// upload creates a batch and redirects to its upload page.
func (h *Handlers) upload(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	args := operation.Arguments{}
	if folderID := parseNumber(r.PostForm.Get("folder")); folderID != 0 {
		args["folder_id"] = folderID
	}
	outcome, err := h.Do(r, "create_uploads", args)
	if err != nil {
		h.showFormError(w, r, err)
		return
	}
	batch, err := shell.Result[media.UploadBatch](outcome)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	shell.Redirect(w, r, "/upload/"+strings.TrimPrefix(batch.JobID, string(job.MediaImport)+":"))
}

func (h *Handlers) importFile(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	args := operation.Arguments{"url": strings.TrimSpace(r.PostForm.Get("url"))}
	if name := r.PostForm.Get("filename"); name != "" {
		args["filename"] = name
	}
	if folderID := parseNumber(r.PostForm.Get("folder")); folderID != 0 {
		args["folder_id"] = folderID
	}
	h.startJob(w, r, "import_media", args)
}

func (h *Handlers) download(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	h.startJob(w, r, "download_profile_media", operation.Arguments{
		"platform": r.PostForm.Get("platform"), "type": r.PostForm.Get("type"), "username": r.PostForm.Get("username"),
		"limit": parseNumber(r.PostForm.Get("limit")), "save_to_library": true,
	})
}

// startJob runs an operation that creates a job, and redirects to the job's page.
func (h *Handlers) startJob(w http.ResponseWriter, r *http.Request, op string, args operation.Arguments) {
	outcome, err := h.Do(r, op, args)
	if err != nil {
		h.showFormError(w, r, err)
		return
	}
	started, err := shell.Result[job.Job](outcome)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	shell.Redirect(w, r, "/jobs/"+started.JobID)
}
