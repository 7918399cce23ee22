package shell

import (
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
)

// SendsFiles reports whether a request is a form that may contain files: a multipart form.
func SendsFiles(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "multipart/form-data"
}

// formText is the error text for a form that cannot be read.
const formText = "The form could not be read. Reload the page and try again."

var errForm = apierr.Invalid(apierr.Malformed, "", formText)

// partCost is the number of bytes that each part of a form adds to the total, in addition to its names and text.
const partCost = 64

// ReadParts reads a form with files and returns its fields. It calls handleFile for each file, with the fields that
// precede the file. The field values and the names of all parts can have about limit bytes in total. If an error
// occurs, or handleFile returns one, ReadParts returns the error and the fields read so far.
func ReadParts(r *http.Request, limit int64, handleFile func(*multipart.Part, url.Values) error) (url.Values, error) {
	fields := url.Values{}
	reader, err := r.MultipartReader()
	if err != nil {
		return fields, errForm.Wrap(err)
	}
	for {
		part, err := reader.NextPart()
		if err == nil {
			if limit -= int64(len(part.FormName())+len(part.FileName())) + partCost; limit < 0 {
				return fields, errForm
			}
		}
		switch {
		case err == io.EOF: // the error of a truncated form is wrapped
			CleanForm(fields)
			return fields, nil
		case err != nil:
			return fields, errForm.Wrap(err)
		case part.FileName() != "":
			if err := handleFile(part, fields); err != nil {
				return fields, err
			}
		case part.Header.Get("Content-Type") == "": // a text field; an empty file field is ignored
			text, err := io.ReadAll(io.LimitReader(part, limit+1))
			if err != nil {
				return fields, errForm.Wrap(err)
			}
			if limit -= int64(len(text)); limit < 0 {
				return fields, errForm
			}
			fields.Add(part.FormName(), string(text))
		}
	}
}

// Fields of a saved form that record which input is missing.
const (
	unsentField = "unsent_file" // names of files that were not read
	cutField    = "cut"         // set if fields may be missing
)

// SkipFile is a callback for ReadParts that skips a file and adds its name to the form, so that SavedForm reports the
// file as missing.
func SkipFile(part *multipart.Part, fields url.Values) error {
	fields.Add(unsentField, part.FileName())
	return nil
}

// ReadFormToSave is like ReadLongForm, but for a form that is saved until the person has signed in. It accepts forms
// with files, but omits the files and all fields after longReadAhead bytes. SavedForm reports both as missing.
func (s *Shell) ReadFormToSave(w http.ResponseWriter, r *http.Request, limit int64) bool {
	if !SendsFiles(r) {
		return s.ReadLongForm(w, r, limit)
	}
	form, err := readFormWithoutFiles(r, limit)
	if err != nil {
		s.ShowMessage(w, r, http.StatusBadRequest, "Action not completed", formText)
		return false
	}
	r.PostForm, r.Form = form, form
	return true
}

// readFormWithoutFiles returns the fields of a form with files, as described for ReadFormToSave.
func readFormWithoutFiles(r *http.Request, limit int64) (url.Values, error) {
	limited := &io.LimitedReader{R: r.Body, N: longReadAhead}
	r.Body = bufferedBody{limited, r.Body}
	form, err := ReadParts(r, limit, SkipFile)
	if err != nil && limited.N > 0 {
		return nil, err
	}
	if err != nil {
		form.Set(cutField, "1")
	}
	CleanForm(form)
	return form, nil
}

// missingText describes the missing input of a saved form, or returns "".
func missingText(l *locale.Language, form url.Values) string {
	var out []string
	if names := form[unsentField]; len(names) > 0 {
		out = append(out, l.T("Not uploaded: %s. Choose these files again.", strings.Join(slices.Compact(names), ", ")))
	}
	if form.Has(cutField) {
		out = append(out, l.T("The form was too long to restore completely. Check the fields below the files."))
	}
	return strings.Join(out, " ")
}
