package sandbox

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// graphAPI is what the networks of Meta share: the form of answers and refusals, tokens that are traded for longer
// ones, media that the network fetches, and posts that are made ready in containers. Every app is known to it,
// whatever its secret.
type graphAPI struct {
	*oauth

	fetch  *http.Client // for the media
	grants string       // what the grant types for trading tokens begin with
	usage  string       // what the headers about usage call it
}

func newGraphAPI(s *Server, platform, title, grants, usage string) *graphAPI {
	return &graphAPI{
		oauth: &oauth{Server: s, platform: platform, title: title}, fetch: &http.Client{Timeout: fetchTimeout},
		grants: grants, usage: usage,
	}
}

func (n *graphAPI) name() string  { return n.platform }
func (n *graphAPI) title() string { return n.oauth.title }

// graphTime is how the Graph API writes times.
const graphTime = "2006-01-02T15:04:05-0700"

// graphError is a refusal in the form of Meta's Graph API.
type graphError struct {
	status, code, subcode int
	message               string
	transient             bool
}

func (e *graphError) Error() string { return e.message }

var (
	errSessionExpired = &graphError{
		status: http.StatusBadRequest, code: 190, subcode: 463,
		message: "Error validating access token: Session has expired",
	}
	errNoObject = &graphError{
		status: http.StatusBadRequest, code: 100, subcode: 33,
		message: "Unsupported request. Object with this ID does not exist",
	}
	errRate          = &graphError{status: http.StatusBadRequest, code: 4, message: "Application request limit reached"}
	errGraphInternal = &graphError{
		status: http.StatusInternalServerError, code: 2, transient: true,
		message: "An unexpected error has occurred. Please retry your request later.",
	}
)

func invalidParameter(message string) *graphError {
	return &graphError{status: http.StatusBadRequest, code: 100, message: message}
}

// graph answers with what do comes to, as JSON or, where that is an http.Handler, by it.
func (n *graphAPI) graph(do func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := work(r)
		defer cancel()
		r = r.WithContext(ctx)
		var answer any
		err := bufferBody(w, r)
		if err == nil {
			err = r.ParseForm()
		}
		if err != nil {
			err = invalidParameter("The request cannot be read")
		} else {
			answer, err = do(r)
		}
		n.writeGraph(w, r, answer, err)
	}
}

func (n *graphAPI) writeGraph(w http.ResponseWriter, r *http.Request, answer any, err error) {
	raw, isRaw := answer.(http.Handler)
	refused, isRefused := errors.AsType[*graphError](err)
	switch {
	case errors.Is(err, errCut):
		cut(w)
		return
	case err != nil && !isRefused:
		slog.Error("sandbox: answering a call", "platform", n.platform, "path", r.URL.Path, "err", err)
		refused = errGraphInternal
	case err == nil && isRaw:
		raw.ServeHTTP(w, r)
		return
	}
	n.tellUsage(w.Header(), refused)
	if refused == nil {
		writeJSON(w, http.StatusOK, answer)
		return
	}
	writeJSON(w, refused.status, map[string]any{"error": map[string]any{
		"message": refused.message, "type": "OAuthException", "code": refused.code, "error_subcode": refused.subcode,
		"is_transient": refused.transient, "fbtrace_id": newID(),
	}})
}

// tellUsage writes the headers about usage, which count in whole minutes; a client that reads the finer one as well may
// come back after two seconds.
func (n *graphAPI) tellUsage(header http.Header, refused *graphError) {
	percent, minutes := "1", "0"
	if refused == errRate {
		percent, minutes = "100", "1"
		header.Set("Retry-After", "2")
	}
	usage := `{"call_count":` + percent + `,"total_cputime":1,"total_time":1`
	header.Set("X-App-Usage", usage+"}")
	header.Set("X-Business-Use-Case-Usage",
		`{"`+n.platform+`":[`+usage+`,"type":"`+n.usage+`","estimated_time_to_regain_access":`+minutes+`}]}`)
}

func (n *graphAPI) nowhere(*http.Request) (any, error) {
	return nil, &graphError{status: http.StatusBadRequest, code: 2500, message: "Unknown path components"}
}

// toPage leads from the address of a post to the sandbox's page.
func (n *graphAPI) toPage(w http.ResponseWriter, r *http.Request) {
	http.Redirect(w, r, n.baseURL(r)+"/#"+anchor(n.platform, r.PathValue("id")), http.StatusSeeOther) //nolint:gosec // the base is our own, and what is appended is escaped
}

// pick keeps the fields that a request asks for, and the id.
func pick(r *http.Request, all map[string]any) map[string]any {
	picked := map[string]any{"id": all["id"]}
	for field := range strings.SplitSeq(r.Form.Get("fields"), ",") {
		field, _, _ = strings.Cut(field, ".") // what is asked for of the field itself
		if value, known := all[field]; known {
			picked[field] = value
		}
	}
	return picked
}

const (
	shortLife = time.Hour
	longLife  = 60 * 24 * time.Hour
	renewAge  = 24 * time.Hour // before which a token is not renewed
)
