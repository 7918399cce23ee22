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

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	early     = 5 * time.Minute // before a token's end another is fetched
	usualRest = time.Minute     // after too many requests in a minute
	maxLife   = 24 * time.Hour  // of a token, whatever TikTok says
)

// token is a client's access token.
type token struct {
	text string
	ends time.Time
}

// tokenForm is what RFC 6750 lets stand behind "Bearer".
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// access gives a token, another than the one that did not work.
func (s *Source) access(ctx context.Context, not string) (string, error) {
	ctx = provider.Aside(ctx)
	s.mu.Lock()
	defer s.mu.Unlock() // others wait for the same token
	now := s.now()
	if wait := s.rests.Sub(now); wait > 0 {
		return "", &provider.Unavailable{After: wait, Err: errors.New("TikTok wants to be left alone")}
	}
	if s.token.text != "" && s.token.text != not && now.Before(s.token.ends) {
		return s.token.text, nil
	}
	form := url.Values{"client_key": {s.opts.ClientKey}, "client_secret": {s.opts.ClientSecret}, "grant_type": {"client_credentials"}}
	answer, err := s.send(ctx, "/v2/oauth/token/", "", "application/x-www-form-urlencoded", []byte(form.Encode()))
	if err != nil {
		return "", err
	}
	var said struct {
		Access  string  `json:"access_token"`
		Expires float64 `json:"expires_in"`
		Error   string  `json:"error"`
	}
	understood := wire.Read(answer.Body, &said)
	if answer.Status != http.StatusOK || !understood || !tokenForm.MatchString(said.Access) {
		wait := max(wire.After(answer.Header, now), usualRest)
		s.rests = now.Add(wait)
		return "", &provider.Unavailable{After: wait, Err: fmt.Errorf("TikTok gave no token: HTTP %d, %s", answer.Status, word(said.Error))}
	}
	life := time.Duration(min(max(said.Expires, 0), maxLife.Seconds()) * float64(time.Second))
	s.token = token{said.Access, now.Add(life - early)}
	return s.token.text, nil
}

// post asks for fields. A token that does not work is fetched anew once. Errors are provider.ErrNotFound,
// provider.ErrPrivate and *provider.Unavailable.
func (s *Source) post(ctx context.Context, path, fields string, body, into any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("writing a question for TikTok: %w", err)
	}
	bad := ""
	for {
		bearer, err := s.access(ctx, bad)
		if err != nil {
			return err
		}
		answer, err := s.send(ctx, path+"?"+url.Values{"fields": {fields}}.Encode(), bearer, "application/json", text)
		if err != nil {
			return err
		}
		var said said
		understood := wire.Read(answer.Body, &said)
		switch {
		case answer.Status == http.StatusOK && understood && said.Error.Code == "ok":
			if !wire.Read(said.Data, into) {
				return wire.Unavailable("reading the answer: it is not one of TikTok's")
			}
			return nil
		case said.Error.Code == "access_token_invalid" && bad == "":
			bad = bearer
		default:
			return s.refusal(answer, said.Error)
		}
	}
}

// said is the form of all answers but that to the call for a token.
type said struct {
	Data  json.RawMessage `json:"data"`
	Error refused         `json:"error"`
}

type refused struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (s *Source) send(ctx context.Context, path, bearer, kind string, body []byte) (wire.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return wire.Answer{}, wire.Unavailable("the address of TikTok's API cannot be asked")
	}
	request.Header.Set("Content-Type", kind)
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	return wire.Ask(s.http, request, maxAnswer)
}

// refusal reads an answer that is not one. Its error repeats no text of TikTok's: that may name who was asked for.
func (s *Source) refusal(answer wire.Answer, said refused) error {
	if err := ofProfile(answer.Status, said); err != nil {
		return err
	}
	now := s.now()
	u := wire.Unavailable("TikTok answered with HTTP %d, %s", answer.Status, word(said.Code))
	u.After = wire.After(answer.Header, now)
	switch {
	case said.Code == "daily_quota_limit_exceeded":
		u.After = now.Truncate(maxLife).Add(maxLife).Sub(now) // its days begin at midnight UTC
	case u.After == 0 && (said.Code == "rate_limit_exceeded" || answer.Status == http.StatusTooManyRequests):
		u.After = usualRest
	}
	s.rest(now.Add(u.After))
	return u
}

// rest leaves TikTok alone: who asked too often is not forgiven for asking on.
func (s *Source) rest(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until.After(s.rests) {
		s.rests = until
	}
}

// ofProfile reads what TikTok says of the profile that was asked for. It has no code for that, but words, and they are
// not documented: what they mean is taken from how they sound, and a profile of which they do not say that it is private
// is one that is not there.
func ofProfile(status int, said refused) error {
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests || status == http.StatusUnauthorized {
		return nil
	}
	text := strings.ToLower(said.Message)
	switch {
	case !strings.Contains(text, "user") && !strings.Contains(text, "account"):
		return nil
	case strings.Contains(text, "is private"), strings.Contains(text, "private account"):
		return provider.ErrPrivate
	case strings.Contains(text, "cannot find"), strings.Contains(text, "cannot be found"), strings.Contains(text, "not found"), strings.Contains(text, "does not exist"):
		return provider.ErrNotFound
	}
	return nil
}

var wordForm = regexp.MustCompile(`^[a-z0-9_]{1,60}$`)

// word is a code of TikTok's, for the log.
func word(code string) string {
	if wordForm.MatchString(code) {
		return code
	}
	return "no known code"
}
