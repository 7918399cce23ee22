package compose

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/media"
	"pressroom/internal/web/shell"
)

// receive parses a form with files, adds them to the library and returns the form with them at the end of the post's
// media. It answers the request and reports false if there is no form to show. The error is that of a rejected file.
func (p *Handlers) receive(w http.ResponseWriter, r *http.Request) (sheet, bool, error) {
	body := shell.NewUpload(w, r)
	r.Body = body
	actor, leave, err := p.admit(r)
	if err != nil {
		body.Refuse(w, r, func() { p.ShowError(w, r, err) })
		return sheet{}, false, nil
	}
	defer leave()
	refused := operation.Call{Actor: actor}.Require(access.Write)
	form, arrived, why := p.parts(r, actor, refused == nil)
	switch {
	case why != nil && form == nil:
		body.Refuse(w, r, func() { p.ShowError(w, r, why) })
		return sheet{}, false, nil
	case shell.WrongTeam(r, form):
		p.RejectWrongTeam(w, r, form, r.URL.Path)
		return sheet{}, false, nil
	case refused != nil:
		p.ShowError(w, r, refused)
		return sheet{}, false, nil
	}
	shell.CleanForm(form)
	r.PostForm, r.Form = form, form
	s := read(form)
	for _, id := range arrived {
		s.add(id)
	}
	if form.Get("do") == "upload" && why == nil && len(arrived) == 0 {
		why = apierr.Invalid(apierr.MissingArgument, "files", "Choose a file first.")
	}
	return s, true, why
}

// admit rejects a form with files before it is parsed, if the person has too many uploads or the form's length
// exceeds the limits. It returns the sender and the function that ends the upload.
func (p *Handlers) admit(r *http.Request) (*access.Actor, func(), error) {
	leave, err := p.EnterUploads(r)
	if err != nil {
		return nil, nil, err
	}
	actor, err := p.actor(r)
	if err == nil {
		err = p.library.CheckForm(r.Context(), actor.TeamID, r.ContentLength)
	}
	if err != nil {
		leave()
		return nil, nil, err
	}
	return actor, leave, nil
}

var errForm = apierr.Invalid(apierr.Malformed, "", "The form could not be read. Reload the page and try again.")

// parts parses a form with files and returns its fields, the items added, and the error of a rejected file. Without
// fields the form was invalid. Files are skipped if the sender may not add them or they are for another team's
// library.
func (p *Handlers) parts(r *http.Request, actor *access.Actor, may bool) (url.Values, []int64, error) {
	reader, err := r.MultipartReader()
	if err != nil {
		return nil, nil, errForm.Wrap(err)
	}
	f := filesForm{fields: url.Values{}, left: maxForm}
	for {
		part, err := reader.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return f.fields, f.added, f.refusal
		case err != nil:
			return nil, nil, errForm.Wrap(err)
		case part.FileName() == "":
			err = f.add(part) // browsers send a file field without a file as well
		case may && !shell.WrongTeam(r, f.fields):
			err = p.take(r, actor, part, &f)
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// filesForm is what was parsed of a form with files.
type filesForm struct {
	fields  url.Values
	left    int64 // bytes left for fields
	files   int
	added   []int64 // items added to the library
	refusal error   // error of the last rejected file
}

// add parses a field.
func (f *filesForm) add(part *multipart.Part) error {
	text, err := io.ReadAll(io.LimitReader(part, f.left+1))
	if f.left -= int64(len(text)); err != nil || f.left < 0 {
		return errForm
	}
	if part.FormName() != "files" {
		f.fields.Add(part.FormName(), string(text))
	}
	return nil
}

// take adds a file of a form to the library. A rejected file is recorded; a returned error ends the form.
func (p *Handlers) take(r *http.Request, actor *access.Actor, part *multipart.Part, f *filesForm) error {
	if f.files++; f.files > media.MaxFormFiles {
		f.refusal = apierr.Invalid(apierr.TooLong, "files", media.TooManyFormFiles)
		return nil
	}
	id, err := p.addFile(r, actor, part)
	switch {
	case err == nil:
		f.added = append(f.added, id)
	case apierr.Of(err).Code == apierr.Internal:
		return err
	default:
		f.refusal = err
	}
	return nil
}

// addFile adds a file to the library while holding a place among uploads. An error names the file.
func (p *Handlers) addFile(r *http.Request, actor *access.Actor, part *multipart.Part) (int64, error) {
	leave, err := p.EnterUpload(r)
	var got media.AddResult
	if err == nil {
		defer leave()
		got, err = p.library.Add(r.Context(), media.Owner{TeamID: actor.TeamID, PersonID: actor.PersonID},
			media.Incoming{Name: part.FileName(), Type: part.Header.Get("Content-Type"), Size: -1, Body: part})
	}
	if f := apierr.Of(err); err != nil && f.Code != apierr.Internal {
		err = apierr.New(f.Code, part.FileName()+": "+f.Detail).With("argument", "files")
	}
	return got.MediaID, err
}
