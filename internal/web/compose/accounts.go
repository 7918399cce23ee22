package compose

import (
	"net/http"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxAccounts limits the accounts that the page lists. A post can have at most 100 accounts.
const maxAccounts = 500

// accounts returns the team's accounts, up to about maxAccounts.
func (p *Handlers) accounts(r *http.Request) ([]account.SocialAccount, error) {
	out := []account.SocialAccount{}
	args := operation.Arguments{"active_only": false, "limit": int64(50)}
	for len(out) < maxAccounts {
		page, got, err := shell.Run[account.SocialAccountList](p.Shell, r, "list_social_accounts", args)
		if err != nil {
			return nil, err
		}
		out = append(out, page.SocialAccounts...)
		if got.Page == nil || !got.Page.HasMore {
			break
		}
		args["cursor"] = got.Page.Cursor
	}
	return out, nil
}

// accountOption is an account that the form offers.
type accountOption struct {
	account.SocialAccount

	Left bool // whether the account is disconnected, but still belongs to the post
}

// accountOptions returns the given accounts and the other accounts of the saved post, which are usually disconnected.
// It sorts them by network and username. held is nil for a new post.
func accountOptions(accounts []account.SocialAccount, held *post.Record) []accountOption {
	out := make([]accountOption, 0, len(accounts))
	for _, a := range accounts {
		out = append(out, accountOption{SocialAccount: a})
	}
	if held != nil {
		for _, t := range held.Targets {
			if !slices.ContainsFunc(accounts, func(a account.SocialAccount) bool { return a.ID == t.AccountID }) {
				out = append(out,
					accountOption{
						account.SocialAccount{
							ID: t.AccountID, Platform: t.Platform, Username: t.Username, Active: t.Active,
						}, !t.Active,
					})
			}
		}
	}
	slices.SortFunc(out, func(a, b accountOption) int {
		return strings.Compare(shell.NetworkName(a.Platform)+"\x00"+strings.ToLower(a.Username),
			shell.NetworkName(b.Platform)+"\x00"+strings.ToLower(b.Username))
	})
	return out
}

// contradictions returns an error for each account whose text, title or media in the form would be lost, because the
// account is not selected, or its text or title is disabled.
func (s *formData) contradictions(accounts []account.SocialAccount, held *post.Record) []error {
	out := []error{}
	for _, a := range accountOptions(accounts, held) {
		what, field, o := "", ownText(a.ID), s.Own[a.ID]
		switch {
		case slices.Contains(s.Accounts, a.ID):
			if o.NoText && strings.TrimSpace(o.Text) != "" {
				what = "Remove the text for %s (%s), or clear “Post without text”."
			} else if o.NoTitle && strings.TrimSpace(o.Title) != "" {
				what, field = "Remove the title for %s (%s), or clear “Post without title”.", ownTitle(a.ID)
			}
		case strings.TrimSpace(o.Text) != "":
			what = "There is text for %s (%s), which is not selected. Select the account or clear its text."
		case strings.TrimSpace(o.Title) != "":
			what, field = "There is a title for %s (%s), which is not selected. Select the account or clear its title.", ownTitle(a.ID)
		case len(o.Media) > 0:
			what = "There are images or videos for %s (%s), which is not selected. Select the account or remove them."
		}
		if what != "" {
			out = append(out, apierr.Invalidf(apierr.NotAllowedValue, field, what,
				shell.NetworkName(a.Platform), a.Username))
		}
	}
	return out
}

// choose groups the accounts by network, sets Chosen and Unselected, and removes unknown accounts from the form.
func (v *view) choose(accounts []account.SocialAccount, held *post.Record) {
	kept := []int64{}
	for _, a := range accountOptions(accounts, held) {
		if n := len(v.Groups); n == 0 || v.Groups[n-1].Platform != a.Platform {
			v.Groups = append(v.Groups, group{Platform: a.Platform})
		}
		g := &v.Groups[len(v.Groups)-1]
		g.Accounts = append(g.Accounts, a)
		if slices.Contains(v.Accounts, a.ID) {
			kept = append(kept, a.ID)
			v.Chosen = append(v.Chosen, selectedAccount{accountOption: a, ownContent: v.Own[a.ID]})
		} else if o := v.Own[a.ID]; o.Customizes() {
			v.Unselected = append(v.Unselected, selectedAccount{accountOption: a, ownContent: o})
		}
	}
	slices.Sort(kept)
	v.Accounts = kept
}

// Customized returns the accounts whose overrides can be edited: the selected accounts, and unselected accounts whose
// text or title has errors.
func (v *view) Customized() []selectedAccount {
	return slices.Concat(v.Chosen, slices.DeleteFunc(slices.Clone(v.Unselected), v.isKept))
}

// Kept returns the unselected accounts whose overrides are kept in hidden fields.
func (v *view) Kept() []selectedAccount {
	return slices.DeleteFunc(slices.Clone(v.Unselected), func(c selectedAccount) bool { return !v.isKept(c) })
}

func (v *view) isKept(c selectedAccount) bool {
	return len(v.Errors.At(ownText(c.ID))) == 0 && len(v.Errors.At(ownTitle(c.ID))) == 0
}
