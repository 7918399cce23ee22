package tiktok

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// Parts of the key of an app. The second may follow the first.
const (
	unauditedClient  = "-unaudited"         // has not passed TikTok's audit
	unverifiedClient = "-unverified-domain" // has verified no domain
)

// Limits on an app without an audit.
//
// Source: https://developers.tiktok.com/doc/content-sharing-guidelines
const (
	maxPosters   = 5 // accounts
	posterWindow = 24 * time.Hour
)

// privatePerson has a private account; everybody else's is public.
const privatePerson = "atelier.blau"

// audiences returns the privacy levels that an account offers.
func audiences(a store.Account) []string {
	if a.Handle == privatePerson {
		return []string{"FOLLOWER_OF_CREATOR", "MUTUAL_FOLLOW_FRIENDS", audienceSelf}
	}
	return []string{audienceEveryone, "MUTUAL_FOLLOW_FRIENDS", audienceSelf}
}

// checkAudit refuses a direct post of an app without an audit unless the account is private and only the account will see
// the post, or if the app has posted for too many accounts today.
func (n *Network) checkAudit(ctx context.Context, t store.Tx, c caller, p publication) error {
	switch {
	case p.privacy == audienceInbox || !strings.Contains(c.client, unauditedClient):
		return nil
	case c.Handle != privatePerson || p.privacy != audienceSelf:
		return errUnaudited
	}
	return n.countPoster(ctx, t, c.client, c.ID)
}

// countPoster records that an app posts for an account.
func (n *Network) countPoster(ctx context.Context, t store.Tx, client, account string) error {
	var others int
	err := t.QueryRowContext(ctx,
		`select count(*) from tiktok_posters where client = ? and account <> ? and posted_at > ?`, client, account,
		n.Now().Add(-posterWindow).UnixMilli()).Scan(&others)
	if err != nil {
		return fmt.Errorf("counting the accounts of an app: %w", err)
	}
	if others >= maxPosters {
		return errActiveUserCap
	}
	return t.Run(ctx, "recording an account of an app", `insert into tiktok_posters (client, account, posted_at) values (?, ?, ?)
		on conflict (client, account) do update set posted_at = excluded.posted_at`, client, account, n.Now().UnixMilli())
}

// checkDomain refuses files by URL if the app has not verified their domain.
func (c caller) checkDomain() error {
	if strings.Contains(c.client, unverifiedClient) {
		return errUnverified
	}
	return nil
}

var (
	errUnaudited = &apiError{
		http.StatusForbidden, "unaudited_client_can_only_post_to_private_accounts",
		"Unaudited clients can only post to private accounts.",
	}
	errActiveUserCap = &apiError{
		http.StatusForbidden, "reached_active_user_cap",
		"The daily quota for active publishing users from your client is reached.",
	}
	errUnverified = &apiError{
		http.StatusForbidden, "url_ownership_unverified",
		"The developer must verify the ownership of the URL's domain or prefix.",
	}
)
