package networktest

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/network"
)

// Call is a call that a test makes to an adapter.
type Call struct {
	Name    string
	Purpose network.Purpose
	Secrets []string // sent by the call
	Do      func(context.Context, *Stub) error
}

// CommitCall returns a Call that commits a draft.
func CommitCall(draft string) Call {
	return Call{"commit", network.PurposeCommit, []string{AccessToken}, func(ctx context.Context, s *Stub) error {
		_, err := s.Network.Commit(ctx, s.Grant, s.Draft(draft), s.Library)
		return err
	}}
}

// ResolveCall returns a Call that resolves a draft.
func ResolveCall(draft string) Call {
	return Call{"resolve", network.PurposeRead, []string{AccessToken}, func(ctx context.Context, s *Stub) error {
		_, _, err := s.Network.Resolve(ctx, s.Grant, s.Draft(draft), network.CommitHistory{})
		return err
	}}
}

// PrepareCall returns a Call that prepares a draft.
func PrepareCall(draft string) Call {
	return Call{"prepare", network.PurposeRead, []string{AccessToken}, func(ctx context.Context, s *Stub) error {
		_, _, err := s.Network.Prepare(ctx, s.Grant, s.Draft(draft), s.Library)
		return err
	}}
}

// PermalinkCall returns a Call that requests the permalink of a post, and fails if the permalink is not empty.
func PermalinkCall(id string) Call {
	return Call{"permalink", network.PurposeRead, []string{AccessToken}, func(ctx context.Context, s *Stub) error {
		link, err := s.Network.Permalink(ctx, s.Grant, network.Receipt{ID: id})
		if link != "" {
			return fmt.Errorf("the permalink is %q", link)
		}
		return err
	}}
}

// RefreshCall returns a Call that refreshes a grant. By default its secrets are the refresh token and the app's
// secret.
func RefreshCall(kind string, secrets ...string) Call {
	if len(secrets) == 0 {
		secrets = []string{refreshToken, appSecret}
	}
	return Call{"refresh", network.PurposeAuthorize, secrets, func(ctx context.Context, s *Stub) error {
		g := s.Grant
		g.Kind = kind
		_, err := s.Network.Refresh(ctx, g)
		return err
	}}
}

// ExchangeCall returns a Call that exchanges an authorization code.
func ExchangeCall(kind string) Call {
	return Call{"exchange", network.PurposeAuthorize, []string{authCode, appSecret}, func(ctx context.Context, s *Stub) error {
		authorizer := s.Network.(network.Authorizer) //nolint:forcetypeassert // only an Authorizer has such a call
		_, err := authorizer.Exchange(ctx, network.Authorization{Kind: kind, Redirect: redirect}, authCode)
		return err
	}}
}

// failureClass returns the class of the error for a call without a readable response.
func (c Call) failureClass() network.ErrorClass {
	if c.Purpose == network.PurposeCommit {
		return network.OutcomeUnknown
	}
	return network.Transient
}
