package money

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// reportCall is one API call about a report or a search.
type reportCall struct {
	verb     string // create, refresh, track or search
	kind, id string
	platform string
	text     string // the subject as the caller writes it
	subject  string // the normalized subject
	brief    bool   // omit arguments that equal their default
	enabled  bool
	days     int
	idem     string
}

// sentCall is a call and the key that made it.
type sentCall struct {
	key  *teamKey
	call reportCall
}

// GoString describes the value in a counterexample of rapid.
func (w sentCall) GoString() string { return fmt.Sprintf("%+v by key %d", w.call, w.key.id) }

// claim identifies the call: a call with the same claim is a repeat.
func (w reportCall) claim() string {
	w.brief, w.subject = false, ""
	return fmt.Sprintf("%+v", w)
}

// request returns the HTTP request of the call.
func (w reportCall) request(root, credential string) *http.Request {
	method, path, body := http.MethodPost, "/reports/"+w.kind+"/"+w.id+"/refresh", map[string]any{}
	switch w.verb {
	case "create":
		path, body = "/reports", map[string]any{"type": w.kind, "subject": w.text}
		if !w.brief || w.platform != "instagram" {
			body["platform"] = w.platform
		}
	case "search":
		path, body = "/hashtags/search", map[string]any{"query": w.text}
		if !w.brief || w.platform != "instagram" {
			body["platform"] = w.platform
		}
	case "track":
		method, path, body = http.MethodPut, "/reports/"+w.kind+"/"+w.id+"/tracking", map[string]any{"enabled": w.enabled}
		if !w.brief || w.days != 3 {
			body["frequency_days"] = w.days
		}
	}
	raw, _ := json.Marshal(body)
	r := newRequest(method, root+"/api/v1"+path, credential, raw)
	r.Header.Set("Idempotency-Key", w.idem)
	return r
}
