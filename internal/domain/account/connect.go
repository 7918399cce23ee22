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
	"strings"
	"time"
	"unicode"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/plan"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// ConnectPath is where people connect accounts, below the public address.
const ConnectPath = "/connect/"

// linkLifetime is how long a link can be opened.
const linkLifetime = time.Hour

// Connector lets people connect accounts in the browser: by a link that a program asks for, which only its page uses.
type Connector struct {
	ConnectorOptions

	links tokencrypt.Signer
}

// ConnectorOptions say what a connector stands on.
type ConnectorOptions struct {
	Accounts    *Service
	Terms       plan.Terms
	PublicURL   string                     // the service's address, without a slash at its end
	CheckServer func(address string) error // says which servers people may name; nil allows every one
}

// NewConnector makes a connector.
func NewConnector(opts ConnectorOptions) *Connector {
	return &Connector{opts, opts.Accounts.seal.Signer("connect links")}
}

// link is what a link says.
type link struct {
	team     int64
	account  int64 // the one to connect again; 0 for a new one
	person   int64 // who asked for it
	inApp    bool  // and did so in the app, not by a key
	ends     time.Time
	platform string
}

const (
	linkByKey      = 1       // the version of links that a key asked for
	linkInApp      = 2       // and of those that somebody asked for in the app
	linkHeadLength = 1 + 8*5 // version, team, account, person, end in seconds, nonce
	linkSum        = sha256.Size
	maxLinkLength  = 200 // characters
)

var linkEncoding = base64.RawURLEncoding.Strict()

// token writes a link. No two are the same, so that each can be used once.
func (c *Connector) token(l link) string {
	body := []byte{linkByKey}
	if l.inApp {
		body[0] = linkInApp
	}
	for _, n := range []int64{l.team, l.account, l.person, l.ends.Unix()} {
		body = binary.BigEndian.AppendUint64(body, uint64(n)) //nolint:gosec // ids are positive, and it ends after 1970
	}
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	body = append(append(body, nonce[:]...), l.platform...)
	return linkEncoding.EncodeToString(append(body, c.links.Sign(body)...))
}

// parse reads a link that token wrote; anything else is not_found. Whether it has ended is not asked.
func (c *Connector) parse(token string) (link, error) {
	if len(token) > maxLinkLength {
		return link{}, apierr.Missing()
	}
	raw, err := linkEncoding.DecodeString(token)
	if err != nil || len(raw) < linkHeadLength+linkSum || raw[0] != linkByKey && raw[0] != linkInApp {
		return link{}, apierr.Missing()
	}
	body, sum := raw[:len(raw)-linkSum], raw[len(raw)-linkSum:]
	if !c.links.Signed(body, sum) {
		return link{}, apierr.Missing()
	}
	number := func(i int) int64 { return int64(binary.BigEndian.Uint64(body[1+8*i:])) } //nolint:gosec // signed, so as it was written
	return link{number(0), number(1), number(2), body[0] == linkInApp, time.Unix(number(3), 0), string(body[linkHeadLength:])}, nil
}

// Offer is what the page of a link shows.
type Offer struct {
	Platform string
	TeamName string
	Asker    string // who asked for the link
	ByKey    bool   // by a program with a key of theirs, not in the app
	Own      bool   // it was the person who looks at it
	Again    string // user name of the account that is to be connected again; empty for a new one
	Full     bool   // the plan has no place for one more
	Ways     []Way  // of signing in on the network's own pages; none where the person signs in on ours
}

// Way is one of a network's ways of signing in.
type Way struct {
	Kind   string // the network's name for it
	Origin string // of the page on which the network asks
}

var (
	errLinkEnded = apierr.BadState("ended", "This link has ended. Ask for a new one.")
	errLinkUsed  = apierr.BadState("used", "This link has connected an account already. Ask for a new one.")
	errPlanFull  = apierr.New(apierr.PlanLimitReached, "The team’s plan has no room for another account.").With("limit", "social_accounts")
)

// Offer says what a link is for. It is not_found for whoever is neither owner nor admin of its team, and wrong_state
// once it has ended or was used.
func (c *Connector) Offer(ctx context.Context, person int64, token string) (Offer, error) {
	_, out, err := c.open(ctx, person, token)
	return out, err
}

// open reads a link that a person may use now, and what it is for.
func (c *Connector) open(ctx context.Context, person int64, token string) (link, Offer, error) {
	l, err := c.parse(token)
	if err != nil {
		return l, Offer{}, err
	}
	offer, err := c.readOffer(ctx, c.Accounts.db, person, token, l)
	if err == nil && !c.Accounts.db.Now().Before(l.ends) {
		err = errLinkEnded
	}
	return l, offer, err
}

func (c *Connector) readOffer(ctx context.Context, q db.Querier, person int64, token string, l link) (Offer, error) {
	out := Offer{Platform: l.platform, ByKey: !l.inApp, Own: l.person == person}
	var plan string
	var until int64
	err := q.QueryRow(ctx, `SELECT t.name, t.plan, t.plan_until, asker.name FROM teams t
		JOIN memberships m ON m.team_id = t.id AND m.person_id = ? AND m.role IN ('owner', 'admin')
		JOIN people p ON p.id = m.person_id AND p.held_at = 0
		JOIN memberships k ON k.team_id = t.id AND k.person_id = ? JOIN people asker ON asker.id = k.person_id
		WHERE t.id = ? AND t.closed_at = 0`, person, l.person, l.team).Scan(&out.TeamName, &plan, &until, &out.Asker)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.Missing()
	}
	if err != nil {
		return out, fmt.Errorf("reading whom a link is for: %w", err)
	}
	if err := c.checkUnused(ctx, q, token); err != nil {
		return out, err
	}
	if out.Ways, err = c.ways(l); err != nil {
		return out, apierr.Missing()
	}
	if l.account != 0 {
		a, err := readAccount(ctx, q, l.team, l.account)
		out.Again = a.Username
		return out, err
	}
	left, err := slotsLeft(ctx, q, l.team, c.Terms.Holding(plan, db.Time(until), c.Accounts.db.Now()))
	out.Full = left == 0
	return out, err
}

func (c *Connector) checkUnused(ctx context.Context, q db.Querier, token string) error {
	var n int
	hash := sha256.Sum256([]byte(token))
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM connect_links WHERE token_hash = ?`, hash[:]).Scan(&n); err != nil {
		return fmt.Errorf("looking whether a link was used: %w", err)
	}
	if n > 0 {
		return errLinkUsed
	}
	return nil
}

// platformTikTokBusiness is the platform that stands for one way of connecting to TikTok.
const platformTikTokBusiness = "tiktok_business"

// network is the network that a link leads to.
func (l link) network() string {
	if l.platform == platformTikTokBusiness {
		return "tiktok"
	}
	return l.platform
}

// offers tells whether a link for that platform offers a way of signing in. An account that is connected again may have
// been connected by any.
func (l link) offers(kind string) bool {
	return l.network() != "tiktok" || l.account != 0 || (kind == "business") == (l.platform == platformTikTokBusiness)
}

// ways are those by which an account of a link is connected; none where its network asks for credentials instead.
func (c *Connector) ways(l link) ([]Way, error) {
	n, err := c.Accounts.Network(l.network())
	if err != nil {
		return nil, err
	}
	a, ok := n.(network.Authorizer)
	if !ok {
		return nil, nil
	}
	var out []Way
	for _, kind := range a.Kinds() {
		if l.offers(kind) {
			out = append(out, Way{kind, origin(a.Authorize(network.Authorization{Kind: kind, Redirect: c.redirect(l.network())}))})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %q", ErrNoNetwork, l.platform)
	}
	return out, nil
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// readAccount reads an account of a team; another team's is not_found.
func readAccount(ctx context.Context, q db.Querier, team, id int64) (Account, error) {
	found, err := db.All(ctx, q, scan, `SELECT `+columns+` FROM social_accounts WHERE team_id = ? AND id = ? AND disconnected_at = 0`, team, id)
	if err != nil {
		return Account{}, fmt.Errorf("reading an account: %w", err)
	}
	if len(found) == 0 {
		return Account{}, apierr.Missing()
	}
	return found[0], nil
}

// slotsLeft is how many accounts a plan still allows a team, plan.Unlimited for any number. Accounts whose connection is
// lost keep their place: they can come back at any time.
func slotsLeft(ctx context.Context, q db.Querier, team int64, p plan.Plan) (int64, error) {
	if p.SocialAccounts == plan.Unlimited {
		return plan.Unlimited, nil
	}
	var n int64
	if err := q.QueryRow(ctx, `SELECT COUNT(*) FROM social_accounts WHERE team_id = ? AND disconnected_at = 0`, team).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting a team's accounts: %w", err)
	}
	return max(0, p.SocialAccounts-n), nil
}

// SignIn connects an account of a network on whose behalf we ask for credentials ourselves. They are not kept.
func (c *Connector) SignIn(ctx context.Context, person int64, token string, given network.Credentials) (Account, error) {
	l, offer, err := c.open(ctx, person, token)
	if err != nil {
		return Account{}, err
	}
	if len(offer.Ways) > 0 {
		return Account{}, apierr.Missing()
	}
	n, err := c.Accounts.Network(l.network())
	if err != nil {
		return Account{}, err
	}
	if given.Server == "" || given.Identifier == "" || given.Password == "" {
		return Account{}, apierr.Invalid(apierr.MissingArgument, "", "Fill in the server, the handle and the app password.")
	}
	if c.CheckServer != nil && c.CheckServer(given.Server) != nil {
		return Account{}, apierr.Invalid(apierr.NotAllowedValue, "server", "Accounts of this server cannot be connected on this page. The operator can allow it.")
	}
	grant, err := n.Connect(ctx, given)
	if err != nil {
		return Account{}, userError(err, "The server did not accept this handle with this app password.")
	}
	var a Account
	err = c.Accounts.db.InTx(ctx, "social.connect", func(ctx context.Context, tx *db.Tx) error {
		a, err = c.connectChosen(ctx, tx, person, token, network.Candidate{Grant: grant})
		return err
	})
	return a, err
}

// userError says what can be done about a network's error. What the network said is not repeated.
func userError(err error, refused string) error {
	failed, ok := errors.AsType[*network.Error](err)
	switch {
	case !ok:
		return fmt.Errorf("connecting an account: %w", err)
	case slices.Contains([]network.Class{network.AuthDead, network.AuthRefresh, network.Rejected}, failed.Class):
		return apierr.Invalid(apierr.NotAllowedValue, "", refused).Wrap(err)
	case failed.Class == network.Barred:
		return apierr.New(apierr.ProviderUnavailable, "The account’s server is one that this service does not call. Tell whoever runs it.").Wrap(err)
	case failed.Class == network.Unapproved:
		return apierr.New(apierr.ProviderUnavailable, "The network has not approved this service for that. Tell whoever runs it.").Wrap(err)
	}
	return apierr.New(apierr.ProviderUnavailable, "The network cannot be asked right now. Try again in a few minutes.").Wrap(err)
}

// connectChosen connects what a person confirmed, all of it or nothing, and uses the link up. It holds the team's row, so that
// two cannot both take the plan's last place.
func (c *Connector) connectChosen(ctx context.Context, tx *db.Tx, person int64, token string, chosen network.Candidate) (Account, error) {
	l, err := c.parse(token)
	if err != nil {
		return Account{}, err
	}
	var team int64
	err = tx.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`+c.Accounts.db.ForUpdate(), l.team).Scan(&team)
	if err != nil {
		return Account{}, fmt.Errorf("holding the team: %w", err)
	}
	offer, err := c.readOffer(ctx, tx, person, token, l)
	if err != nil {
		return Account{}, err
	}
	a := Account{TeamID: l.team, Platform: l.network(), NetworkID: chosen.Grant.Account}
	a.Username = cmp.Or(sanitizeHandle(chosen.Grant.Username), a.NetworkID)
	a.DisplayName = cmp.Or(sanitizeName(chosen.DisplayName), a.Username)
	if err := checkFits(ctx, tx, l, offer, a); err != nil {
		return Account{}, err
	}
	if a, err = c.Accounts.storeAccount(ctx, tx, a, chosen.Grant, auditlog.Actor{PersonID: person}); err != nil {
		return a, err
	}
	hash := sha256.Sum256([]byte(token))
	_, err = tx.Exec(ctx, `INSERT INTO connect_links (token_hash, account_id, expires_at) VALUES (?, ?, ?)`, hash[:], a.ID, db.Micros(l.ends.Add(attemptLifetime+choiceLifetime)))
	if err != nil {
		return a, fmt.Errorf("using a link up: %w", err)
	}
	return a, nil
}

var (
	errOtherAccount = apierr.BadState("another_account", "This is another account than the one to be connected again. Nothing was changed. Sign in at the network with the right one, then try again.")
	errNoAccount    = apierr.BadState("no_account", "There is no account that can be connected.")
)

// checkFits refuses another account than the one that is to come back, and a new one beyond the plan's number.
func checkFits(ctx context.Context, tx *db.Tx, l link, offer Offer, a Account) error {
	if a.NetworkID == "" || sanitizeName(a.NetworkID) != a.NetworkID {
		return errNoAccount
	}
	var known int64
	err := tx.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM social_accounts WHERE team_id = ? AND platform = ? AND network_id = ? AND disconnected_at = 0`, l.team, a.Platform, a.NetworkID).Scan(&known)
	switch {
	case err != nil:
		return fmt.Errorf("looking for an account: %w", err)
	case l.account != 0 && known != l.account:
		return errOtherAccount
	case known == 0 && offer.Full:
		return errPlanFull
	}
	return nil
}

const maxHandle = 100 // characters

// sanitizeHandle makes a user name one word, as it stands among the data of answers: some networks have none, and tell how an
// account calls itself instead.
func sanitizeHandle(name string) string {
	word := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("._-/", r) {
			return r
		}
		return ' '
	}, sanitizeName(name))
	runes := []rune(strings.Join(strings.Fields(word), "_"))
	return string(runes[:min(len(runes), maxHandle)])
}

const maxName = 200 // characters, and of an id too

// sanitizeName makes a name that a network told one line of text.
func sanitizeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	if runes := []rune(name); len(runes) > maxName {
		name = string(runes[:maxName])
	}
	return strings.TrimSpace(name)
}
