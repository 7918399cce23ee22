package sandbox

import (
	"context"
	"fmt"
	"strings"
)

// Operator is a professional account of Instagram that can read the public data of others.
type Operator struct {
	ID    string // of the Instagram user
	Token string // by Facebook Login; it does not expire
}

// operatorHandle is the prefix of the handles of operators.
const operatorHandle = "operator."

// isOperator reports whether the account is one that nobody can sign in as.
func isOperator(a account) bool { return strings.HasPrefix(a.handle, operatorHandle) }

// operatorScopes are the scopes for reading public data.
var operatorScopes = []string{
	"instagram_basic", "instagram_manage_insights", "pages_show_list", "pages_read_engagement",
}

// Operators returns n professional accounts of Instagram with new tokens, as if their owner had connected them by
// Facebook Login. They are the same on each call.
func Operators(ctx context.Context, s *shared, n int) ([]Operator, error) {
	var accounts []Operator
	for i := range n {
		made, err := newOperator(ctx, s, fmt.Sprintf("%s%d", operatorHandle, i+1))
		if err != nil {
			return nil, fmt.Errorf("creating an operator's account: %w", err)
		}
		accounts = append(accounts, made)
	}
	return accounts, nil
}

func newOperator(ctx context.Context, s *shared, handle string) (Operator, error) {
	api := &oauth{shared: s, platform: instagramName}
	// nobody signs in with it
	a := account{id: instagramID(handle), handle: handle, displayName: spoken(handle), password: []byte{}}
	grant := oauthToken{kind: kindAccess, session: newID(), account: a.id, client: "operator"}
	var text string
	err := s.store.in(ctx, func(t tx) error {
		if err := t.keepAccount(ctx, instagramName, a); err != nil {
			return err
		}
		if err := t.beginSession(ctx, instagramName, grant.session, a.id); err != nil {
			return err
		}
		if err := t.keepScopes(ctx, instagramName, grant.session, operatorScopes); err != nil {
			return err
		}
		var err error
		text, err = api.issue(ctx, t, grant, instagramPageLife)
		return err
	})
	return Operator{ID: a.id, Token: text}, err
}
