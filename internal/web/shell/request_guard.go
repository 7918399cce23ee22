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

// TeamField is the field by which every form tells which team its page was shown for.
const TeamField = "in_team"

// formTag is where a form begins that does something. What templates fill in holds no < or > here.
var formTag = regexp.MustCompile(`<form [^>]*method="post"[^>]*>`)

// bound puts the team that a page is shown for into each of its forms, as their first field.
func bound(page []byte, v *Visitor) []byte {
	if v == nil || v.Team.ID == 0 {
		return page
	}
	field := fmt.Appendf(nil, `<input type="hidden" name="`+TeamField+`" value="%d">`, v.Team.ID)
	return formTag.ReplaceAllFunc(page, func(tag []byte) []byte { return slices.Concat(tag, field) })
}

// ofTeam tells whether what an address does is done in the team that is looked at.
func (a Audience) ofTeam() bool { return a != Anyone && a != People && a != Operators }

// longestForm is more than any form has.
const longestForm = 4 << 20

// peek reads a form ahead of whoever reads it by its own rules. It is nil for what is no form, has files or is too
// long.
func peek(r *http.Request) url.Values {
	if r.Method != http.MethodPost || sendsFiles(r) {
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(r.Body, longestForm))
	rest := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	if err != nil || len(head) == longestForm {
		return nil
	}
	form, err := url.ParseQuery(string(head))
	if err != nil {
		return nil
	}
	return form
}

// Astray tells whether a form was shown for another team than the one that is looked at by now. One that does not say
// is for this one.
func Astray(r *http.Request, form url.Values) bool {
	v, told := VisitorOf(r.Context()), form.Get(TeamField)
	return v != nil && told != "" && told != strconv.FormatInt(v.Team.ID, 10)
}

// TurnBack answers a form that is astray, as somebody has turned to another team in a second tab: nothing is done, and
// the form's team is looked at again. What was written is kept for Resumed where a page takes it back, which is empty
// for none.
func (f *Frame) TurnBack(w http.ResponseWriter, r *http.Request, form url.Values, page string) {
	v := VisitorOf(r.Context())
	id, err := strconv.ParseInt(form.Get(TeamField), 10, 64)
	meant := LookedAt(v.Account, id)
	switch there := err == nil && meant.ID == id; {
	case byScript(r) || !there && page == "":
		f.Notice(w, r, http.StatusConflict, "Not done",
			"This form was shown for another team than the one that you look at now. Nothing was done.")
		return
	case !there:
		f.Say(r,
			"You are not in the team of this form any more. You look at the team "+v.Team.Name+
				" now. Nothing was saved yet.")
	default:
		f.LookAt(r.Context(), id)
		f.Say(r,
			"You had turned to the team "+v.Team.Name+" in this browser. This form is of the team "+meant.Name+
				": you look at that team again now. Nothing was saved or done yet.")
	}
	if page != "" {
		f.Keep(r.Context(), resumeKept, []byte(page+"\n"+form.Encode()))
		Redirect(w, r, page)
		return
	}
	Redirect(w, r, f.cameFrom(r))
}

// byScript tells whether a page's script asks, which shows nobody where it was led to.
func byScript(r *http.Request) bool {
	if asks := r.Header.Get("Sec-Fetch-Dest"); asks != "" {
		return asks != "document"
	}
	return r.Header.Get("Accept") == "*/*"
}
