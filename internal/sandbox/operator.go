package sandbox

import (
	"context"
	"fmt"
	"strings"
)

// OperatorAccount is a professional account of Instagram by which its public data can be asked for.
type OperatorAccount struct {
	ID    string // of the Instagram user
	Token string // by Facebook Login; it does not end by time
}

// operatorHandle begins the name of every such account.
const operatorHandle = "operator."

// isOperator tells whether nobody signs in as the account.
func isOperator(a account) bool { return strings.HasPrefix(a.handle, operatorHandle) }

// operatorScopes are what reading public data takes.
var operatorScopes = []string{
	"instagram_basic", "instagram_manage_insights", "pages_show_list", "pages_read_engagement",
}

// Operator gives n professional accounts of Instagram, each time the same ones with new tokens, as if their owner had
// connected them by Facebook Login.
func (s *Server) Operator(ctx context.Context, n int) ([]OperatorAccount, error) {
	var accounts []OperatorAccount
	for i := range n {
		made, err := s.operatorAccount(ctx, fmt.Sprintf("%s%d", operatorHandle, i+1))
		if err != nil {
			return nil, fmt.Errorf("making an operator's account: %w", err)
		}
		accounts = append(accounts, made)
	}
	return accounts, nil
}

func (s *Server) operatorAccount(ctx context.Context, handle string) (OperatorAccount, error) {
	api := &oauth{Server: s, platform: instagramName}
	// nobody has one here
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
	return OperatorAccount{ID: a.id, Token: text}, err
}
