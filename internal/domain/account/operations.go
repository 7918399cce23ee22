package account

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// Platforms lists the platforms of the API, separated by vertical bars.
const Platforms = "instagram|tiktok|facebook|linkedin|pinterest|bluesky|threads|youtube|x"

// SocialAccount is the API representation of an account.
type SocialAccount struct {
	ID              int64              `json:"id"`
	Platform        string             `json:"platform" enum:"instagram|tiktok|facebook|linkedin|pinterest|bluesky|threads|youtube|x" title:"Platform"`
	Username        string             `json:"username"`
	DisplayName     *operation.Pointer `json:"display_name,omitempty"`
	Active          bool               `json:"active" jsonschema:"Whether posts can be sent to the account."`
	ConnectionState Connection         `json:"connection_state" enum:"connected|expiring|lost"`
	ConnectionProbe string             `json:"connection_probe,omitempty" jsonschema:"refused if the network rejected the tokens."`
	AccountStatus   string             `json:"account_status,omitempty"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (SocialAccount) Descriptions() map[string]string {
	return map[string]string{
		"display_name":   "Reference to the account's display name if it differs from the username.",
		"account_status": "needs_reauth if a person must reconnect the account in the app.",
	}
}

// SocialAccountList is a page of accounts.
type SocialAccountList struct {
	SocialAccounts []SocialAccount `json:"social_accounts"`
}

// ListInput filters the list.
type ListInput struct {
	Platform   string  `json:"platform,omitempty" enum:"instagram|tiktok|facebook|linkedin|pinterest|bluesky|threads|youtube|x" title:"Platform"`
	ActiveOnly bool    `json:"active_only,omitempty" default:"true" jsonschema:"false: include accounts without a working connection."`
	Cursor     *string `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the previous response."`
	Limit      int     `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items per page."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ListInput) Descriptions() map[string]string {
	return map[string]string{"platform": "Only accounts of this network."}
}

// Operations returns the API operations on accounts.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_social_accounts", Method: http.MethodGet, Path: "/social-accounts", Needs: access.Read,
			Success: http.StatusOK,
			Summary: "List connected accounts",
			Description: "Lists the team's connected social accounts, newest first, with the state of their " +
				"connection. Use it to get account IDs for posts. People connect and disconnect accounts in the app.",
			Next: "Nothing can be sent to an account whose connection_state is lost. Call get_connect_link for a " +
				"link to reconnect it.",
			Listing: &operation.Listing{Member: "social_accounts", Item: "get_account_analytics",
				Arguments: map[string]string{"account_id": "id"}, Label: []string{"username", "platform"}},
			Example: operation.Example{Data: SocialAccountList{[]SocialAccount{{ID: 1, Platform: "bluesky",
				Username: "harbour.example",
				Active:   true, ConnectionState: Connected}}}},
		}, s.list),
	}
}

// LinkInput selects the account to connect with a link.
type LinkInput struct {
	Platform  string `json:"platform,omitempty" enum:"instagram|facebook|tiktok|tiktok_business|youtube|linkedin|x|threads|pinterest|bluesky" title:"ConnectPlatform"`
	AccountID int64  `json:"account_id,omitempty" min:"1" jsonschema:"Lost account to reconnect; not together with platform."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (LinkInput) Descriptions() map[string]string {
	return map[string]string{"platform": "Network of a new account; not together with account_id."}
}

// ConnectLink is a link that a person opens in the browser to connect an account.
type ConnectLink struct {
	URL       string          `json:"url"`
	ExpiresAt teamtime.Moment `json:"expires_at"`
	// SlotsLeft is nil if the link reconnects an account, and points to nil if there is no limit. It is the only field
	// of the API that can be null.
	SlotsLeft **int64 `json:"slots_left,omitempty" nullable:"true" min:"0"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ConnectLink) Descriptions() map[string]string {
	return map[string]string{
		"url": "An owner or admin of the team opens it in a signed-in browser. It works until it has connected an " +
			"account.",
		"slots_left": "Accounts that the plan still allows; null means unlimited. Only for a new connection.",
	}
}

// Operations returns the API operations that connect accounts.
func (c *Connector) Operations() []operation.Operation {
	exampleSlots := new(int64(27))
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "get_connect_link", Method: http.MethodGet, Path: "/connect-link", Needs: access.Read,
			Success: http.StatusOK,
			Summary: "Get a link to connect an account",
			Description: "Returns a link to connect a new account or reconnect a lost one. Give exactly one of " +
				"platform and account_id. Nothing is connected until a person confirms it in the browser. The " +
				"account_id of a working account is rejected.",
			Next: "Give the link to the user and wait; list_social_accounts shows when the account is connected. If " +
				"slots_left is 0, the plan allows no more accounts: tell the user. wrong_state: the account is " +
				"already connected.",
			Example: operation.Example{Arguments: map[string]any{"platform": "bluesky"},
				Data: ConnectLink{"https://press.example.com/connect/AQ",
					teamtime.At(time.Date(2026, 3, 29, 8, 15, 0, 0, time.UTC), time.UTC), &exampleSlots}},
		}, c.getLink),
	}
}

func (c *Connector) getLink(
	ctx context.Context, call operation.Call, in LinkInput,
) (operation.Response[ConnectLink], error) {
	out := operation.Response[ConnectLink]{App: "/accounts"}
	if (in.Platform == "") == (in.AccountID == 0) {
		return out, apierr.Invalid(apierr.ExactlyOneOf, "platform", "Give exactly one of platform and account_id.")
	}
	l := link{teamID: call.TeamID, accountID: in.AccountID, personID: call.PersonID, inApp: call.InApp(),
		platform: in.Platform, expiresAt: call.Now.Add(linkLifetime).Truncate(time.Second)}
	argument := "platform"
	if in.AccountID != 0 {
		a, err := readAccount(ctx, c.Accounts.db, call.TeamID, in.AccountID)
		if err != nil {
			return out, err
		}
		if a.Active() {
			return out, apierr.BadState(string(a.Connection),
				"This account is connected. Only a lost account can be reconnected.")
		}
		l.platform, argument = a.Platform, "account_id"
	}
	if _, err := c.signInMethods(l); err != nil {
		return out, apierr.Invalid(apierr.NotAllowedValue, argument, "This installation does not support that network.")
	}
	out.Data = ConnectLink{URL: c.PublicURL + ConnectPath + c.newToken(l), ExpiresAt: call.Moment(l.expiresAt)}
	if in.AccountID != 0 {
		return out, nil
	}
	p, _ := c.Catalog.Plan(call.Plan) // a removed plan allows no accounts
	slots, err := slotsLeft(ctx, c.Accounts.db, call.TeamID, p)
	out.Data.SlotsLeft = new(&slots)
	if slots == plan.Unlimited {
		out.Data.SlotsLeft = new(*int64)
	}
	return out, err
}

const columns = `id, team_id, platform, network_id, username, display_name, connection_state, connection_probe, account_status`

func scan(rows *sql.Rows, a *Account) error {
	var state string
	err := rows.Scan(&a.ID, &a.TeamID, &a.Platform, &a.NetworkID, &a.Username, &a.DisplayName, &state, &a.Probe,
		&a.Status)
	a.Connection = Connection(state)
	return err
}

func (s *Service) list(
	ctx context.Context, call operation.Call, in ListInput,
) (operation.Response[SocialAccountList], error) {
	out := operation.Response[SocialAccountList]{App: "/accounts"}
	where, args := []string{"team_id = ?", "disconnected_at = 0"}, []any{call.TeamID}
	if in.Platform != "" {
		where, args = append(where, "platform = ?"), append(args, in.Platform)
	}
	if in.ActiveOnly {
		where, args = append(where, "connection_state <> ?"), append(args, string(Lost))
	}
	if in.Cursor != nil {
		position, err := call.Position(*in.Cursor)
		if err != nil {
			return out, err
		}
		before, err := strconv.ParseInt(position, 10, 64)
		if err != nil {
			return out, apierr.Invalid(apierr.InvalidCursor, "cursor", "The cursor does not belong to this list.")
		}
		where, args = append(where, "id < ?"), append(args, before)
	}
	accounts, err := db.All(ctx, s.db, scan, `SELECT `+columns+` FROM social_accounts WHERE `+
		strings.Join(where, " AND ")+` ORDER BY id DESC LIMIT ?`, append(args, in.Limit+1)...)
	if err != nil {
		return out, fmt.Errorf("listing accounts: %w", err)
	}
	if len(accounts) > in.Limit {
		accounts = accounts[:in.Limit]
		out.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(strconv.FormatInt(accounts[in.Limit-1].ID, 10))}
	}
	var quotes operation.UntrustedTexts
	out.Data.SocialAccounts = make([]SocialAccount, len(accounts))
	for i, a := range accounts {
		out.Data.SocialAccounts[i] = newSocialAccount(a, &quotes)
	}
	out.Untrusted = quotes
	return out, nil
}

func newSocialAccount(a Account, quotes *operation.UntrustedTexts) SocialAccount {
	out := SocialAccount{ID: a.ID, Platform: a.Platform, Username: a.Username, Active: a.Active(),
		ConnectionState: a.Connection, ConnectionProbe: a.Probe, AccountStatus: a.Status}
	if a.DisplayName != a.Username {
		out.DisplayName = quotes.Add(a.DisplayName, operation.Source{Kind: "display_name", Platform: a.Platform,
			Account: a.Username})
	}
	return out
}

// ByID returns a team's connected accounts by ID. It omits unknown IDs.
func (s *Service) ByID(ctx context.Context, q db.Querier, team int64, ids []int64) (map[int64]Account, error) {
	accounts, err := db.All(ctx, q, scan, `SELECT `+columns+` FROM social_accounts WHERE team_id = ?
		AND disconnected_at = 0 AND id IN (`+db.Placeholders(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading accounts: %w", err)
	}
	out := map[int64]Account{}
	for _, a := range accounts {
		out[a.ID] = a
	}
	return out, nil
}

// FindFirst returns the ID of the team's oldest account on a network. It reports false if there is none.
func (s *Service) FindFirst(ctx context.Context, team int64, platform string) (int64, bool) {
	var id int64
	err := s.db.QueryRow(ctx, `SELECT id FROM social_accounts WHERE team_id = ? AND platform = ?
		AND disconnected_at = 0 ORDER BY id LIMIT 1`, team, platform).Scan(&id)
	return id, err == nil
}

// Find returns the ID of a team's account with a username. It reports false if there is none.
func (s *Service) Find(ctx context.Context, team int64, platform, username string) (int64, bool) {
	var id int64
	err := s.db.QueryRow(ctx, `SELECT id FROM social_accounts WHERE team_id = ? AND platform = ? AND username = ?
		AND disconnected_at = 0`, team, platform, username).Scan(&id)
	return id, err == nil
}
