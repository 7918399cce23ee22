package shell

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/team"
)

type visitorKey struct{}

// Visitor is a signed-in person who requests a page.
type Visitor struct {
	team.Account
	Team team.OwnTeam   // the selected team
	Zone *time.Location // time zone that the person sees and enters; daily statistics use the team's zone
}

// newVisitor returns a visitor with the given account and selected team.
func newVisitor(account team.Account, selected team.OwnTeam) (*Visitor, error) {
	zone, err := time.LoadLocation(cmp.Or(account.Timezone, selected.Timezone))
	if err != nil {
		return nil, fmt.Errorf("loading the time zone of person %d: %w", account.ID, err)
	}
	return &Visitor{account, selected, zone}, nil
}

// VisitorOf returns the visitor of a request, or nil if nobody is signed in.
func VisitorOf(ctx context.Context) *Visitor {
	v, _ := ctx.Value(visitorKey{}).(*Visitor)
	return v
}

// identify wraps a handler. On every request, it looks up the session's person and adds the visitor to the context. It
// ignores the session while the person is suspended or not in a team. It ends the session if all of the person's
// sessions were ended.
func (s *Shell) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		account, err := s.sessionAccount(r)
		switch {
		case err != nil && !apierr.Is(err, apierr.NotFound):
			s.ServerError(w, r, err)
			return
		case err == nil:
			v, err := newVisitor(account, TeamOrFirst(account, s.sessions.manager.GetInt64(r.Context(), teamKey)))
			if err != nil {
				s.ServerError(w, r, err)
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), visitorKey{}, v))
		}
		next.ServeHTTP(w, r)
	})
}
