package money

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/test/money/standin"
)

// apiCall is one API call. Two equal values are the same call, made twice.
type apiCall struct {
	tool   string // operation name
	report string // report ID; only for standin.Tracking
	query  string
	key    string // Idempotency-Key; may be empty
}

// scenario returns the price and outcome that the query encodes.
func (o apiCall) scenario() standin.Scenario { return standin.ParseQuery(o.query) }

// withoutKey returns the call without its Idempotency-Key.
func (o apiCall) withoutKey() string { return o.tool + " " + o.report + " " + o.query }

func (o apiCall) isPaid() bool { return o.tool != standin.Note }

// hash returns the request hash that the program stores.
func (o apiCall) hash() []byte {
	args := map[string]string{"query": o.query}
	if o.tool == standin.Tracking {
		args["type"], args["id"] = "profile", o.report
	}
	canonical, _ := json.Marshal(args)
	return pipeline.Claim{Operation: o.tool, Arguments: canonical}.Hash()
}

// routes maps each operation to its method and path.
var routes = map[string][2]string{
	standin.Search:   {http.MethodPost, "/hashtags/stand-in-search"},
	standin.Tracking: {http.MethodPut, "/reports/profile/%s/stand-in-tracking"},
	standin.Faulty:   {http.MethodPost, "/reports/stand-in-faulty"},
	standin.Note:     {http.MethodPost, "/hashtags/stand-in-note"},
}

// restRequest returns the REST request of the call.
func (o apiCall) restRequest(root, credential string) *http.Request {
	route := routes[o.tool]
	path := route[1]
	if o.tool == standin.Tracking {
		path = fmt.Sprintf(path, o.report)
	}
	body, _ := json.Marshal(map[string]string{"query": o.query})
	r := newRequest(route[0], root+"/api/v1"+path, credential, body)
	if o.key != "" {
		r.Header.Set("Idempotency-Key", o.key)
	}
	return r
}

// toolRequest returns the MCP request of the call.
func (o apiCall) toolRequest(root, credential string) *http.Request {
	args := map[string]string{"query": o.query}
	if o.tool == standin.Tracking {
		args["type"], args["id"] = "profile", o.report
	}
	if o.key != "" {
		args["idempotency_key"] = o.key
	}
	body, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": o.tool, "arguments": args},
	})
	r := newRequest(http.MethodPost, root+"/mcp", credential, body)
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	return r
}

func newRequest(method, url, credential string, body []byte) *http.Request {
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+credential)
	r.Header.Set("Content-Type", "application/json")
	return r
}

func newGetRequest(root, path, credential string) *http.Request {
	r := newRequest(http.MethodGet, root+"/api/v1"+path, credential, nil)
	r.Header.Del("Content-Type")
	return r
}

// answer is a response of the REST API or of an MCP tool.
type answer struct {
	status     int
	isReplay   bool   // only known for REST
	isTool     bool   // response of an MCP tool
	retryAfter string // Retry-After header
	location   string
	raw        []byte

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

// parseREST parses a REST response.
func parseREST(status int, header http.Header, raw []byte) (answer, error) {
	a := answer{
		status: status, raw: raw, isReplay: header.Get("Idempotent-Replayed") == "true",
		retryAfter: header.Get("Retry-After"), location: header.Get("Location"),
	}
	err := json.Unmarshal(raw, &a)
	return a, err
}

// parseToolResult parses the response of a tool call.
func parseToolResult(o apiCall, status int, header http.Header, raw []byte) (answer, error) {
	if status != http.StatusOK {
		return parseREST(status, header, raw)
	}
	var envelope struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal(raw, &envelope); err != nil || len(envelope.Result.Content) < 2 {
		return answer{}, fmt.Errorf("response is not a tool result: %s", raw)
	}
	text := []byte(envelope.Result.Content[1].Text)
	a := answer{status: successStatus(o.tool), raw: text, isTool: true}
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

func successStatus(tool string) int {
	if tool == standin.Search {
		return http.StatusAccepted
	}
	return http.StatusOK
}

func (a answer) isSuccess() bool { return a.status < 300 }

// rejection returns the status, error code and reason of a failed call, or "" for a success.
func (a answer) rejection() string {
	if a.isSuccess() {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", a.status, a.Code, a.Context.Scope+a.Context.Reason))
}

// sameData reports whether two successful responses have the same data. REST responses must be equal byte for byte.
// MCP escapes some characters differently.
func (a answer) sameData(b answer) bool {
	if a.isTool == b.isTool {
		return bytes.Equal(a.Data, b.Data)
	}
	var x, y any
	return json.Unmarshal(a.Data, &x) == nil && json.Unmarshal(b.Data, &y) == nil && reflect.DeepEqual(x, y)
}

// jobID returns the job ID in the response, or "".
func (a answer) jobID() string {
	var data struct {
		JobID string `json:"job_id"`
	}
	_ = json.Unmarshal(a.Data, &data) // other operations return other types
	return data.JobID
}

// credits is the data of get_credits.
type credits struct {
	Balance   int64
	UsedToday struct {
		Team         int64
		KeysAndTools int64 `json:"keys_and_tools"`
	} `json:"used_today"`
	ReservedToday struct{ Key, Team int64 } `json:"reserved_today"`
	DailyLimits   struct{ Key, Team int64 } `json:"daily_limits"`
}

// counts returns the counts without the limits.
func (c credits) counts() creditCounts {
	return creditCounts{c.Balance, c.UsedToday.Team, c.UsedToday.KeysAndTools, c.ReservedToday.Key, c.ReservedToday.Team}
}

// creditCounts are the balance and the credits used and reserved today.
type creditCounts struct{ balance, usedTeam, usedKeys, reservedKey, reservedTeam int64 }

// jobEntry is the data of get_job.
type jobEntry struct {
	JobID    string `json:"job_id"`
	State    string
	Finished bool
	Result   struct {
		Charged int64 `json:"credits_charged"`
	}
}
