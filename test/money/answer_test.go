package money

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"pressroom/internal/core/pipeline"
	"pressroom/test/money/standin"
)

// order is one request of a client, by which a repeat is recognised.
type order struct {
	tool   string
	report string // of standin.Tracking
	query  string
	idem   string
}

// words returns the order that the text of a call encodes.
func (o order) words() standin.Order { return standin.Read(o.query) }

// same reports whether two orders are the same request, apart from their keys.
func (o order) request() string { return o.tool + " " + o.report + " " + o.query }

func (o order) isPaid() bool { return o.tool != standin.Note }

// hash returns the hash that identifies the request.
func (o order) hash() []byte {
	args := map[string]string{"query": o.query}
	if o.tool == standin.Tracking {
		args["type"], args["id"] = "profile", o.report
	}
	canonical, _ := json.Marshal(args)
	return pipeline.Claim{Operation: o.tool, Arguments: canonical}.Hash()
}

var addresses = map[string][2]string{
	standin.Search:   {http.MethodPost, "/hashtags/stand-in-search"},
	standin.Tracking: {http.MethodPut, "/reports/profile/%s/stand-in-tracking"},
	standin.Faulty:   {http.MethodPost, "/reports/stand-in-faulty"},
	standin.Note:     {http.MethodPost, "/hashtags/stand-in-note"},
}

// rest makes the order's HTTP request below a program's address.
func (o order) rest(root, credential string) *http.Request {
	at := addresses[o.tool]
	path := at[1]
	if o.tool == standin.Tracking {
		path = fmt.Sprintf(path, o.report)
	}
	body, _ := json.Marshal(map[string]string{"query": o.query})
	r := post(at[0], root+"/api/v1"+path, credential, body)
	if o.idem != "" {
		r.Header.Set("Idempotency-Key", o.idem)
	}
	return r
}

// asTool makes the same call as an assistant does.
func (o order) asTool(root, credential string) *http.Request {
	args := map[string]string{"query": o.query}
	if o.tool == standin.Tracking {
		args["type"], args["id"] = "profile", o.report
	}
	if o.idem != "" {
		args["idempotency_key"] = o.idem
	}
	body, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": o.tool, "arguments": args},
	})
	r := post(http.MethodPost, root+"/mcp", credential, body)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	return r
}

func post(method, url, credential string, body []byte) *http.Request {
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+credential)
	r.Header.Set("Content-Type", "application/json")
	return r
}

func get(root, path, credential string) *http.Request {
	r := post(http.MethodGet, root+"/api/v1"+path, credential, nil)
	r.Header.Del("Content-Type")
	return r
}

// answer is a response of either edge.
type answer struct {
	status   int
	replayed bool // only REST reports it
	tool     bool // a tool's result, which does not report it
	after    string
	location string
	raw      []byte

	Code    string
	Context struct {
		Reason, Scope, Argument string
		Wait                    int64 `json:"retry_after_seconds"`
	}
	Data    json.RawMessage
	Billing *billing
	Meta    struct {
		At struct{ UTC string } `json:"answered_at"`
	}
}

type billing struct {
	Charged  int64  `json:"credits_charged"`
	Refunded int64  `json:"credits_refunded"`
	Balance  *int64 `json:"balance"`
}

func (b *billing) String() string {
	if b == nil {
		return "no billing"
	}
	raw, _ := json.Marshal(b)
	return string(raw)
}

// read reads an answer of REST.
func read(status int, header http.Header, raw []byte) (answer, error) {
	a := answer{
		status: status, raw: raw, replayed: header.Get("Idempotent-Replayed") == "true",
		after: header.Get("Retry-After"), location: header.Get("Location"),
	}
	err := json.Unmarshal(raw, &a)
	return a, err
}

// readTool takes the answer out of the envelope of a tool call.
func readTool(o order, status int, header http.Header, raw []byte) (answer, error) {
	if status != http.StatusOK {
		return read(status, header, raw)
	}
	var envelope struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal(raw, &envelope); err != nil || len(envelope.Result.Content) < 2 {
		return answer{}, fmt.Errorf("no answer of a tool: %s", raw)
	}
	text := []byte(envelope.Result.Content[1].Text)
	a := answer{status: success(o.tool), raw: text, tool: true}
	if envelope.Result.IsError {
		var problem struct{ Status int }
		if err := json.Unmarshal(text, &problem); err != nil {
			return a, err
		}
		a.status = problem.Status
	}
	err := json.Unmarshal(text, &a)
	return a, err
}

func success(tool string) int {
	if tool == standin.Search {
		return http.StatusAccepted
	}
	return http.StatusOK
}

func (a answer) ok() bool { return a.status < 300 }

// refusal returns the stable part of a refusal, empty for a success.
func (a answer) refusal() string {
	if a.ok() {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", a.status, a.Code, a.Context.Scope+a.Context.Reason))
}

// sameData reports whether two successes have the same data: byte for byte if both are of REST. The tools' edge encodes
// some characters differently.
func (a answer) sameData(b answer) bool {
	if a.tool == b.tool {
		return bytes.Equal(a.Data, b.Data)
	}
	var x, y any
	return json.Unmarshal(a.Data, &x) == nil && json.Unmarshal(b.Data, &y) == nil && reflect.DeepEqual(x, y)
}

// job returns the ID of the job that a success names; empty if there is none.
func (a answer) job() string {
	var data struct {
		JobID string `json:"job_id"`
	}
	_ = json.Unmarshal(a.Data, &data) // data has several types
	return data.JobID
}

// credits is the result of get_credits.
type credits struct {
	Balance   int64
	UsedToday struct {
		Team         int64
		KeysAndTools int64 `json:"keys_and_tools"`
	} `json:"used_today"`
	ReservedToday struct{ Key, Team int64 } `json:"reserved_today"`
	DailyLimits   struct{ Key, Team int64 } `json:"daily_limits"`
}

// figures returns the credits without the limits.
func (c credits) figures() figures {
	return figures{c.Balance, c.UsedToday.Team, c.UsedToday.KeysAndTools, c.ReservedToday.Key, c.ReservedToday.Team}
}

type figures struct{ balance, usedTeam, usedKeys, reservedKey, reservedTeam int64 }

// jobEntry is the result of get_job.
type jobEntry struct {
	JobID    string `json:"job_id"`
	State    string
	Finished bool
	Result   struct {
		Charged int64 `json:"credits_charged"`
	}
}
