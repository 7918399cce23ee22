package sandbox

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
)

// graphError is a refusal in the form of Meta's Graph API.
type graphError struct {
	status, code, subcode int
	message               string
	transient             bool
}

func (e *graphError) Error() string { return e.message }

var (
	errSessionExpired = &graphError{status: http.StatusBadRequest, code: 190, subcode: 463, message: "Error validating access token: Session has expired"}
	errNoObject       = &graphError{status: http.StatusBadRequest, code: 100, subcode: 33, message: "Unsupported request. Object with this ID does not exist"}
	errRate           = &graphError{status: http.StatusBadRequest, code: 4, message: "Application request limit reached"}
	errGraphInternal  = &graphError{status: http.StatusInternalServerError, code: 2, transient: true, message: "An unexpected error has occurred. Please retry your request later."}
)

func invalidParameter(message string) *graphError {
	return &graphError{status: http.StatusBadRequest, code: 100, message: message}
}

// graph answers with what do comes to, as JSON or, where that is an http.Handler, by it.
func (n *threads) graph(do func(*http.Request) (any, error)) http.HandlerFunc {
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

func (n *threads) writeGraph(w http.ResponseWriter, r *http.Request, answer any, err error) {
	raw, isRaw := answer.(http.Handler)
	refused, isRefused := errors.AsType[*graphError](err)
	switch {
	case errors.Is(err, errCut):
		cut(w)
		return
	case err != nil && !isRefused:
		slog.Error("sandbox: answering a Threads call", "path", r.URL.Path, "err", err)
		refused = errGraphInternal
	case err == nil && isRaw:
		raw.ServeHTTP(w, r)
		return
	}
	tellUsage(w.Header(), refused)
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
func tellUsage(header http.Header, refused *graphError) {
	percent, minutes := "1", "0"
	if refused == errRate {
		percent, minutes = "100", "1"
		header.Set("Retry-After", "2")
	}
	usage := `{"call_count":` + percent + `,"total_cputime":1,"total_time":1`
	header.Set("X-App-Usage", usage+"}")
	header.Set("X-Business-Use-Case-Usage", `{"`+threadsName+`":[`+usage+`,"type":"threads_publishing","estimated_time_to_regain_access":`+minutes+`}]}`)
}

func (n *threads) nowhere(*http.Request) (any, error) {
	return nil, &graphError{status: http.StatusBadRequest, code: 2500, message: "Unknown path components"}
}

// pick keeps the fields that a request asks for, and the id.
func pick(r *http.Request, all map[string]any) map[string]any {
	picked := map[string]any{"id": all["id"]}
	for field := range strings.SplitSeq(r.Form.Get("fields"), ",") {
		if value, known := all[field]; known {
			picked[field] = value
		}
	}
	return picked
}

// itself refuses a request in the name of another account.
func itself(r *http.Request, a account) error {
	if user := r.PathValue("user"); user != "me" && user != a.id {
		return errNoObject
	}
	return nil
}
