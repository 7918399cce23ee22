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
	tokenMargin      = 5 * time.Minute // tokens are renewed this long before they expire
	defaultPause     = time.Minute     // pause after too many requests in a minute
	maxTokenLifetime = 24 * time.Hour  // maximum lifetime of a token
)

// token is an access token for the API.
type token struct {
	text      string
	expiresAt time.Time
}

// tokenPattern is the syntax of bearer tokens (RFC 6750).
var tokenPattern = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// accessToken returns the cached token, or a new one if the cached token has expired or equals rejectedToken.
func (s *Source) accessToken(ctx context.Context, rejectedToken string) (string, error) {
	ctx = provider.WithoutSlot(ctx)
	s.mu.Lock()
	defer s.mu.Unlock() // held while a token is requested, because other goroutines wait for the same token
	now := s.now()
	if wait := s.pausedUntil.Sub(now); wait > 0 {
		return "", &provider.UnavailableError{After: wait, Err: errors.New("requests to TikTok are paused")}
	}
	if s.token.text != "" && s.token.text != rejectedToken && now.Before(s.token.expiresAt) {
		return s.token.text, nil
	}
	form := url.Values{"client_key": {s.opts.ClientKey}, "client_secret": {s.opts.ClientSecret},
		"grant_type": {"client_credentials"}}
	response, err := s.send(ctx, "/v2/oauth/token/", "", "application/x-www-form-urlencoded", []byte(form.Encode()))
	if err != nil {
		return "", err
	}
	var body struct {
		Access  string  `json:"access_token"`
		Expires float64 `json:"expires_in"`
		Error   string  `json:"error"`
	}
	valid := wire.Decode(response.Body, &body)
	if response.Status != http.StatusOK || !valid || !tokenPattern.MatchString(body.Access) {
		wait := max(wire.RetryAfter(response.Header, now), defaultPause)
		s.pausedUntil = now.Add(wait)
		return "", &provider.UnavailableError{After: wait, Err: fmt.Errorf("TikTok issued no token: HTTP %d, %s",
			response.Status, safeCode(body.Error))}
	}
	life := time.Duration(min(max(body.Expires, 0), maxTokenLifetime.Seconds()) * float64(time.Second))
	s.token = token{body.Access, now.Add(life - tokenMargin)}
	return s.token.text, nil
}

// post sends a query for fields and decodes the data in the response. If the token is rejected, it tries once more with
// a new token. Its errors are provider.ErrNotFound, provider.ErrPrivate and *provider.UnavailableError.
func (s *Source) post(ctx context.Context, path, fields string, body, out any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encoding a request to TikTok: %w", err)
	}
	rejectedToken := ""
	for {
		bearer, err := s.accessToken(ctx, rejectedToken)
		if err != nil {
			return err
		}
		response, err := s.send(ctx, path+"?"+url.Values{"fields": {fields}}.Encode(), bearer, "application/json", text)
		if err != nil {
			return err
		}
		var parsed envelope
		valid := wire.Decode(response.Body, &parsed)
		switch {
		case response.Status == http.StatusOK && valid && parsed.Error.Code == "ok":
			if !wire.Decode(parsed.Data, out) {
				return wire.Unavailable("the response does not have the format of TikTok's API")
			}
			return nil
		case parsed.Error.Code == "access_token_invalid" && rejectedToken == "":
			rejectedToken = bearer
		default:
			return s.readError(response, parsed.Error)
		}
	}
}

// envelope is the format of all responses except those with tokens.
type envelope struct {
	Data  json.RawMessage `json:"data"`
	Error apiError        `json:"error"`
}

type apiError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (s *Source) send(ctx context.Context, path, bearer, contentType string, body []byte) (wire.Response, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return wire.Response{}, wire.Unavailable("the URL of TikTok's API is invalid")
	}
	request.Header.Set("Content-Type", contentType)
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	return wire.Send(s.http, request, maxResponseBytes)
}

// readError returns the error for a response, and pauses requests if TikTok requires a delay. The error does not
// contain TikTok's message, because the message may name the profile.
func (s *Source) readError(response wire.Response, apiErr apiError) error {
	if err := profileError(response.Status, apiErr); err != nil {
		return err
	}
	now := s.now()
	u := wire.Unavailable("TikTok returned HTTP %d, %s", response.Status, safeCode(apiErr.Code))
	u.After = wire.RetryAfter(response.Header, now)
	switch {
	case apiErr.Code == "daily_quota_limit_exceeded":
		u.After = now.Truncate(day).Add(day).Sub(now) // the quota is reset at midnight UTC
	case u.After == 0 && (apiErr.Code == "rate_limit_exceeded" || response.Status == http.StatusTooManyRequests):
		u.After = defaultPause
	}
	s.pause(now.Add(u.After))
	return u
}

// pause pauses requests to TikTok until the given time. If requests continued, TikTok would reject them for longer.
func (s *Source) pause(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until.After(s.pausedUntil) {
		s.pausedUntil = until
	}
}

// profileError returns provider.ErrNotFound or provider.ErrPrivate if the error is about the queried profile, and nil
// otherwise. TikTok has no codes for these errors, so profileError infers them from undocumented messages.
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

// safeCode returns a TikTok error code for the log, or a fixed text if the code has an unexpected form.
func safeCode(code string) string {
	if codePattern.MatchString(code) {
		return code
	}
	return "no known code"
}
