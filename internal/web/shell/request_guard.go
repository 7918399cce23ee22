package shell

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
)

// TeamField is the name of the form field with the ID of the team for which the page was shown.
const TeamField = "in_team"

// formTag matches the start tag of a POST form. Templates never insert values that contain < or > into such tags.
var formTag = regexp.MustCompile(`<form [^>]*method="post"[^>]*>`)

// addTeamField returns the page with the selected team as the first field of each POST form.
func addTeamField(page []byte, v *Visitor) []byte {
	if v == nil || v.Team.ID == 0 {
		return page
	}
	field := fmt.Appendf(nil, `<input type="hidden" name="`+TeamField+`" value="%d">`, v.Team.ID)
	return formTag.ReplaceAllFunc(page, func(tag []byte) []byte { return slices.Concat(tag, field) })
}

// needsTeam reports whether routes for the audience depend on the selected team.
func (a Audience) needsTeam() bool { return a != Anyone && a != People && a != Operators }

// maxPeekedForm is the maximum number of bytes that peekForm reads. Forms without files are always shorter.
const maxPeekedForm = 4 << 20

// peekForm parses a form and leaves the request's body readable for the handler. It returns nil if the request is not a
// POST request, is a multipart form, or is too long.
func peekForm(r *http.Request) url.Values {
	if r.Method != http.MethodPost || SendsFiles(r) {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(r.Body, maxPeekedForm))
	rest := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	if err != nil || len(head) == maxPeekedForm {
		return nil
	}
	form, err := url.ParseQuery(string(head))
	if err != nil {
		return nil
	}
	return form
}

// HasWrongTeam reports whether a form was shown for a team other than the selected one. It returns false for a form
// without TeamField.
func HasWrongTeam(r *http.Request, form url.Values) bool {
	v, formTeam := VisitorOf(r.Context()), form.Get(TeamField)
	return v != nil && formTeam != "" && formTeam != strconv.FormatInt(v.Team.ID, 10)
}

// RejectWrongTeam responds to a form that was shown for another team. A person can send such a form after switching
// teams in another tab. It selects the form's team again, but does not process the form. If page is not empty, it saves
// the form for SavedForm on that page, and redirects there.
func (s *Shell) RejectWrongTeam(w http.ResponseWriter, r *http.Request, form url.Values, page string) {
	v := VisitorOf(r.Context())
	id, err := strconv.ParseInt(form.Get(TeamField), 10, 64)
	formTeam := TeamOrFirst(v.Account, id)
	switch isMember := err == nil && formTeam.ID == id; {
	case isFromScript(r) || !isMember && page == "":
		s.ShowMessage(w, r, http.StatusConflict, "Action not completed",
			"This form belongs to a different team than the one you have selected. Nothing was changed.")
		return
	case !isMember:
		s.Flash(r, "You no longer belong to the team of this form. The selected team is %s. Nothing was saved yet.",
			v.Team.Name)
	default:
		s.SetTeam(r.Context(), id)
		s.Flash(r, "You had switched to the team %s in this browser. This form belongs to %s, so that team is "+
			"selected again. Nothing was saved yet.", v.Team.Name, formTeam.Name)
	}
	if page != "" {
		s.Put(r.Context(), savedFormKey, []byte(page+"\n"+form.Encode()))
		Redirect(w, r, page)
		return
	}
	Redirect(w, r, s.refererPath(r))
}

// isFromScript reports whether a page's script sent the request. In that case, the person would not see a redirect.
func isFromScript(r *http.Request) bool {
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "" {
		return dest != "document"
	}
	return r.Header.Get("Accept") == "*/*"
}
