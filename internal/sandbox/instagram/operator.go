package instagram

import (
	"context"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/oauth"
	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/sandbox/world"
)

// Operator is a professional Instagram account that can read public data of other accounts.
type Operator struct {
	ID    string // ID of the Instagram user
	Token string // access token from Facebook Login; does not expire
}

// operatorHandle is the prefix of the handles of operators.
const operatorHandle = "operator."

// isOperator reports whether the account belongs to an operator. Nobody can sign in as an operator.
func isOperator(a store.Account) bool { return strings.HasPrefix(a.Handle, operatorHandle) }

// operatorScopes are the scopes for reading public data.
var operatorScopes = []string{
	"instagram_basic", "instagram_manage_insights", "pages_show_list", "pages_read_engagement",
}

// Operators returns n operator accounts with new tokens from Facebook Login. Every call returns the same accounts.
func Operators(ctx context.Context, s *base.Server, n int) ([]Operator, error) {
	var accounts []Operator
	for i := range n {
		operator, err := newOperator(ctx, s, fmt.Sprintf("%s%d", operatorHandle, i+1))
		if err != nil {
			return nil, fmt.Errorf("creating an operator's account: %w", err)
		}
		accounts = append(accounts, operator)
	}
	return accounts, nil
}

func newOperator(ctx context.Context, s *base.Server, handle string) (Operator, error) {
	api := &oauth.Provider{Server: s, Platform: Name}
	a := store.Account{
		ID: AccountID(handle), Handle: handle, DisplayName: world.DisplayName(handle), Password: []byte{},
	}
	grant := store.Token{Kind: oauth.KindAccess, Session: base.NewID(), Account: a.ID, Client: "operator"}
	var text string
	err := s.Store.InTx(ctx, func(t store.Tx) error {
		if err := t.SaveAccount(ctx, Name, a); err != nil {
			return err
		}
		if err := t.CreateSession(ctx, Name, grant.Session, a.ID); err != nil {
			return err
		}
		if err := t.SaveScopes(ctx, Name, grant.Session, operatorScopes); err != nil {
			return err
		}
		var err error
		text, err = api.Issue(ctx, t, grant, pageTokenLifetime)
		return err
	})
	return Operator{ID: a.ID, Token: text}, err
}
