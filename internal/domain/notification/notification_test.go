package notification_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// mailServer is an SMTP server that stores or rejects mails.
type mailServer struct {
	mu        sync.Mutex
	mails     []string
	to        []string
	rejecting bool
}

func (p *mailServer) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{box: p}, nil }

type session struct {
	box *mailServer
	to  string
}

func (s *session) Mail(string, *smtp.MailOptions) error      { return nil }
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { s.to = to; return nil }
func (s *session) Reset()                                    {}
func (s *session) Logout() error                             { return nil }
func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	if s.box.rejecting {
		return &smtp.SMTPError{Code: 451, Message: "not now"}
	}
	s.box.mails, s.box.to = append(s.box.mails, string(raw)), append(s.box.to, s.to)
	return nil
}

// env is a team with an owner and an editor, and a mail server.
type env struct {
	*notification.Service

	db            *db.DB
	clock         *testkit.Clock
	teams         *team.Service
	box           *mailServer
	team          int64
	owner, editor team.Person
}

func onEachDatabase(t *testing.T, run func(t *testing.T, w *env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		w := &env{db: testkit.Open(t, url, clock), clock: clock, box: &mailServer{}}
		guesses := must.Get(ratelimit.NewGuessLimiter())(t)
		w.teams = team.New(w.db, guesses, plan.Default())
		w.owner = must.Get(w.teams.AddPerson(t.Context(), "Ada", "ada@harbour.example", "correct horse battery"))(t)
		w.editor = must.Get(w.teams.AddPerson(t.Context(), "Bea", "bea@harbour.example", "correct horse battery"))(t)
		newTeam := must.Get(w.teams.AddTeam(t.Context(),
			team.Team{Name: "Harbour", Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, w.owner.ID))(t)
		w.team = newTeam.ID
		must.NoError(t, w.teams.SetMember(t.Context(), w.team, w.editor.ID, access.Editor))
		send := must.Get(notification.Server{
			URL: "smtp://" + w.box.listen(t) + "?tls=none", From: "Pressroom <press@harbour.example>",
		}.Sender())(t)
		w.Service = notification.New(w.db,
			notification.Options{PublicURL: "https://press.example", Send: send, Log: slog.New(slog.DiscardHandler)})
		w.db.OnEvent(w.HandleEvent)
		run(t, w)
	})
}

func (p *mailServer) listen(t *testing.T) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := smtp.NewServer(p)
	server.Domain = "localhost"
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		_ = l.Close() // A server that is still starting does not close it.
		<-ended
	})
	return l.Addr().String()
}

// recordEvent records an event of the team.
func (w *env) recordEvent(t *testing.T, kind, subject string, detail map[string]any) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		return auditlog.Record(ctx, tx, w.team, auditlog.Actor{}, kind, subject, detail)
	}))
}

// sendDueMail sends all due mails.
func (w *env) sendDueMail(t *testing.T) {
	t.Helper()
	for range 100 {
		more := must.Get(w.SendNextMail(t.Context()))(t)
		if !more {
			return
		}
	}
	t.Fatal("more than 100 mails are due")
}

// checkMails sends all due mails and checks the total number of mails sent.
func (w *env) checkMails(t *testing.T, mails int) {
	t.Helper()
	w.sendDueMail(t)
	if len(w.box.mails) != mails {
		t.Fatalf("%d mails, want %d: %q", len(w.box.mails), mails, w.box.mails)
	}
}

func TestNotificationsShareMail(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		for i := range 100 {
			w.recordEvent(t, "post.account_failed", fmt.Sprint("post-", i), map[string]any{"account": 1})
		}
		w.checkMails(t, 0) // waits for more notifications of the kind
		w.clock.Advance(2 * time.Minute)
		w.checkMails(t, 2) // one to each recipient
		w.recordEvent(t, "post.account_failed", "late", nil)
		w.clock.Advance(2 * time.Minute)
		w.checkMails(t, 2)
		w.clock.Advance(10 * time.Minute)
		w.checkMails(t, 4)
		first := must.Get(netmail.ReadMessage(strings.NewReader(w.box.mails[0])))(t)
		body := must.Get(io.ReadAll(first.Body))(t)
		if got := first.Header.Get("Subject"); got != "Harbour: 100 times a post could not be published" {
			t.Errorf("subject %q", got)
		}
		if strings.Count(string(body), "https://") != 1 || !strings.Contains(string(body),
			"https://press.example/notices") || !strings.Contains(string(body), "and 90 more") {
			t.Errorf("mail: %s", body)
		}
		if !strings.HasPrefix(first.Header.Get("Content-Type"), "text/plain") {
			t.Errorf("content type %s", first.Header.Get("Content-Type"))
		}
	})
}

// Each person gets mail in the language of the person's settings.
func TestMailLanguage(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		must.NoError(t, w.teams.SetProfile(t.Context(), w.owner.ID, "Ada", "", "de"))
		w.recordEvent(t, "post.account_failed", "one", nil)
		w.clock.Advance(2 * time.Minute)
		w.checkMails(t, 2)
		for i, to := range w.box.to {
			want := "A post couldn’t be published."
			if to == "ada@harbour.example" {
				want = "Ein Beitrag konnte nicht veröffentlicht werden."
			}
			mail := must.Get(netmail.ReadMessage(strings.NewReader(w.box.mails[i])))(t)
			if text := mailBody(t, mail); !strings.HasPrefix(text, want) {
				t.Errorf("mail to %s: %s", to, text)
			}
		}
	})
}

func TestMailRetries(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		w.box.rejecting = true
		w.recordEvent(t, "key.created", "1", map[string]any{"level": "full"})
		for range 40 {
			w.clock.Advance(30 * time.Minute)
			w.sendDueMail(t)
		}
		list := must.Get(w.List(t.Context(), w.owner.ID, 0, 10))(t)
		if len(list) != 1 || !list[0].Unmailed || list[0].Read {
			t.Fatalf("notice %+v", list)
		}
		w.box.rejecting = false
		w.clock.Advance(time.Hour)
		w.checkMails(t, 0)

		w.box.rejecting = true
		w.recordEvent(t, "report.tracking_ended", "r1", map[string]any{"reason": "credits"})
		w.clock.Advance(2 * time.Minute)
		w.checkMails(t, 0)
		w.box.rejecting = false
		w.checkMails(t, 0) // before the retry delay
		w.clock.Advance(2 * time.Minute)
		w.checkMails(t, 1)
		list = must.Get(w.List(t.Context(), w.owner.ID, 0, 1))(t)
		if list[0].Unmailed || w.box.to[0] != "ada@harbour.example" || !strings.Contains(w.box.mails[0],
			fmt.Sprint("https://press.example/notices/", list[0].ID)) {
			t.Errorf("notice %+v, mails %s", list, w.box.mails)
		}
	})
}

func TestMailRecipients(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		must.NoError(t, w.SetMuted(t.Context(), w.owner.ID,
			notification.MutedKinds{Mail: []notification.Kind{notification.PostFailed, "unknown kind"}}))
		muted := must.Get(w.Muted(t.Context(), w.owner.ID))(t)
		if len(muted.App) != 0 || len(muted.Mail) != 1 || muted.Mail[0] != notification.PostFailed {
			t.Errorf("muted kinds %+v", muted)
		}
		w.recordEvent(t, "post.account_failed", "one", nil)
		must.NoError(t, w.teams.RemoveMember(t.Context(), w.team, w.editor.ID))
		w.clock.Advance(2 * time.Minute)
		w.checkMails(t, 0)
		w.recordEvent(t, "post.account_unconfirmed", "one", nil)
		w.clock.Advance(25 * time.Hour) // as after a long outage of the mail server
		w.checkMails(t, 0)
	})
}

// A kind that a person muted in the app is neither listed nor counted in the app, but still emailed. It is listed again
// when the person unmutes it.
func TestMutedInApp(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		must.NoError(t, w.SetMuted(t.Context(), w.owner.ID,
			notification.MutedKinds{App: []notification.Kind{notification.PostFailed}}))
		w.recordEvent(t, "post.account_failed", "one", nil)
		w.recordEvent(t, "post.account_unconfirmed", "two", nil)
		check := func(person int64, want int) {
			t.Helper()
			list := must.Get(w.List(t.Context(), person, 0, 10))(t)
			if n := must.Get(w.Unread(t.Context(), person))(t); n != want || len(list) != want {
				t.Errorf("%d unread and %d listed, want %d", n, len(list), want)
			}
		}
		check(w.owner.ID, 1)
		check(w.editor.ID, 2)
		w.clock.Advance(2 * time.Minute)
		w.checkMails(t, 4)
		must.NoError(t, w.SetMuted(t.Context(), w.owner.ID, notification.MutedKinds{}))
		check(w.owner.ID, 2)
	})
}

// Reading a notification about a failed post marks the notifications about its other accounts as read, but not
// notifications about other posts.
func TestReadSameResult(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		for _, subject := range []string{"one", "one", "two"} {
			w.recordEvent(t, "post.account_failed", subject, nil)
		}
		list := must.Get(w.List(t.Context(), w.owner.ID, 0, 10))(t)
		must.NoError(t, w.MarkRead(t.Context(), w.owner.ID, list[2].ID, false))
		var read []bool
		for _, n := range must.Get(w.List(t.Context(), w.owner.ID, 0, 10))(t) {
			read = append(read, n.Read)
		}
		if !slices.Equal(read, []bool{false, true, true}) {
			t.Errorf("read: %v", read)
		}
		if n := must.Get(w.Unread(t.Context(), w.owner.ID))(t); n != 1 {
			t.Errorf("%d unread notices, want 1", n)
		}
		if n := must.Get(w.Unread(t.Context(), w.editor.ID))(t); n != 2 {
			t.Errorf("another person has unread notices about %d posts, want 2", n)
		}
	})
}

// Notifications are created in the transaction of the event, so a rollback leaves none. Handling an event again creates
// no second notification.
func TestNotificationInTransaction(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		stop := errors.New("stop")
		err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			must.NoError(t, auditlog.Record(ctx, tx, w.team, auditlog.Actor{}, "post.account_failed", "undone", nil))
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		for range 2 {
			must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return w.HandleEvent(ctx, tx,
					db.Event{
						ID: 7, Team: w.team, Kind: "post.account_failed", Subject: "handled", Detail: []byte(`{}`),
					})
			}))
		}
		w.recordEvent(t, "post.created", "not notified", nil)
		for _, p := range []team.Person{w.owner, w.editor} {
			list := must.Get(w.List(t.Context(), p.ID, 0, 10))(t)
			if len(list) != 1 || list[0].Subject != "handled" {
				t.Errorf("notices of %s: %+v", p.Name, list)
			}
		}
		w.clock.Advance(91 * 24 * time.Hour)
		if n, err := w.Sweep(t.Context()); err != nil || n != 2 {
			t.Errorf("%d notices were deleted (%v)", n, err)
		}
	})
}

// A decision about an unconfirmed post notifies the other members only if the post was not published.
func TestDecisionNotification(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		decide := func(by int64, subject, decision string) {
			t.Helper()
			must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				return auditlog.Record(ctx, tx, w.team, auditlog.Actor{PersonID: by}, "post.account_decided", subject,
					map[string]any{"account": 1, "decision": decision})
			}))
		}
		decide(w.editor.ID, "found", "published")
		decide(w.editor.ID, "absent", "not_published")
		decide(0, "absent too", "not_published")
		for person, want := range map[int64][]string{
			w.owner.ID: {
				"The operator checked the network",
				"A member of your team checked the network and did not find a post",
			},
			w.editor.ID: {"The operator checked the network"},
		} {
			list := must.Get(w.List(t.Context(), person, 0, 10))(t)
			if len(list) != len(want) {
				t.Fatalf("notices of person %d: %+v", person, list)
			}
			for i, n := range list {
				if !strings.HasPrefix(n.Text(locale.English), want[i]) || n.Path() != "/posts/"+n.Subject {
					t.Errorf("notice of person %d: %q, path %s", person, n.Text(locale.English), n.Path())
				}
			}
		}
	})
}

func TestServerURLs(t *testing.T) {
	t.Parallel()
	for url, valid := range map[string]bool{
		"smtp://mail.example": true, "smtps://ada:secret@mail.example:465": true,
		"smtp://127.0.0.1:2525?tls=none": true,
		"http://mail.example":            false, "mail.example:25": false, "smtp://": false,
	} {
		_, err := notification.Server{URL: url, From: "press@harbour.example"}.Sender()
		if (err == nil) != valid {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("the error contains the password: %v", err)
		}
	}
	if _, err := (notification.Server{URL: "smtp://mail.example", From: "nobody"}).Sender(); err == nil {
		t.Error("a sender without an address was accepted")
	}
	if send, err := (notification.Server{}).Sender(); send != nil || err != nil {
		t.Error("Sender without a server returned a function or an error")
	}
}
