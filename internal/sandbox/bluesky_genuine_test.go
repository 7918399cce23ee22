package sandbox

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/pds"
)

// rawServer is a server under test and the values of the placeholders.
type rawServer struct {
	url                string
	names              map[string]string // values of the placeholders
	access, refreshJWT string
}

type rawAnswer struct {
	Status         int
	Error, Message string
	Members        string // sorted names of the members of a successful response
}

func TestBlueskyMatchesGenuineServer(t *testing.T) {
	t.Parallel()
	server := pds.Start(t)
	handle, _, password := server.NewAccount(t)
	genuine := signIn(t, server.URL, handle, password)
	b := start(t, Options{})
	b.account(t, "alice.test")
	sandbox := signIn(t, b.url+"/bluesky", "alice.test", "password")
	for _, c := range rawCalls {
		want, got := genuine.do(t, c), sandbox.do(t, c)
		if c.loose {
			want.Message, got.Message = "", ""
		}
		if want != got {
			t.Errorf("%s:\ngenuine %+v\nsandbox %+v", c.name, want, got)
		}
	}
}

func signIn(t *testing.T, url, handle, password string) *rawServer {
	t.Helper()
	w := &rawServer{url: url, names: map[string]string{"HANDLE": handle, "KEY": "3l2345672abcd"}}
	var session struct{ DID, AccessJWT, RefreshJWT string }
	body := `{"identifier":"` + handle + `","password":"` + password + `"}`
	_, answer := w.send(t, rawCall{method: "POST com.atproto.server.createSession", body: body})
	if err := json.Unmarshal(answer, &session); err != nil || session.DID == "" {
		t.Fatalf("signing in: %v: %s", err, answer)
	}
	w.names["DID"], w.access, w.refreshJWT = session.DID, session.AccessJWT, session.RefreshJWT
	return w
}

func (w *rawServer) do(t *testing.T, c rawCall) rawAnswer {
	t.Helper()
	status, body := w.send(t, c)
	answer := rawAnswer{Status: status}
	if status == http.StatusOK && strings.Contains(c.method, "getBlob") {
		answer.Members = string(body)
		return answer
	}
	var members map[string]json.RawMessage
	if len(bytes.TrimSpace(body)) == 0 {
		return answer
	}
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatalf("%s: %v: %s", c.name, err, body)
	}
	if status == http.StatusOK {
		delete(members, "didDoc") // the real server omits didDoc if it cannot reach a directory
		delete(members, "email")
		answer.Members = sortedNames(members)
		if cid, ok := members["cid"]; ok {
			w.names["CID"] = strings.Trim(string(cid), `"`)
		}
		if blob, ok := members["blob"]; ok {
			answer.Members += string(blob)
			w.saveBlob(t, blob)
		}
		return answer
	}
	_ = json.Unmarshal(members["error"], &answer.Error)
	_ = json.Unmarshal(members["message"], &answer.Message)
	for name, value := range w.names {
		answer.Message = strings.ReplaceAll(answer.Message, value, name)
	}
	return answer
}

// saveBlob sets the placeholders of the last uploaded file.
func (w *rawServer) saveBlob(t *testing.T, blob json.RawMessage) {
	t.Helper()
	var result struct {
		Ref map[string]string
	}
	must.NoError(t, json.Unmarshal(blob, &result))
	w.names["BLOB"], w.names["FILE"] = string(blob), result.Ref["$link"]
}

func sortedNames(members map[string]json.RawMessage) string {
	return strings.Join(slices.Sorted(maps.Keys(members)), " ")
}

func (w *rawServer) send(t *testing.T, c rawCall) (int, []byte) {
	t.Helper()
	verb, path, _ := strings.Cut(c.method, " ")
	body := c.body
	for name, value := range w.names {
		path, body = strings.ReplaceAll(path, name, value), strings.ReplaceAll(body, name, value)
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), verb, w.url+"/xrpc/"+path, strings.NewReader(body)))(t)
	switch {
	case c.kind != "":
		request.Header.Set("Content-Type", strings.TrimPrefix(c.kind, "none"))
	case body != "":
		request.Header.Set("Content-Type", "application/json")
	}
	switch c.token {
	case "":
	case "access":
		request.Header.Set("Authorization", "Bearer "+w.access)
	case "refresh":
		request.Header.Set("Authorization", "Bearer "+w.refreshJWT)
	default:
		request.Header.Set("Authorization", c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return response.StatusCode, answer
}
