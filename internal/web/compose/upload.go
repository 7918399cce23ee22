package compose

import (
	"mime/multipart"
	"net/http"
	"net/url"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/web/shell"
)

// receive parses a form with files. It adds the files to the library and to the list that the picker adds to. It
// returns the form and the errors of rejected files. If there is no form to show, it writes the error response and
// returns false.
func (p *Handlers) receive(w http.ResponseWriter, r *http.Request) (formData, []error, bool) {
	body := shell.NewUpload(w, r)
	r.Body = body
	reject := func(err error) (formData, []error, bool) {
		body.Reject(w, r, func() { p.ShowError(w, r, err) })
		return formData{}, nil, false
	}
	actor, err := p.actor(r)
	if err != nil {
		return reject(err)
	}
	f := filesForm{Handlers: p, r: r, actor: actor, forbidden: operation.Call{Actor: actor}.Require(access.Write)}
	leave, tooMany := p.AcquireUploadRequest(r)
	if tooMany != nil { // read only the form's fields
		f.close(tooMany)
		var ok bool
		if leave, ok = p.AcquireLongForm(r); !ok {
			return reject(tooMany)
		}
		body.LimitRest()
	}
	defer leave()
	form, err := shell.ReadParts(r, maxForm, f.take)
	switch {
	case err != nil && tooMany != nil:
		return reject(tooMany)
	case err != nil:
		return reject(err)
	case shell.HasWrongTeam(r, form):
		p.RejectWrongTeam(w, r, form, r.URL.Path)
		return formData{}, nil, false
	case f.forbidden != nil:
		p.ShowError(w, r, f.forbidden)
		return formData{}, nil, false
	}
	r.PostForm, r.Form = form, form
	s := parseForm(form)
	for _, id := range f.added {
		s.add(id)
	}
	if form.Get("do") == "upload" && f.files == 0 {
		f.close(apierr.Invalid(apierr.MissingArgument, "files", "Choose a file first."))
	}
	return s, f.rejections, true
}

// filesForm adds the files of a form to the selected team's library. It skips the files if the visitor may not write in
// that team, or if the form belongs to another team.
type filesForm struct {
	*Handlers

	r          *http.Request
	actor      *access.Actor
	forbidden  error   // why the visitor may not write in the team; nil if they may
	files      int     // number of files so far
	added      []int64 // items added to the library
	rejections []error // errors of rejected files, and errors passed to close
	closed     bool    // whether all further files are rejected
}

// take adds a file to the library. It records the error if the file is rejected. If take returns an error, the rest
// of the form is not read.
func (f *filesForm) take(part *multipart.Part, fields url.Values) error {
	if f.forbidden != nil || shell.HasWrongTeam(f.r, fields) {
		return shell.SkipFile(part, fields)
	}
	if f.files++; f.files == 1 && !f.closed {
		if err := f.library.CheckForm(f.r.Context(), f.actor.TeamID, f.r.ContentLength); err != nil {
			if apierr.Is(err, apierr.Internal) {
				return err
			}
			f.close(err)
		}
	}
	switch {
	case f.closed:
		return nil
	case f.files > media.MaxFormFiles:
		f.close(apierr.Invalidf(apierr.TooLong, "files", media.TooManyFormFiles, media.MaxFormFiles))
		return nil
	}
	id, err := f.addFile(part)
	if err != nil {
		if apierr.Is(err, apierr.Internal) {
			return err
		}
		apiErr := apierr.FromError(err).With("argument", "files")
		apiErr.Detail, apiErr.Format = part.FileName()+": "+f.Detail(f.r, err), "" // already translated
		f.rejections = append(f.rejections, apiErr)
		return nil
	}
	f.added = append(f.added, id)
	return nil
}

// close rejects all further files with err.
func (f *filesForm) close(err error) {
	f.closed = true
	f.rejections = append(f.rejections, apierr.FromError(err).With("argument", "files"))
}

// addFile adds a file to the library while holding an upload slot.
func (f *filesForm) addFile(part *multipart.Part) (int64, error) {
	leave, err := f.AcquireUploadSlot(f.r)
	if err != nil {
		return 0, err
	}
	defer leave()
	got, err := f.library.Add(f.r.Context(), media.Owner{TeamID: f.actor.TeamID, PersonID: f.actor.PersonID},
		media.Incoming{Name: part.FileName(), Type: part.Header.Get("Content-Type"), Size: -1, Body: part})
	return got.MediaID, err
}
