package tiktokresearch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var began = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

const secret = "a-secret-of-the-client"

// research fakes the used part of TikTok's API.
type research struct {
	t             *testing.T
	clock         *testkit.Clock
	user          string   // JSON of the profile
	videos        []string // JSON; create_time holds the day
	pageSize      int      // videos on a page
	tokens        int
	tokenLifetime int
	reject        func(path string) (status int, body string)
	requests      []string
}

func newResearch(t *testing.T) *research {
	t.Helper()
	return &research{t: t, clock: testkit.NewClock(began), user: `{}`, pageSize: 2, tokenLifetime: 7200}
}

func (r *research) source(change func(*Options)) *Source {
	r.t.Helper()
	server := httptest.NewServer(r)
	r.t.Cleanup(server.Close)
	opts := Options{Eligible: true, URL: server.URL + "/", ClientKey: "key", ClientSecret: secret, Now: r.clock.Now}
	if change != nil {
		change(&opts)
	}
	s := must.Get(New(opts))(r.t)
	return s
}

func (r *research) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	status, body := 0, ""
	if r.reject != nil {
		status, body = r.reject(request.URL.Path)
	}
	if status == 0 {
		status, body = r.answer(request)
	}
	if status == http.StatusTooManyRequests && strings.Contains(body, "wait") {
		w.Header().Set("Retry-After", "90")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (r *research) answer(request *http.Request) (int, string) {
	if request.URL.Path == "/v2/oauth/token/" {
		if request.FormValue("client_key") != "key" || request.FormValue("client_secret") != secret ||
			request.FormValue("grant_type") != "client_credentials" {
			return http.StatusUnauthorized, `{"error":"invalid_client","error_description":"` + secret + `"}`
		}
		r.tokens++
		return http.StatusOK, fmt.Sprintf(`{"access_token":"clt.%d","expires_in":%d,"token_type":"Bearer"}`, r.tokens,
			r.tokenLifetime)
	}
	if request.Header.Get("Authorization") != "Bearer clt."+strconv.Itoa(r.tokens) {
		return http.StatusUnauthorized, failure("access_token_invalid", "")
	}
	body, _ := io.ReadAll(request.Body)
	if request.URL.Path == "/v2/research/user/info/" {
		r.requests = append(r.requests, string(body))
		return http.StatusOK, `{"data":` + r.user + `,"error":{"code":"ok"}}`
	}
	return r.query(body)
}

func failure(code, message string) string {
	return fmt.Sprintf(`{"data":{},"error":{"code":%q,"message":%q,"log_id":"x"}}`, code, message)
}

// query returns the videos between two days.
func (r *research) query(body []byte) (int, string) {
	var q struct {
		Query  struct{ And []map[string]any }
		Start  string `json:"start_date"`
		End    string `json:"end_date"`
		Most   int    `json:"max_count"`
		Cursor int    `json:"cursor"`
		Search string `json:"search_id"`
	}
	_ = json.Unmarshal(body, &q)
	first, err := time.Parse("20060102", q.Start)
	last, err2 := time.Parse("20060102", q.End)
	if errors.Join(err, err2) != nil || last.Sub(first) > 30*24*time.Hour || last.Before(first) || q.Most > 100 ||
		(q.Cursor > 0) != (q.Search == "7") {
		return http.StatusBadRequest, failure("invalid_params", string(body))
	}
	r.requests = append(r.requests, q.Start+" "+q.End+" "+strconv.Itoa(q.Cursor))
	var found []string
	for _, text := range r.videos {
		var v struct {
			Created float64 `json:"create_time"`
		}
		_ = json.Unmarshal([]byte(text), &v)
		if at := time.Unix(int64(v.Created), 0); !at.Before(first) && at.Before(last.AddDate(0, 0, 1)) {
			found = append(found, text)
		}
	}
	from := min(q.Cursor, len(found))
	to := min(from+r.pageSize, len(found))
	return http.StatusOK,
		fmt.Sprintf(`{"data":{"videos":[%s],"cursor":%d,"has_more":%t,"search_id":"7"},"error":{"code":"ok"}}`,
			strings.Join(found[from:to], ","), to, to < len(found))
}

// clip returns a video from a number of days ago.
func clip(id int64, days int, more string) string {
	return fmt.Sprintf(`{"id":%d,"create_time":%d%s}`, id, began.AddDate(0, 0, -days).Unix(), more)
}

func profileQuery(limit int, since time.Time) provider.ProfileQuery {
	return provider.ProfileQuery{Platform: provider.TikTok, Username: "khaby.lame", PostLimit: limit, Since: since}
}
