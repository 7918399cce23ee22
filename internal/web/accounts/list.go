package accounts

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/web/shell"
)

// listView is the page that lists the team's accounts and the networks that can be connected.
type listView struct {
	Accounts     []entry
	Platform     string   // filter; "" means all
	First, Next  string   // paths of the first and next page of the list; "" if there is none
	Manages      bool     // the visitor may connect and disconnect accounts
	Offered      []string // platforms that can be connected, sorted by display name
	Slots        int64    // number of accounts that the plan still allows; -1 means unlimited
	Error        string
	Disconnected []disconnectedAccount
	Now          time.Time
}

// disconnectedAccount is a recently disconnected account. Text explains whether pressroom's permission on the network
// was revoked.
type disconnectedAccount struct {
	Platform, Username, Text string
	At                       time.Time
}

// recentlyDisconnected returns the accounts that the team disconnected recently.
func (h *Handlers) recentlyDisconnected(
	r *http.Request, team int64, zone *time.Location,
) ([]disconnectedAccount, error) {
	found, err := h.connector.Accounts.ListDisconnected(r.Context(), team)
	var out []disconnectedAccount
	for _, t := range found {
		text := revocationText(h.Language(r), t.Platform, t.State)
		out = append(out, disconnectedAccount{t.Platform, t.Username, text, t.At.In(zone)})
	}
	return out, err
}

// entry is an account in the list.
type entry struct {
	account.SocialAccount

	Name        string    // display name: untrusted text
	Since, Ends time.Time // start and end of the connection; Ends is zero if it does not expire
	Followers   *int64    // nil if unknown

	Last, Next time.Time // times of the newest published and the next scheduled post; zero if there is none
}

func (h *Handlers) list(w http.ResponseWriter, r *http.Request) {
	h.showList(w, r, http.StatusOK, "")
}

func (h *Handlers) showList(w http.ResponseWriter, r *http.Request, status int, formErr string) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	view := listView{
		Platform: r.URL.Query().Get("platform"), Manages: v.Is(shell.Managers), Offered: h.connector.OfferedPlatforms(),
		Error: formErr, Now: h.DB.Now(),
	}
	slices.SortFunc(view.Offered, func(a, b string) int { return strings.Compare(shell.NetworkName(a), shell.NetworkName(b)) })
	actor, err := h.actor(r)
	if err == nil {
		view.Slots, err = h.connector.SlotsLeft(ctx, actor)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	args := operation.Arguments{"active_only": false, "limit": int64(50)}
	for _, name := range []string{"platform", "cursor"} {
		if value := r.URL.Query().Get(name); value != "" {
			args[name] = value
		}
	}
	page, outcome, err := shell.Run[account.SocialAccountList](h.Shell, r, "list_social_accounts", args)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		h.ServerError(w, r, err)
		return
	}
	if view.Accounts, err = h.entries(r, v.Team.ID, page.SocialAccounts, outcome.Untrusted, zone); err != nil {
		h.ShowError(w, r, err)
		return
	}
	if view.Manages {
		if view.Disconnected, err = h.recentlyDisconnected(r, v.Team.ID, zone); err != nil {
			h.ShowError(w, r, err)
			return
		}
	}
	if args["cursor"] != nil {
		view.First = listPath(view.Platform, "")
	}
	if outcome.Page != nil {
		view.Next = listPath(view.Platform, outcome.Page.Cursor)
	}
	if view.First == "" && view.Next == "" {
		sortByNetwork(view.Accounts)
	}
	h.Show(w, r, status, pages["list"], "Accounts", view)
}

func listPath(platform, cursor string) string {
	q := url.Values{}
	for name, value := range map[string]string{"platform": platform, "cursor": cursor} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return (&url.URL{Path: "/accounts", RawQuery: q.Encode()}).String()
}

// entries returns accounts with the details that the list shows. untrusted holds their display names.
func (h *Handlers) entries(
	r *http.Request, team int64, accounts []account.SocialAccount, untrusted []operation.Untrusted, zone *time.Location,
) ([]entry, error) {
	ids := make([]int64, len(accounts))
	for i, a := range accounts {
		ids[i] = a.ID
	}
	periods, err := h.connector.Accounts.ConnectionPeriods(r.Context(), team, ids)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, u := range untrusted {
		names[u.ID] = u.Text
	}
	out := make([]entry, len(accounts))
	for i, a := range accounts {
		out[i] = entry{SocialAccount: a, Since: periods[a.ID].Since.In(zone)}
		if ends := periods[a.ID].Ends; !ends.IsZero() {
			out[i].Ends = ends.In(zone)
		}
		if a.DisplayName != nil {
			out[i].Name = names[a.DisplayName.Untrusted]
		}
	}
	if err := h.addTimes(r.Context(), team, zone, out); err != nil {
		return nil, err
	}
	return out, h.addFollowers(r.Context(), team, zone, out)
}

// addTimes adds the times of the newest and the next post of each account.
func (h *Handlers) addTimes(ctx context.Context, team int64, zone *time.Location, accounts []entry) error {
	last, err := h.analytics.LastPosts(ctx, team)
	if err != nil {
		return err
	}
	next, err := postlist.NextByAccount(ctx, h.DB, team)
	if err != nil {
		return err
	}
	for i := range accounts {
		if at, found := last[accounts[i].ID]; found {
			accounts[i].Last = at.In(zone)
		}
		if at, found := next[accounts[i].ID]; found {
			accounts[i].Next = at.In(zone)
		}
	}
	return nil
}

// addFollowers adds the newest known number of followers of each account.
func (h *Handlers) addFollowers(ctx context.Context, team int64, zone *time.Location, accounts []entry) error {
	weeks, err := h.analytics.CompareWeeks(ctx, team, zone)
	if err != nil {
		return err
	}
	followers := map[int64]*int64{}
	for _, w := range weeks {
		followers[w.ID] = w.Followers
	}
	for i := range accounts {
		accounts[i].Followers = followers[accounts[i].ID]
	}
	return nil
}

// sortByNetwork sorts accounts by the display name of their network, then by username.
func sortByNetwork(accounts []entry) {
	slices.SortStableFunc(accounts, func(a, b entry) int {
		return cmp.Or(
			strings.Compare(strings.ToLower(shell.NetworkName(a.Platform)), strings.ToLower(shell.NetworkName(b.Platform))),
			strings.Compare(a.Username, b.Username))
	})
}

// connect redirects to the page that connects an account of the chosen network.
func (h *Handlers) connect(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	link, _, err := shell.Run[account.ConnectLink](h.Shell, r, "get_connect_link",
		operation.Arguments{"platform": r.PostForm.Get("platform")})
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showList(w, r, shell.StatusOf(err), formErr)
		}
		return
	}
	shell.Redirect(w, r, strings.TrimPrefix(link.URL, h.PublicURL))
}

// reconnect redirects to the page that reconnects an account.
func (h *Handlers) reconnect(w http.ResponseWriter, r *http.Request, a account.Account) {
	actor, err := h.actor(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	path, err := h.connector.ReconnectPath(r.Context(), actor, a.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	shell.Redirect(w, r, path)
}

// IsUnlimited reports whether the plan allows any number of accounts.
func (v listView) IsUnlimited() bool { return v.Slots == plan.Unlimited }
