package tiktokresearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	tokenMargin      = 5 * time.Minute // renew tokens this long before they expire
	defaultPause     = time.Minute     // after too many requests in a minute
	maxTokenLifetime = 24 * time.Hour  // maximum lifetime of a token
)

// token is a client's access token.
type token struct {
	text      string
	expiresAt time.Time
}

// tokenForm is the syntax of bearer tokens (RFC 6750).
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// accessToken returns a cached or new token that differs from the rejected token.
func (s *Source) accessToken(ctx context.Context, rejected string) (string, error) {
	ctx = provider.WithoutSlot(ctx)
	s.mu.Lock()
	defer s.mu.Unlock() // other goroutines wait for the same token
	now := s.now()
	if wait := s.pausedUntil.Sub(now); wait > 0 {
		return "", &provider.Unavailable{After: wait, Err: errors.New("requests to TikTok are paused")}
	}
	if s.token.text != "" && s.token.text != rejected && now.Before(s.token.expiresAt) {
		return s.token.text, nil
	}
	form := url.Values{"client_key": {s.opts.ClientKey}, "client_secret": {s.opts.ClientSecret},
		"grant_type": {"client_credentials"}}
	answer, err := s.send(ctx, "/v2/oauth/token/", "", "application/x-www-form-urlencoded", []byte(form.Encode()))
	if err != nil {
		return "", err
	}
	var body struct {
		Access  string  `json:"access_token"`
		Expires float64 `json:"expires_in"`
		Error   string  `json:"error"`
	}
	valid := wire.Decode(answer.Body, &body)
	if answer.Status != http.StatusOK || !valid || !tokenForm.MatchString(body.Access) {
		wait := max(wire.RetryAfter(answer.Header, now), defaultPause)
		s.pausedUntil = now.Add(wait)
		return "", &provider.Unavailable{After: wait, Err: fmt.Errorf("TikTok issued no token: HTTP %d, %s",
			answer.Status, safeCode(body.Error))}
	}
	life := time.Duration(min(max(body.Expires, 0), maxTokenLifetime.Seconds()) * float64(time.Second))
	s.token = token{body.Access, now.Add(life - tokenMargin)}
	return s.token.text, nil
}

// post requests fields. A rejected token is renewed once. Errors are provider.ErrNotFound, provider.ErrPrivate and
// *provider.Unavailable.
func (s *Source) post(ctx context.Context, path, fields string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding a request to TikTok: %w", err)
	}
	bad := ""
	for {
		bearer, err := s.accessToken(ctx, bad)
		if err != nil {
			return err
		}
		answer, err := s.send(ctx, path+"?"+url.Values{"fields": {fields}}.Encode(), bearer, "application/json", text)
		if err != nil {
			return err
		}
		var parsed envelope
		valid := wire.Decode(answer.Body, &parsed)
		switch {
		case answer.Status == http.StatusOK && valid && parsed.Error.Code == "ok":
			if !wire.Decode(parsed.Data, into) {
				return wire.Unavailable("the response is not one of TikTok's API")
			}
			return nil
		case parsed.Error.Code == "access_token_invalid" && bad == "":
			bad = bearer
		default:
			return s.readError(answer, parsed.Error)
		}
	}
}

// envelope is the form of all responses except for tokens.
type envelope struct {
	Data  json.RawMessage `json:"data"`
	Error apiError        `json:"error"`
}

type apiError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (s *Source) send(ctx context.Context, path, bearer, kind string, body []byte) (wire.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return wire.Response{}, wire.Unavailable("the URL of TikTok's API is invalid")
	}
	request.Header.Set("Content-Type", kind)
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	return wire.Send(s.http, request, maxResponseBytes)
}

// readError returns the error of a response. It does not contain TikTok's message, which may name the profile.
func (s *Source) readError(answer wire.Response, apiErr apiError) error {
	if err := profileError(answer.Status, apiErr); err != nil {
		return err
	}
	now := s.now()
	u := wire.Unavailable("TikTok returned HTTP %d, %s", answer.Status, safeCode(apiErr.Code))
	u.After = wire.RetryAfter(answer.Header, now)
	switch {
	case apiErr.Code == "daily_quota_limit_exceeded":
		u.After = now.Truncate(maxTokenLifetime).Add(maxTokenLifetime).Sub(now) // its days begin at midnight UTC
	case u.After == 0 && (apiErr.Code == "rate_limit_exceeded" || answer.Status == http.StatusTooManyRequests):
		u.After = defaultPause
	}
	s.pause(now.Add(u.After))
	return u
}

// pause pauses requests to TikTok, because TikTok extends its limits if requests continue.
func (s *Source) pause(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until.After(s.pausedUntil) {
		s.pausedUntil = until
	}
}

// profileError returns the error about the queried profile, if any. TikTok has no error code for it, so it is inferred
// from undocumented messages.
func profileError(status int, apiErr apiError) error {
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests ||
		status == http.StatusUnauthorized {
		return nil
	}
	text := strings.ToLower(apiErr.Message)
	switch {
	case !strings.Contains(text, "user") && !strings.Contains(text, "account"):
		return nil
	case strings.Contains(text, "is private"), strings.Contains(text, "private account"):
		return provider.ErrPrivate
	case strings.Contains(text, "cannot find"), strings.Contains(text, "cannot be found"), strings.Contains(text,
		"not found"), strings.Contains(text, "does not exist"):
		return provider.ErrNotFound
	}
	return nil
}

var codePattern = regexp.MustCompile(`^[a-z0-9_]{1,60}$`)

// safeCode returns an error code of TikTok that is safe to log.
func safeCode(code string) string {
	if codePattern.MatchString(code) {
		return code
	}
	return "no known code"
}
