package account

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// ConnectPath is the path of the pages that connect accounts. The token of a link follows it.
const ConnectPath = "/connect/"

// linkLifetime is how long a link can be opened.
const linkLifetime = time.Hour

// Connector connects accounts. A person opens a signed link in the browser, and then authorizes pressroom on the
// network.
type Connector struct {
	ConnectorOptions

	links tokencrypt.Signer
}

// ConnectorOptions are the dependencies of a Connector.
type ConnectorOptions struct {
	Accounts    *Service
	Catalog     plan.Catalog
	PublicURL   string                     // public URL of the installation, without a trailing slash
	CheckServer func(address string) error // returns an error for a server that is not allowed; nil allows all
}

// NewConnector returns a connector.
func NewConnector(opts ConnectorOptions) *Connector {
	return &Connector{opts, opts.Accounts.seal.Signer("connect links")}
}

// link is the decoded content of a link.
type link struct {
	teamID    int64
	accountID int64 // account to reconnect; 0 for a new account
	personID  int64 // person who requested the link
	inApp     bool  // requested in the app, not with an API key
	expiresAt time.Time
	platform  string
}

const (
	linkByKey      = 1       // version byte of links that were requested with an API key
	linkInApp      = 2       // version byte of links that were requested in the app
	linkHeadLength = 1 + 8*5 // version, team, account, person, end in seconds, nonce
	linkSumLength  = sha256.Size
	maxLinkLength  = 200 // characters
)

var linkEncoding = base64.RawURLEncoding.Strict()

// newToken returns a new token for a link. Each token is unique, so that it can be used only once.
func (c *Connector) newToken(l link) string {
	body := []byte{linkByKey}
	if l.inApp {
		body[0] = linkInApp
	}
	for _, n := range []int64{l.teamID, l.accountID, l.personID, l.expiresAt.Unix()} {
		body = binary.BigEndian.AppendUint64(body, uint64(n)) //nolint:gosec // IDs and times are positive.
	}
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // It never returns an error.
	body = append(append(body, nonce[:]...), l.platform...)
	return linkEncoding.EncodeToString(append(body, c.links.Sign(body)...))
}

// parseToken decodes and verifies a token. It returns not_found for an invalid token. It does not check the expiry.
func (c *Connector) parseToken(token string) (link, error) {
	if len(token) > maxLinkLength {
		return link{}, apierr.ItemNotFound()
	}
	raw, err := linkEncoding.DecodeString(token)
	if err != nil || len(raw) < linkHeadLength+linkSumLength || raw[0] != linkByKey && raw[0] != linkInApp {
		return link{}, apierr.ItemNotFound()
	}
	body, sum := raw[:len(raw)-linkSumLength], raw[len(raw)-linkSumLength:]
	if !c.links.Verify(body, sum) {
		return link{}, apierr.ItemNotFound()
	}
	readInt64 := func(i int) int64 { return int64(binary.BigEndian.Uint64(body[1+8*i:])) } //nolint:gosec // encoded from an int64
	return link{readInt64(0), readInt64(1), readInt64(2), body[0] == linkInApp, time.Unix(readInt64(3), 0),
		string(body[linkHeadLength:])}, nil
}

// Offer holds the information that the page of a link shows.
type Offer struct {
	Platform          string
	TeamName          string
	RequestedBy       string         // name of the person who requested the link
	ByKey             bool           // whether the link was requested with an API key
	IsOwn             bool           // whether the person who opens the link requested it
	ReconnectUsername string         // username of the account to reconnect; empty for a new account
	IsPlanFull        bool           // whether the plan allows no more accounts
	Methods           []SignInMethod // sign-in methods of the network; empty if the person enters credentials in the app
}

// SignInMethod is a sign-in method of a network.
type SignInMethod struct {
	Kind   string // identifies the method for the network
	Origin string // origin of the network's consent page
}

var (
	errLinkExpired = apierr.BadState("ended", "This link has expired. Request a new one.")
	errLinkUsed    = apierr.BadState("used", "This link has already been used. Request a new one.")
	errPlanFull    = apierr.New(apierr.PlanLimitReached, "The team’s plan allows no more accounts.").With("limit",
		"social_accounts")
)

// Offer returns the information that the page of a link shows. It returns not_found unless the person is an owner or
// admin of the link's team, and wrong_state if the link has expired or was used.
func (c *Connector) Offer(ctx context.Context, person int64, token string) (Offer, error) {
	_, out, err := c.openOffer(ctx, person, token)
	return out, err
}

// openOffer returns the link of a token, and its offer. It returns the same errors as Offer.
func (c *Connector) openOffer(ctx context.Context, person int64, token string) (link, Offer, error) {
	l, err := c.parseToken(token)
	if err != nil {
		return l, Offer{}, err
	}
	offer, err := c.readOffer(ctx, c.Accounts.db, person, token, l)
	if err == nil && !c.Accounts.db.Now().Before(l.expiresAt) {
		err = errLinkExpired
	}
	return l, offer, err
}

func (c *Connector) readOffer(ctx context.Context, q db.Querier, person int64, token string, l link) (Offer, error) {
	out := Offer{Platform: l.platform, ByKey: !l.inApp, IsOwn: l.personID == person}
	var planID string
	var planUntil int64
	err := q.QueryRow(ctx, `SELECT t.name, t.plan, t.plan_until, asker.name FROM teams t
		JOIN memberships m ON m.team_id = t.id AND m.person_id = ? AND m.role IN ('owner', 'admin')
		JOIN people p ON p.id = m.person_id AND p.held_at = 0
		JOIN memberships k ON k.team_id = t.id AND k.person_id = ? JOIN people asker ON asker.id = k.person_id
		WHERE t.id = ? AND t.closed_at = 0`, person, l.personID, l.teamID).Scan(&out.TeamName, &planID, &planUntil, &out.RequestedBy)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.ItemNotFound()
	}
	if err != nil {
		return out, fmt.Errorf("reading the team of a link: %w", err)
	}
	if err := c.checkUnused(ctx, q, token); err != nil {
		return out, err
	}
	if out.Methods, err = c.signInMethods(l); err != nil {
		return out, apierr.ItemNotFound()
	}
	if l.accountID != 0 {
		a, err := readAccount(ctx, q, l.teamID, l.accountID)
		out.ReconnectUsername = a.Username
		return out, err
	}
	left, err := slotsLeft(ctx, q, l.teamID, c.Catalog.PlanInEffect(planID, db.Time(planUntil), c.Accounts.db.Now()))
	out.IsPlanFull = left == 0
	return out, err
}

func (c *Connector) checkUnused(ctx context.Context, q db.Querier, token string) error {
	var n int
	hash := sha256.Sum256([]byte(token))
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM connect_links WHERE token_hash = ?`, hash[:]).Scan(&n); err != nil {
		return fmt.Errorf("checking whether a link was used: %w", err)
	}
	if n > 0 {
		return errLinkUsed
	}
	return nil
}

// platformTikTokBusiness is the platform of links that connect TikTok business accounts.
const platformTikTokBusiness = "tiktok_business"

// network returns the platform of the account that the link connects. It differs from l.platform for TikTok business
// accounts.
func (l link) network() string {
	if l.platform == platformTikTokBusiness {
		return "tiktok"
	}
	return l.platform
}

// offersMethod reports whether a link offers a sign-in method. A link to reconnect an account offers all methods,
// because the account may have been connected with any of them.
func (l link) offersMethod(kind string) bool {
	return l.network() != "tiktok" || l.accountID != 0 || (kind == "business") == (l.platform == platformTikTokBusiness)
}

// signInMethods returns the sign-in methods of a link. There are none if the person enters credentials in the app.
func (c *Connector) signInMethods(l link) ([]SignInMethod, error) {
	n, err := c.Accounts.Network(l.network())
	if err != nil {
		return nil, err
	}
	a, ok := n.(network.Authorizer)
	if !ok {
		return nil, nil
	}
	var out []SignInMethod
	for _, kind := range a.Kinds() {
		if l.offersMethod(kind) {
			out = append(out, SignInMethod{kind, origin(a.Authorize(network.Authorization{Kind: kind,
				Redirect: c.redirectURL(l.network())}))})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoNetwork, l.platform)
	}
	return out, nil
}

// origin returns the scheme and host of a URL, or "" if the URL is invalid.
func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// readAccount returns one of a team's connected accounts. It returns not_found if there is no such account.
func readAccount(ctx context.Context, q db.Querier, team, id int64) (Account, error) {
	accounts, err := db.All(ctx, q, scan, `SELECT `+columns+` FROM social_accounts WHERE team_id = ? AND id = ?
		AND disconnected_at = 0`, team, id)
	if err != nil {
		return Account{}, fmt.Errorf("reading an account: %w", err)
	}
	if len(accounts) == 0 {
		return Account{}, apierr.ItemNotFound()
	}
	return accounts[0], nil
}

// SignIn connects an account with credentials that a person entered in the app. The credentials are not stored.
func (c *Connector) SignIn(ctx context.Context, person int64, token string,
	credentials network.Credentials) (Account, error) {
	l, offer, err := c.openOffer(ctx, person, token)
	if err != nil {
		return Account{}, err
	}
	if len(offer.Methods) > 0 {
		return Account{}, apierr.ItemNotFound()
	}
	n, err := c.Accounts.Network(l.network())
	if err != nil {
		return Account{}, err
	}
	if credentials.Server == "" || credentials.Identifier == "" || credentials.Password == "" {
		return Account{}, apierr.Invalid(apierr.MissingArgument, "",
			"Enter the server, the handle and the app password.")
	}
	if c.CheckServer != nil && c.CheckServer(credentials.Server) != nil {
		return Account{}, apierr.Invalid(apierr.NotAllowedValue, "server",
			"This server is not allowed. Ask the operator to allow it.")
	}
	grant, err := n.Connect(ctx, credentials)
	if err != nil {
		return Account{}, newUserError(err, "The server rejected this handle and app password.")
	}
	var a Account
	err = c.Accounts.db.InTx(ctx, "social.connect", func(ctx context.Context, tx *db.Tx) error {
		a, err = c.connectCandidate(ctx, tx, person, token, network.Candidate{Grant: grant})
		return err
	})
	return a, err
}

// newUserError returns an error that tells a person what to do. rejectedText is its text if the network rejected the
// sign-in. The error does not quote the network.
func newUserError(err error, rejectedText string) error {
	networkErr, ok := errors.AsType[*network.Error](err)
	permissionErr, isPermissionErr := errors.AsType[*network.MissingPermissionError](err)
	switch {
	case !ok:
		return fmt.Errorf("connecting an account: %w", err)
	case isPermissionErr:
		effect := locale.Key(permissionErr.Effect)
		if permissionErr.NextStep == "" {
			return apierr.Invalidf(apierr.NotAllowedValue, "", "%s The permission %s is missing. Connect again and allow it.", effect,
				permissionErr.Permission).Wrap(err)
		}
		return apierr.Invalidf(apierr.NotAllowedValue, "", "%s %s", effect, locale.Key(permissionErr.NextStep)).Wrap(err)
	case slices.Contains([]network.ErrorClass{network.ReconnectRequired, network.RefreshRequired, network.Rejected},
		networkErr.Class):
		return apierr.Invalid(apierr.NotAllowedValue, "", rejectedText).Wrap(err)
	case networkErr.Class == network.HostBlocked:
		return apierr.New(apierr.ProviderUnavailable,
			"This service does not allow the account’s server. Ask the operator to allow it.").Wrap(err)
	case networkErr.Class == network.AppNotApproved:
		return apierr.New(apierr.ProviderUnavailable,
			"The network has not approved this service for this action. Contact the operator.").Wrap(err)
	}
	return apierr.New(apierr.ProviderUnavailable, "The network is unavailable. Try again in a few minutes.").Wrap(err)
}

// connectCandidate connects the chosen account and marks the link as used. It locks the team's row, so that two links
// cannot both use the last slot of the plan.
func (c *Connector) connectCandidate(ctx context.Context, tx *db.Tx, person int64, token string,
	candidate network.Candidate) (Account, error) {
	l, err := c.parseToken(token)
	if err != nil {
		return Account{}, err
	}
	var team int64
	err = tx.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`+c.Accounts.db.ForUpdate(), l.teamID).Scan(&team)
	if err != nil {
		return Account{}, fmt.Errorf("locking the team: %w", err)
	}
	offer, err := c.readOffer(ctx, tx, person, token, l)
	if err != nil {
		return Account{}, err
	}
	a := Account{TeamID: l.teamID, Platform: l.network(), NetworkID: candidate.Grant.Account}
	a.Username = cmp.Or(sanitizeHandle(candidate.Grant.Username), a.NetworkID)
	a.DisplayName = cmp.Or(sanitizeName(candidate.DisplayName), a.Username)
	if a.Renewed, err = checkConnectable(ctx, tx, l, offer, a); err != nil {
		return Account{}, err
	}
	if a, err = c.Accounts.storeAccount(ctx, tx, a, candidate.Grant, auditlog.Actor{PersonID: person}); err != nil {
		return a, err
	}
	hash := sha256.Sum256([]byte(token))
	_, err = tx.Exec(ctx, `INSERT INTO connect_links (token_hash, account_id, expires_at) VALUES (?, ?, ?)`, hash[:],
		a.ID, db.Micros(l.expiresAt.Add(attemptLifetime+choiceLifetime)))
	if err != nil {
		return a, fmt.Errorf("marking a link as used: %w", err)
	}
	return a, nil
}

var (
	errOtherAccount = apierr.BadState("another_account",
		"This is not the account to reconnect, so nothing was changed. Sign in to the network with the right account and try "+
			"again.")
	errTooManyAccounts = apierr.BadState("too_many_accounts", "You have more accounts on the network than can be listed here. "+
		"Connect again, and give access only to the account that you want to connect.")
	errAccountsNotLoaded = apierr.BadState("accounts_unread", "Some of your accounts could not be loaded because the network had a "+
		"temporary error. Connect again in a few minutes.")
	errNoAccount = apierr.BadState("no_account", "No account can be connected.")
)

// checkConnectable reports whether the account is already connected to the team. It returns an error if the link is for
// reconnecting another account, or if a new account would exceed the plan's limit.
func checkConnectable(ctx context.Context, tx *db.Tx, l link, offer Offer, a Account) (bool, error) {
	if a.NetworkID == "" || sanitizeName(a.NetworkID) != a.NetworkID {
		return false, errNoAccount
	}
	var existingID int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM social_accounts WHERE team_id = ? AND platform = ?
		AND network_id = ? AND disconnected_at = 0`, l.teamID, a.Platform, a.NetworkID).Scan(&existingID)
	switch {
	case err != nil:
		return false, fmt.Errorf("reading an account: %w", err)
	case l.accountID != 0 && existingID != l.accountID:
		return false, errOtherAccount
	case existingID == 0 && offer.IsPlanFull:
		return false, errPlanFull
	}
	return existingID != 0, nil
}
