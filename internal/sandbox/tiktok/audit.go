package tiktok

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// Parts of an app's client key. unverifiedClient may follow unauditedClient.
const (
	unauditedClient  = "-unaudited"         // the app has not passed TikTok's audit
	unverifiedClient = "-unverified-domain" // the app has not verified a domain
)

// Limits for an app that has not passed the audit.
//
// Source: https://developers.tiktok.com/doc/content-sharing-guidelines
const (
	maxPosters   = 5 // maximum number of accounts
	posterWindow = 24 * time.Hour
)

// Accounts that exist only on TikTok.
const (
	privatePerson = "atelier.blau" // the only private account
	busyPerson    = "busy.bistro"  // has reached TikTok's daily limit of posts
)

// audiences returns the privacy levels that an account offers.
func audiences(a store.Account) []string {
	if a.Handle == privatePerson {
		return []string{"FOLLOWER_OF_CREATOR", "MUTUAL_FOLLOW_FRIENDS", audienceSelf}
	}
	return []string{audienceEveryone, "MUTUAL_FOLLOW_FRIENDS", audienceSelf}
}

// checkAudit returns an error for some direct posts of an app that has not passed the audit. Such an app can post only
// for a private account, and the post must be visible only to that account. checkAudit also calls checkCap.
func (n *Network) checkAudit(ctx context.Context, t store.Tx, c caller, p publication) error {
	switch {
	case p.privacy == audienceInbox:
		return nil
	case strings.Contains(c.client, unauditedClient) && (c.Handle != privatePerson || p.privacy != audienceSelf):
		return errUnaudited
	}
	if err := n.checkCap(ctx, t, c); err != nil {
		return err
	}
	return t.Run(ctx, "recording an account of an app", `insert into tiktok_posters (client, account, posted_at) values (?, ?, ?)
		on conflict (client, account) do update set posted_at = excluded.posted_at`, c.client, c.ID, n.Now().UnixMilli())
}

// checkCap returns an error if the account has published too many posts. It also returns an error if the app has not
// passed the audit and has posted for maxPosters other accounts within posterWindow.
func (n *Network) checkCap(ctx context.Context, t store.Tx, c caller) error {
	if c.Handle == busyPerson {
		return errTooManyPosts
	}
	var otherPosters int
	err := t.QueryRowContext(ctx,
		`select count(*) from tiktok_posters where client = ? and account <> ? and posted_at > ?`, c.client, c.ID,
		n.Now().Add(-posterWindow).UnixMilli()).Scan(&otherPosters)
	if err != nil {
		return fmt.Errorf("counting the accounts of an app: %w", err)
	}
	if otherPosters >= maxPosters && strings.Contains(c.client, unauditedClient) {
		return errActiveUserCap
	}
	return nil
}

// checkDomain returns an error unless the app has verified a domain. TikTok requires this for posts whose files it
// fetches from URLs.
func (c caller) checkDomain() error {
	if strings.Contains(c.client, unverifiedClient) {
		return errUnverifiedDomain
	}
	return nil
}

var (
	errUnaudited = &apiError{
		http.StatusForbidden, "unaudited_client_can_only_post_to_private_accounts",
		"Unaudited clients can only post to private accounts.",
	}
	errTooManyPosts = &apiError{
		http.StatusForbidden, "spam_risk_too_many_posts",
		"The daily post cap from the API is reached for the current user.",
	}
	errActiveUserCap = &apiError{
		http.StatusForbidden, "reached_active_user_cap",
		"The daily quota for active publishing users from your client is reached.",
	}
	errUnverifiedDomain = &apiError{
		http.StatusForbidden, "url_ownership_unverified",
		"The developer must verify the ownership of the URL's domain or prefix.",
	}
)
