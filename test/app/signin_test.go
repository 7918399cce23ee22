package app

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
)

// lines is a log that sends each line to a channel.
type lines chan string

func (l lines) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default: // the test does not wait for another line
	}
	return len(line), nil
}

func TestSignIn(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		for _, role := range access.Roles() {
			c.as(t, role).open("/").shows(200, string(role))
		}
		h.browser(t).open("/posts").lacks(c.team.Name)
	})
}

// The sign-in page shows whom to ask for a recovery link: the contact of the operator, if one is configured.
func TestForgotPassword(t *testing.T) {
	t.Parallel()
	h := open(t, testkit.SQLite(t))
	h.crew(t)
	h.browser(t).open("/sign-in").shows(http.StatusOK, "Ask the operator", "security@harbour.example").
		contains(`href="mailto:security@harbour.example"`)
	h = open(t, testkit.SQLite(t), func(cfg *server.Config) { cfg.SecurityContact = "" })
	h.crew(t)
	h.browser(t).open("/sign-in").shows(http.StatusOK, "often the person who invited you")
}

// Failed sign-ins are logged with the IP address but without input. A new person's rejected weak password is not
// logged as a failed sign-in.
func TestFailedSignInsLogged(t *testing.T) {
	t.Parallel()
	log := make(lines, 1000)
	h := open(t, testkit.SQLite(t), func(cfg *server.Config) { cfg.Log = slog.New(slog.NewTextHandler(log, nil)) })
	c := h.crew(t)
	h.browser(t).open("/sign-in").form("Sign in").fill("email", "guessed@harbour.example").fill("password", "a wrong password").press().
		shows(http.StatusUnauthorized)
	h.browser(t).send(http.MethodPost, c.invite(t, "new@harbour.example", access.Viewer)+"/join",
		url.Values{"name": {"New"}, "password": {"short"}}).shows(http.StatusUnprocessableEntity)
	var told strings.Builder
	for len(log) > 0 {
		told.WriteString(<-log)
	}
	if !strings.Contains(told.String(), `msg="sign-in failed" route="POST /sign-in" code=unauthorized client=127.0.0.1`) {
		t.Errorf("log = %q", told.String())
	}
	if got := strings.Count(told.String(), "sign-in failed"); got != 1 {
		t.Errorf("%d failed sign-ins logged: %q", got, told.String())
	}
	if strings.Contains(told.String(), "guessed@") || strings.Contains(told.String(), "error password") {
		t.Errorf("the log contains the input: %q", told.String())
	}
}
