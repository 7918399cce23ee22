package tiktok_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

// said is a network that gives one answer to everything.
func said(t *testing.T, status int, header http.Header, body string) network.Grant {
	t.Helper()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name := range header {
			w.Header().Set(name, header.Get(name))
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(front.Close)
	return network.Grant{Server: front.URL, Access: "top-secret", Refresh: "refresh-secret"}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status          int
		body            string
		reading, commit network.Class
	}{
		"access_token_invalid":                               {401, "", network.AuthRefresh, network.AuthRefresh},
		"scope_not_authorized":                               {401, "", network.AuthDead, network.AuthDead},
		"scope_permission_missed":                            {401, "", network.AuthDead, network.AuthDead},
		"spam_risk_user_banned_from_posting":                 {403, "", network.AuthDead, network.AuthDead},
		"rate_limit_exceeded":                                {429, "", network.Rate, network.Rate},
		"internal_error":                                     {500, "", network.Transient, network.Uncertain},
		"spam_risk_too_many_posts":                           {403, "", network.Quota, network.Quota},
		"spam_risk_too_many_pending_share":                   {403, "", network.Quota, network.Quota},
		"reached_active_user_cap":                            {403, "", network.Quota, network.Quota},
		"invalid_params":                                     {400, "", network.Rejected, network.Rejected},
		"invalid_file_upload":                                {400, "", network.Rejected, network.Rejected},
		"privacy_level_option_mismatch":                      {403, "", network.Rejected, network.Rejected},
		"url_ownership_unverified":                           {403, "", network.Rejected, network.Rejected},
		"unaudited_client_can_only_post_to_private_accounts": {403, "", network.Unapproved, network.Unapproved},
		"new_code":            {400, "", network.Rejected, network.Rejected},
		"new_code_of_tokens":  {401, "", network.AuthRefresh, network.AuthRefresh},
		"new_code_of_servers": {503, "", network.Transient, network.Uncertain},
		"new_code_of_200":     {200, "", network.Transient, network.Uncertain},
		"ok":                  {500, "", network.Transient, network.Uncertain},
		"throttled elsewhere": {429, `slow down`, network.Rate, network.Rate},
		"no TikTok":           {404, `<html>`, network.Transient, network.Uncertain},
		"a redirect":          {302, ``, network.Transient, network.Uncertain},
		"nonsense":            {200, `[`, network.Transient, network.Uncertain},
		"wrong types":         {200, well(`{"publish_id":5,"status":{}}`), network.Transient, network.Uncertain},
		"no data":             {200, `{"error":{"code":"ok"}}`, network.Transient, network.Uncertain},
		"no id":               {200, well(`{}`), "", network.Uncertain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.body == "" && c.status != 302 {
				c.body = refused(name)
			}
			g := said(t, c.status, http.Header{"Location": {"http://127.0.0.1:1/"}}, c.body)
			link, err := at(start).Permalink(t.Context(), g, network.Receipt{ID: "publish:v_pub_file~1"})
			if networktest.Class(err) != c.reading || link != "" {
				t.Errorf("reading: %q, %v", link, err)
			}
			_, err = at(start).Commit(t.Context(), g, network.Draft(photos), newLibrary(t))
			networktest.WantClass(t, err, c.commit, "")
		})
	}
}

// The upload server answers by its status alone. Whether a refusal is that of a second time, it does not tell.
func TestUploadErrors(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]network.Class{
		201: network.Processing, 206: network.Processing, 302: network.Uncertain, 400: network.Uncertain, 403: network.Uncertain,
		404: network.Uncertain, 416: network.Uncertain, 429: network.Rate, 500: network.Uncertain,
	} {
		l := newLibrary(t)
		l.mp4(100)
		g := said(t, status, http.Header{"Retry-After": {"7"}}, "")
		_, err := at(start).Commit(t.Context(), g, network.Draft(fmt.Sprintf(video, g.Server)), l)
		failed := networktest.WantClass(t, err, want, "")
		if want == network.Rate && !failed.After.Equal(start.Add(7*time.Second)) {
			t.Errorf("HTTP %d: not before %v", status, failed.After)
		}
	}
}

func TestWhenToRepeat(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code   string
		header http.Header
		want   time.Duration // 0: it is not told
	}{
		"seconds":        {"rate_limit_exceeded", http.Header{"Retry-After": {"2"}}, 2 * time.Second},
		"not told":       {"rate_limit_exceeded", nil, time.Minute},
		"nonsense":       {"rate_limit_exceeded", http.Header{"Retry-After": {"-1"}}, time.Minute},
		"a day's quota":  {"spam_risk_too_many_posts", nil, 24 * time.Hour},
		"another, never": {"invalid_params", http.Header{"Retry-After": {"2"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := said(t, http.StatusBadRequest, c.header, refused(c.code))
			_, err := at(start).Permalink(t.Context(), g, network.Receipt{ID: "publish:v"})
			got := networktest.WantClass(t, err, networktest.Class(err), c.code).After
			if c.want == 0 && !got.IsZero() || c.want != 0 && !got.Equal(start.Add(c.want)) {
				t.Errorf("not before %v", got)
			}
		})
	}
}

// What the network quotes of what it was sent in confidence is not kept.
func TestNothingSecretIsQuoted(t *testing.T) {
	t.Parallel()
	g := said(t, http.StatusBadRequest, nil, `{"error":{"code":"invalid_params","message":"top-secret https://files.test/1 `+strings.Repeat("x", 1000)+`"}}`)
	_, err := at(start).Commit(t.Context(), g, network.Draft(photos), newLibrary(t))
	got := networktest.WantClass(t, err, network.Rejected, "invalid_params")
	if text := got.Message + got.Error(); strings.Contains(text, "top-secret") || strings.Contains(text, "files.test") || len([]rune(got.Message)) != 500 {
		t.Errorf("%q, %v", got.Message, got)
	}
	g = said(t, http.StatusBadRequest, nil, `{"error":"invalid_grant","error_description":"refresh-secret is dead"}`)
	_, err = at(start).Refresh(t.Context(), g)
	if got := networktest.WantClass(t, err, network.AuthDead, "invalid_grant"); strings.Contains(got.Message, "refresh-secret") {
		t.Errorf("%q", got.Message)
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	front := httptest.NewServer(http.NotFoundHandler())
	front.Close()
	for _, server := range []string{front.URL, "", "ftp://x", "http://user:pass@x", "http://[::1"} {
		_, err := at(start).Commit(t.Context(), network.Grant{Server: server, Access: "top-secret"}, network.Draft(photos), newLibrary(t))
		if got := networktest.Class(err); got != network.Transient && got != network.Rejected || strings.Contains(err.Error(), "top-secret") {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	g := said(t, http.StatusOK, nil, well(`{"publish_id":"`+strings.Repeat("1", 2<<20)+`"}`))
	_, err := at(start).Commit(t.Context(), g, network.Draft(photos), newLibrary(t))
	networktest.WantClass(t, err, network.Uncertain, "")
}

func TestPermalinkOfNothing(t *testing.T) {
	t.Parallel()
	g := network.Grant{Username: "a/b"}
	for _, id := range []string{"", "x", "../me", strings.Repeat("1", 41)} {
		_, err := at(start).Permalink(t.Context(), g, network.Receipt{ID: id})
		networktest.WantClass(t, err, network.Rejected, "")
	}
	if link, err := at(start).Permalink(t.Context(), g, network.Receipt{ID: "75"}); err != nil || link != "https://www.tiktok.com/@a%2Fb/video/75" {
		t.Errorf("permalink %q, %v", link, err)
	}
}
