package pds

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

var client = &http.Client{Timeout: 30 * time.Second}

// Post is a record of app.bsky.feed.post on the server.
type Post struct {
	URI   string          `json:"uri"`
	CID   string          `json:"cid"`
	Value json.RawMessage `json:"value"`
}

// NewAccount creates an account, and returns its handle, its DID and an app password.
func (s *Server) NewAccount(tb testing.TB) (string, string, string) {
	tb.Helper()
	handle := "t" + strings.ToLower(rand.Text())[:14] + ".test"
	var created struct{ DID, AccessJWT string }
	s.post(tb, "com.atproto.server.createAccount", "", map[string]string{
		"handle": handle, "email": handle + "@example.test", "password": rand.Text(),
	}, &created)
	var app struct{ Password string }
	s.post(tb, "com.atproto.server.createAppPassword", created.AccessJWT, map[string]string{"name": "pressroom"}, &app)
	return handle, created.DID, app.Password
}

// Posts returns all posts of an account, highest record key first. It works with any server of the protocol.
func (s *Server) Posts(tb testing.TB, did string) []Post {
	tb.Helper()
	var all []Post
	query := url.Values{"repo": {did}, "collection": {"app.bsky.feed.post"}, "limit": {"100"}}
	for {
		var page struct {
			Records []Post
			Cursor  string
		}
		s.get(tb, "com.atproto.repo.listRecords?"+query.Encode(), &page)
		all = append(all, page.Records...)
		if page.Cursor == "" {
			return all
		}
		query.Set("cursor", page.Cursor)
	}
}

// ExpireToken returns a copy of one of the server's tokens, signed again with an expiry in the past.
func (s *Server) ExpireToken(tb testing.TB, token string) string {
	tb.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		tb.Fatalf("a token with %d parts", len(parts))
	}
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		tb.Fatalf("reading a token: %v", err)
	}
	var old map[string]json.RawMessage
	if err := json.Unmarshal(body, &old); err != nil {
		tb.Fatalf("reading a token: %v", err)
	}
	claims := maps.Clone(old)
	claims["exp"] = json.RawMessage(fmt.Sprint(time.Now().Add(-time.Minute).Unix()))
	changed, err := json.Marshal(claims)
	if err != nil {
		tb.Fatalf("encoding a token: %v", err)
	}
	signed := parts[0] + "." + base64.RawURLEncoding.EncodeToString(changed)
	mac := hmac.New(sha256.New, []byte(s.secret))
	mac.Write([]byte(signed))
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *Server) post(tb testing.TB, method, token string, in map[string]string, out any) {
	tb.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		tb.Fatalf("encoding %s: %v", method, err)
	}
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, s.URL+"/xrpc/"+method, bytes.NewReader(body))
	if err != nil {
		tb.Fatalf("creating %s: %v", method, err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	send(tb, request, out)
}

func (s *Server) get(tb testing.TB, call string, out any) {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodGet, s.URL+"/xrpc/"+call, nil)
	if err != nil {
		tb.Fatalf("creating %s: %v", call, err)
	}
	send(tb, request, out)
}

func send(tb testing.TB, request *http.Request, out any) {
	tb.Helper()
	response, err := client.Do(request)
	if err != nil {
		tb.Fatalf("%s: %v", request.URL.Path, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		tb.Fatalf("%s: HTTP %d, %v: %s", request.URL.Path, response.StatusCode, err, body)
	}
	if err := json.Unmarshal(body, out); err != nil {
		tb.Fatalf("%s: %v: %s", request.URL.Path, err, body)
	}
}
