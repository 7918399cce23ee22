package sandbox

import (
	"net/http"
	"strings"
	"time"
)

// graphAPI is what Meta's networks share: answers and refusals, tokens that are exchanged for longer ones, media that
// the network fetches, and posts that are prepared in containers. It accepts every app and any secret.
type graphAPI struct {
	*oauth

	client *http.Client // for the media
	grants string       // prefix of the grant types that exchange tokens
	usage  string       // the network's type in the usage headers
}

func newGraphAPI(s *shared, platform, title, grants, usage string) *graphAPI {
	return &graphAPI{
		oauth: &oauth{shared: s, platform: platform, displayName: title}, client: &http.Client{Timeout: fetchTimeout},
		grants: grants, usage: usage,
	}
}

// graphTime is the layout of times in the Graph API.
const graphTime = "2006-01-02T15:04:05-0700"

// graphError is a refusal of Meta's Graph API.
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

// graph returns the handler of a call.
func (n *graphAPI) graph(call apiCall) http.HandlerFunc {
	return handle(invalidParameter("The request cannot be read"), call, n.writeGraph)
}

func (n *graphAPI) writeGraph(w http.ResponseWriter, r *http.Request, answer any, err error) {
	refuse := func(e *graphError) {
		n.tellUsage(w.Header(), e)
		writeJSON(w, e.status, map[string]any{"error": map[string]any{
			"message": e.message, "type": "OAuthException", "code": e.code, "error_subcode": e.subcode,
			"is_transient": e.transient, "fbtrace_id": newID(),
		}})
	}
	if !respond(w, r, n.platform, answer, err, errGraphInternal, refuse) {
		n.tellUsage(w.Header(), nil)
		writeJSON(w, http.StatusOK, answer)
	}
}

// tellUsage sets the usage headers. They count whole minutes; Retry-After lets a client come back after two seconds.
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

// pick returns the requested fields and the id.
func pick(r *http.Request, all map[string]any) map[string]any {
	picked := map[string]any{"id": all["id"]}
	for field := range strings.SplitSeq(r.Form.Get("fields"), ",") {
		field, _, _ = strings.Cut(field, ".") // cuts off the fields of the field
		if value, known := all[field]; known {
			picked[field] = value
		}
	}
	return picked
}

const (
	shortLife = time.Hour
	longLife  = 60 * 24 * time.Hour
	renewAge  = 24 * time.Hour // age from which a token can be renewed
)
