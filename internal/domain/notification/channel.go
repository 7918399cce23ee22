package notification

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// ChannelService is a kind of service that notifications can be sent to.
type ChannelService string

// The channel services.
const (
	Slack   ChannelService = "slack"
	Discord ChannelService = "discord"
	Teams   ChannelService = "teams"
	Ntfy    ChannelService = "ntfy"
	Webhook ChannelService = "webhook"
)

// ChannelServices lists all services, in the order of the operator's page.
var ChannelServices = []ChannelService{Slack, Discord, Teams, Ntfy, Webhook}

const (
	maxChannels          = 100
	maxChannelNameLength = 100
	signingPrefix        = "whsec_" // prefix of secrets that sign webhooks (standardwebhooks.com)
)

// Channel is a chat channel or a webhook that the operator sends notifications to.
type Channel struct {
	ID        int64          `json:"id"`
	Team      int64          `json:"team_id,omitempty"` // 0 for all teams
	Service   ChannelService `json:"service"`
	Name      string         `json:"name"`
	Host      string         `json:"host"`
	Kinds     []Kind         `json:"kinds,omitempty"` // empty for all
	CreatedAt time.Time      `json:"created_at"`
	SentAt    time.Time      `json:"sent_at,omitzero"`
	FailedAt  time.Time      `json:"failed_at,omitzero"` // zero unless the last attempt failed
	Error     ChannelFailure `json:"error,omitempty"`
	// SigningSecret is set only for a new webhook.
	SigningSecret string `json:"signing_secret,omitempty"`
}

// NewChannel describes a channel to add.
type NewChannel struct {
	Team    int64
	Service ChannelService
	Name    string
	URL     string // the secret address that the service gave the operator
	Token   string // the access token of an ntfy topic, if it needs one
	Kinds   []Kind
}

// ChannelChange describes a change to a channel. If URL is empty, the address is kept. If URL and Token are empty, the
// token is kept too.
type ChannelChange struct {
	Team  int64
	Name  string
	URL   string
	Token string
	Kinds []Kind
}

// channelAddress is the address of a channel. It is stored encrypted, because anybody who knows it can send messages to
// the channel.
type channelAddress struct {
	URL    string `json:"url"`
	Secret string `json:"secret,omitempty"`
}

// channelAssociatedData returns the encryption context of a channel's address, which binds the ciphertext to the
// channel.
func channelAssociatedData(id int64) string { return fmt.Sprintf("notice_channel %d", id) }

var channelAddresses = tokencrypt.Column{Table: "notice_channels", Name: "sealed", RowColumn: "id", Owner: "id",
	AssociatedData: channelAssociatedData}

var errChannelSealing = errors.New("PRESSROOM_SEALING_KEY (--sealing-key) lacks a key that encrypted addresses of " +
	"notification channels; append the missing key after a comma, and remove it once pressroom admin reseal prints 0 " +
	"as left")

// CheckSealing returns an error if the configured keys cannot decrypt the addresses of all channels.
func (s *Service) CheckSealing(ctx context.Context) error {
	known, err := channelAddresses.KnowsAll(ctx, s.db, s.Sealer)
	if err == nil && !known {
		err = errChannelSealing
	}
	return err
}

// Reseal encrypts the addresses of all channels with the first key. It returns how many it encrypted again, and how
// many still use another key.
func (s *Service) Reseal(ctx context.Context) (int, int, error) {
	resealed, err := channelAddresses.Reseal(ctx, s.db, s.Sealer)
	if err != nil {
		return resealed, 0, err
	}
	left, err := channelAddresses.CountOutdated(ctx, s.db, s.Sealer)
	return resealed, left, err
}

// AddChannel adds a channel.
func (s *Service) AddChannel(ctx context.Context, n NewChannel) (Channel, error) {
	c, address, err := s.checkNew(n)
	if err != nil {
		return Channel{}, err
	}
	err = s.db.InTx(ctx, "notice_channel.add", func(ctx context.Context, tx *db.Tx) error {
		if err := checkNewChannel(ctx, tx, n.Team); err != nil {
			return err
		}
		c.CreatedAt = tx.Now().UTC()
		if err := tx.QueryRow(ctx, `INSERT INTO notice_channels (team_id, service, name, host, kinds, sealed, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`, c.Team, string(c.Service), c.Name, c.Host, joinKinds(c.Kinds), []byte{},
			db.Micros(c.CreatedAt)).Scan(&c.ID); err != nil {
			return fmt.Errorf("adding a notice channel: %w", err)
		}
		sealed, err := s.sealAddress(c.ID, address)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE notice_channels SET sealed = ? WHERE id = ?`, sealed, c.ID); err != nil {
			return fmt.Errorf("storing the address of a notice channel: %w", err)
		}
		return auditlog.Record(ctx, tx, c.Team, auditlog.Actor{}, "notice_channel.added", fmt.Sprint(c.ID),
			map[string]any{"service": string(c.Service)})
	})
	return c, err
}

// checkNew validates a new channel and returns it with its address. It creates the signing secret of a webhook.
func (s *Service) checkNew(n NewChannel) (Channel, channelAddress, error) {
	c := Channel{Team: n.Team, Service: n.Service, Name: strings.TrimSpace(n.Name), Kinds: n.Kinds}
	address := channelAddress{URL: strings.TrimSpace(n.URL), Secret: strings.TrimSpace(n.Token)}
	if err := c.check(address.Secret); err != nil {
		return Channel{}, channelAddress{}, err
	}
	var err error
	if c.Host, err = s.checkAddress(c.Service, address.URL); err != nil {
		return Channel{}, channelAddress{}, err
	}
	if n.Service == Webhook {
		key := make([]byte, 32)
		_, _ = rand.Read(key) // Read never returns an error
		address.Secret = signingPrefix + base64.StdEncoding.EncodeToString(key)
		c.SigningSecret = address.Secret
	}
	return c, address, nil
}

// check returns an error if a field of a channel or an entered token is invalid.
func (c Channel) check(token string) error {
	switch {
	case !slices.Contains(ChannelServices, c.Service):
		return apierr.OperatorError("choose slack, discord, teams, ntfy or webhook")
	case c.Name == "" || utf8.RuneCountInString(c.Name) > maxChannelNameLength || strings.ContainsAny(c.Name, "\r\n"):
		return apierr.OperatorError("enter a name of 1 to 100 characters")
	case token != "" && c.Service != Ntfy:
		return apierr.OperatorError("only ntfy has an access token")
	}
	for _, kind := range c.Kinds {
		if !slices.ContainsFunc(Kinds, func(k KindInfo) bool { return k.Kind == kind }) {
			return apierr.OperatorError("choose kinds of notifications from the list")
		}
	}
	return nil
}

// checkAddress returns the host of an address. It returns an error if the address is not allowed or is not an address
// of the service.
func (s *Service) checkAddress(service ChannelService, address string) (string, error) {
	if err := s.Client.Check(address); err != nil {
		return "", apierr.OperatorError("enter the https address that the service gave you, on a public host or one in " +
			"--notification-allow")
	}
	u, err := url.Parse(address)
	if err != nil || service == Ntfy && strings.Trim(u.Path, "/") == "" {
		return "", apierr.OperatorError("enter the address with the topic, such as https://ntfy.sh/my-topic")
	}
	return u.Host, nil
}

// checkNewChannel returns an error if there are too many channels or the team does not exist.
func checkNewChannel(ctx context.Context, tx *db.Tx, team int64) error {
	var channels, teams int64
	if err := tx.QueryRow(ctx, `SELECT (SELECT COUNT(*) FROM notice_channels), (SELECT COUNT(*) FROM teams WHERE id = ?)`,
		team).Scan(&channels, &teams); err != nil {
		return fmt.Errorf("counting notice channels: %w", err)
	}
	switch {
	case channels >= maxChannels:
		return apierr.OperatorError("there are already 100 channels; remove one first")
	case team != 0 && teams == 0:
		return errNoTeam
	}
	return nil
}

var (
	errNoTeam    = apierr.OperatorError("team not found")
	errNoChannel = apierr.OperatorError("channel not found")
)

// ChangeChannel changes a channel. Pending notifications of teams that the channel no longer covers are not sent.
func (s *Service) ChangeChannel(ctx context.Context, id int64, change ChannelChange) error {
	return s.db.InTx(ctx, "notice_channel.change", func(ctx context.Context, tx *db.Tx) error {
		var service ChannelService
		var sealed []byte
		var oldTeam, teams int64
		err := tx.QueryRow(ctx, `SELECT team_id, service, sealed, (SELECT COUNT(*) FROM teams WHERE id = ?) FROM notice_channels
			WHERE id = ?`+s.db.ForUpdate(), change.Team, id).Scan(&oldTeam, &service, &sealed, &teams)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return errNoChannel
		case err != nil:
			return fmt.Errorf("finding a notice channel: %w", err)
		case change.Team != 0 && teams == 0:
			return errNoTeam
		}
		c := Channel{Team: change.Team, Service: service, Name: strings.TrimSpace(change.Name), Kinds: change.Kinds}
		if err := c.check(strings.TrimSpace(change.Token)); err != nil {
			return err
		}
		addressChanged, err := s.changeAddress(ctx, tx, id, service, sealed, change)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE notice_channels SET team_id = ?, name = ?, kinds = ? WHERE id = ?`, c.Team, c.Name,
			joinKinds(c.Kinds), id); err != nil {
			return fmt.Errorf("changing a notice channel: %w", err)
		}
		return recordChannelChange(ctx, tx, id, oldTeam, c, addressChanged)
	})
}

// recordChannelChange records a change in the audit log of the channel's team. If the channel was moved to another
// team, it also records the change in the former team's audit log.
func recordChannelChange(ctx context.Context, tx *db.Tx, id, oldTeam int64, c Channel, addressChanged bool) error {
	detail := map[string]any{"service": string(c.Service)}
	if addressChanged {
		detail["address"] = true // the address has changed
	}
	teams := []int64{c.Team}
	if oldTeam != c.Team {
		detail["moved"] = true // the channel was moved to another team, or to all teams
		teams = append(teams, oldTeam)
	}
	for _, team := range teams {
		if err := auditlog.Record(ctx, tx, team, auditlog.Actor{}, "notice_channel.changed", fmt.Sprint(id), detail); err != nil {
			return err
		}
	}
	return nil
}

// changeAddress stores a new address or token, and reports whether there is one. If so, it also ends the delay after
// failed attempts.
func (s *Service) changeAddress(
	ctx context.Context, tx *db.Tx, id int64, service ChannelService, sealed []byte, change ChannelChange,
) (bool, error) {
	target, token := strings.TrimSpace(change.URL), strings.TrimSpace(change.Token)
	if target == "" && token == "" {
		return false, nil
	}
	address, err := s.openAddress(id, sealed)
	if err != nil {
		return false, err
	}
	if target != "" {
		address.URL = target
	}
	if service == Ntfy {
		address.Secret = token // a new address does not get the token of the old one
	}
	host, err := s.checkAddress(service, address.URL)
	if err != nil {
		return false, err
	}
	if sealed, err = s.sealAddress(id, address); err != nil {
		return false, err
	}
	if _, err := tx.Exec(ctx, `UPDATE notice_channels SET host = ?, sealed = ?, next_at = 0, failures = 0, failed_at = 0, error = ''
		WHERE id = ?`, host, sealed, id); err != nil {
		return false, fmt.Errorf("storing the address of a notice channel: %w", err)
	}
	return true, nil
}

// ShowSigningSecret returns the secret that signs a webhook's messages, and records this in the audit log.
func (s *Service) ShowSigningSecret(ctx context.Context, id int64) (string, error) {
	var address channelAddress
	err := s.db.InTx(ctx, "notice_channel.show_secret", func(ctx context.Context, tx *db.Tx) error {
		var team int64
		var sealed []byte
		err := tx.QueryRow(ctx, `SELECT team_id, sealed FROM notice_channels WHERE id = ? AND service = ?`, id, string(Webhook)).
			Scan(&team, &sealed)
		if errors.Is(err, sql.ErrNoRows) {
			return errNoChannel
		}
		if err != nil {
			return fmt.Errorf("reading a notice channel: %w", err)
		}
		if address, err = s.openAddress(id, sealed); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "notice_channel.secret_shown", fmt.Sprint(id), map[string]any{})
	})
	return address.Secret, err
}

func (s *Service) sealAddress(id int64, address channelAddress) ([]byte, error) {
	raw, err := json.Marshal(address) //nolint:gosec // encrypted below
	if err != nil {
		return nil, fmt.Errorf("encoding the address of a notice channel: %w", err)
	}
	sealed, err := s.Sealer.Seal(raw, channelAssociatedData(id))
	if err != nil {
		return nil, fmt.Errorf("sealing the address of a notice channel: %w", err)
	}
	return sealed, nil
}

func (s *Service) openAddress(id int64, sealed []byte) (channelAddress, error) {
	var address channelAddress
	raw, err := s.Sealer.Open(sealed, channelAssociatedData(id))
	if err != nil {
		return address, fmt.Errorf("opening the address of notice channel %d: %w", id, err)
	}
	if err := json.Unmarshal(raw, &address); err != nil {
		return address, fmt.Errorf("reading the address of notice channel %d: %w", id, err)
	}
	return address, nil
}

// Channels returns all channels, without their secrets.
func (s *Service) Channels(ctx context.Context) ([]Channel, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, c *Channel) error {
		var kinds string
		var createdAt, sentAt, failedAt int64
		err := rows.Scan(&c.ID, &c.Team, &c.Service, &c.Name, &c.Host, &kinds, &createdAt, &sentAt, &failedAt, &c.Error)
		c.Kinds, c.CreatedAt = splitKinds(kinds), db.Time(createdAt).UTC()
		if sentAt > 0 {
			c.SentAt = db.Time(sentAt).UTC()
		}
		if failedAt > 0 {
			c.FailedAt = db.Time(failedAt).UTC()
		}
		return err
	}, `SELECT id, team_id, service, name, host, kinds, created_at, sent_at, failed_at, error FROM notice_channels ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("reading notice channels: %w", err)
	}
	return out, nil
}

// RemoveChannel removes a channel and its pending notifications.
func (s *Service) RemoveChannel(ctx context.Context, id int64) error {
	return s.db.InTx(ctx, "notice_channel.remove", func(ctx context.Context, tx *db.Tx) error {
		var team int64
		err := tx.QueryRow(ctx, `SELECT team_id FROM notice_channels WHERE id = ?`, id).Scan(&team)
		if errors.Is(err, sql.ErrNoRows) {
			return errNoChannel
		}
		if err != nil {
			return fmt.Errorf("finding a notice channel: %w", err)
		}
		// This deletes the channel's notifications too. Deleting them first could deadlock with a node that sends them.
		if _, err := tx.Exec(ctx, `DELETE FROM notice_channels WHERE id = ?`, id); err != nil {
			return fmt.Errorf("removing a notice channel: %w", err)
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, "notice_channel.removed", fmt.Sprint(id), map[string]any{})
	})
}
