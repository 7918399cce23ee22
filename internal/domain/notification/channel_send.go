package notification

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/retryafter"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

const (
	channelDelay   = 5 * time.Second // so that the failures of a post on several accounts are sent as one message
	maxRetryAfter  = time.Hour
	channelSenders = 4 // number of channels that a node sends to concurrently
)

// channelDelays lists how long a channel waits after consecutive failed attempts. The last delay repeats.
var channelDelays = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour}

// notifyChannels stores the notification of an event for each channel that receives its kind, in the event's
// transaction. Failures of a post on several accounts share one notification until it is sent. It locks the channels,
// so that no notification is stored for a channel that is being removed.
func (s *Service) notifyChannels(ctx context.Context, tx *db.Tx, kind Kind, e db.Event, detail []byte) error {
	event := e.ID
	if e.Kind == "post.account_failed" || e.Kind == "post.account_unconfirmed" {
		event = 0
	}
	_, err := tx.Exec(ctx, `INSERT INTO channel_notices (channel_id, team_id, kind, subject, detail, created_at, send_at, event_id)
		SELECT c.id, CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT),
			CAST(? AS BIGINT)
		FROM notice_channels c WHERE c.team_id IN (0, ?) AND (c.kinds = '' OR c.kinds LIKE ?)`+s.db.ForKeyShare()+` ON CONFLICT DO NOTHING`,
		e.Team, string(kind), e.Subject, string(detail), db.Micros(tx.Now()), db.Micros(tx.Now().Add(channelDelay)), event, e.Team,
		"%,"+string(kind)+",%")
	if err != nil {
		return fmt.Errorf("notifying channels of %s: %w", e.Kind, err)
	}
	return nil
}

// RunChannels sends due notifications to channels until ctx is canceled. It uses several senders, so that a slow
// channel does not delay the others.
func (s *Service) RunChannels(ctx context.Context, report func(error)) {
	var senders sync.WaitGroup
	for range channelSenders {
		senders.Go(func() { poll(ctx, s.SendNextToChannel, report) })
	}
	senders.Wait()
}

// channelNotice is a notification that a node sends to a channel.
type channelNotice struct {
	Notification

	channel      int64
	channelTeam  int64 // the channel's team; 0 for all teams
	service      ChannelService
	sealed       []byte
	claimedUntil int64  // the end of the claim, which also identifies it
	raw          string // the details, as JSON
	tries        int
}

// attempt is the result of sending a notification to a channel.
type attempt struct {
	failure ChannelFailure // empty after a success
	wait    time.Duration  // how long to wait, as requested by the service
	final   bool           // whether a retry would fail again
}

// SendNextToChannel sends the oldest due notification of one channel and reports whether there was one. After a
// failure, the channel waits before the next attempt.
func (s *Service) SendNextToChannel(ctx context.Context) (bool, error) {
	n, found, err := s.claimForChannel(ctx)
	if err != nil || !found {
		return found, err
	}
	if n.channelTeam != 0 &&
		n.channelTeam != n.Team { // the notification was stored before the channel was limited to one team
		return true, s.endChannelNotice(ctx, n, nil)
	}
	if s.db.Now().Sub(n.At) > maxMailAge {
		s.Log.WarnContext(ctx, "A notification was too old to be sent to a channel", "channel", n.channel, "kind", n.Kind)
		return true, s.endChannelNotice(ctx, n, nil)
	}
	var result attempt
	if err := json.Unmarshal([]byte(n.raw), &n.detail); err != nil {
		result = attempt{failure: failureDamaged, final: true}
	} else {
		result = s.post(ctx, n)
	}
	if result.failure != "" {
		s.Log.WarnContext(ctx, "Sending a notification to a channel failed", "channel", n.channel, "kind", n.Kind, "try", n.tries,
			"error", result.failure.Text(locale.English))
	}
	return true, s.endChannelNotice(ctx, n, &result)
}

// dueChannelsQuery selects channels that have a due notification, do not wait, and are not claimed. Each placeholder is
// the current time.
const dueChannelsQuery = `SELECT c.id FROM notice_channels c WHERE c.next_at <= ? AND c.claimed_until <= ?
	AND EXISTS (SELECT 1 FROM channel_notices d WHERE d.channel_id = c.id AND d.send_at <= ?) ORDER BY c.next_at, c.id LIMIT 1`

// claimForChannel claims the channel that has been due longest, so that no other node sends to it. It returns the
// channel's oldest due notification.
func (s *Service) claimForChannel(ctx context.Context) (channelNotice, bool, error) {
	var n channelNotice
	now := db.Micros(s.db.Now())
	err := s.db.QueryRow(ctx, dueChannelsQuery, now, now, now).Scan(&n.channel) // usually there is none
	if err == nil {
		err = s.db.InTx(ctx, "notice_channel.claim", func(ctx context.Context, tx *db.Tx) error {
			n = channelNotice{}
			return s.claimDueChannel(ctx, tx, &n)
		})
	}
	if errors.Is(err, sql.ErrNoRows) {
		return n, false, nil
	}
	if err != nil {
		return n, false, fmt.Errorf("claiming a notice channel: %w", err)
	}
	return n, true, nil
}

// claimDueChannel claims a channel with a due notification. It returns sql.ErrNoRows if there is none, or if all of
// them are claimed.
func (s *Service) claimDueChannel(ctx context.Context, tx *db.Tx, n *channelNotice) error {
	now := db.Micros(tx.Now())
	n.claimedUntil = db.Micros(tx.Now().Add(claimTime))
	err := tx.QueryRow(ctx, `UPDATE notice_channels SET claimed_until = ? WHERE id = (`+dueChannelsQuery+s.db.SkipLocked()+`)
		RETURNING id, team_id, service,
			sealed`, n.claimedUntil, now, now, now).Scan(&n.channel, &n.channelTeam, &n.service, &n.sealed)
	if err != nil {
		return err
	}
	var at int64
	err = tx.QueryRow(ctx, `UPDATE channel_notices SET tries = tries + 1
		WHERE id = (SELECT id FROM channel_notices WHERE channel_id = ? AND send_at <= ? ORDER BY id LIMIT 1)
		RETURNING id, team_id, kind, subject, detail, created_at, tries,
		COALESCE((SELECT t.name FROM teams t WHERE t.id = team_id), '')`, n.channel, now).
		Scan(&n.ID, &n.Team, &n.Kind, &n.Subject, &n.raw, &at, &n.tries, &n.TeamName)
	n.At = db.Time(at).UTC()
	return err
}

// endChannelNotice ends a claim and records the result of an attempt. result is nil if the notification was dropped
// without an attempt. After a temporary failure, the notification is kept and the channel waits. If another node has
// claimed the channel meanwhile, the channel's state does not change.
func (s *Service) endChannelNotice(ctx context.Context, n channelNotice, result *attempt) error {
	return s.db.InTx(ctx, "notice_channel.end", func(ctx context.Context, tx *db.Tx) error {
		var failures int
		err := tx.QueryRow(ctx, `UPDATE notice_channels SET claimed_until = 0 WHERE id = ? AND claimed_until = ? RETURNING failures`,
			n.channel, n.claimedUntil).Scan(&failures)
		if err == nil && result != nil {
			err = result.record(ctx, tx, n, failures)
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("recording the state of a notice channel: %w", err)
		}
		if result != nil && result.failure != "" && !result.final {
			return nil
		}
		if _, err := tx.Exec(ctx, `DELETE FROM channel_notices WHERE id = ?`, n.ID); err != nil {
			return fmt.Errorf("deleting a notice for a channel: %w", err)
		}
		return nil
	})
}

// record stores a result in the channel's row, unless the channel's address has changed. After a failure, the
// channel waits unless only the message was rejected. The wait increases with each consecutive failure, and is at least
// as long as the service requests.
func (a attempt) record(ctx context.Context, tx *db.Tx, n channelNotice, failures int) error {
	now := db.Micros(tx.Now())
	set, args := `next_at = ?, failures = 0, sent_at = ?, failed_at = 0, error = ''`, []any{now, now}
	if a.failure != "" {
		set, args = `failed_at = ?, error = ?`, []any{now, string(a.failure)}
	}
	if a.failure != "" && !a.final {
		delay := max(channelDelays[min(failures, len(channelDelays)-1)], min(a.wait, maxRetryAfter))
		set, args = set+`, next_at = ?, failures = ?`, append(args, db.Micros(tx.Now().Add(delay)), failures+1)
	}
	_, err := tx.Exec(ctx, `UPDATE notice_channels SET `+set+` WHERE id = ? AND sealed = ?`, append(args, n.channel, n.sealed)...)
	return err
}

// TestChannel sends a test message to a channel immediately. If that fails, it returns an error with the reason.
// Otherwise, it ends the channel's wait, so that pending messages are sent too.
func (s *Service) TestChannel(ctx context.Context, id int64) error {
	n := channelNotice{channel: id, Notification: Notification{At: s.db.Now().UTC(), Kind: testKind,
		ID: s.db.Now().UnixMicro()}}
	err := s.db.QueryRow(ctx, `SELECT service, sealed FROM notice_channels WHERE id = ?`, id).Scan(&n.service, &n.sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return errNoChannel
	}
	if err != nil {
		return fmt.Errorf("reading a notice channel: %w", err)
	}
	result := s.post(ctx, n)
	result.final = true // a failed test does not postpone pending messages
	if err := s.db.InTx(ctx, "notice_channel.test", func(ctx context.Context, tx *db.Tx) error {
		return result.record(ctx, tx, n, 0)
	}); err != nil {
		return fmt.Errorf("recording a test of a notice channel: %w", err)
	}
	if result.failure != "" {
		text, args := result.failure.textKey()
		return apierr.OperatorErrorf(string(text), args...)
	}
	return nil
}

// post sends a notification to its channel.
func (s *Service) post(ctx context.Context, n channelNotice) attempt {
	address, err := s.openAddress(n.channel, n.sealed)
	if err != nil {
		s.Log.ErrorContext(ctx, "The address of a notification channel is not readable", "channel", n.channel, "error", err)
		return attempt{failure: failureUnsealed}
	}
	if err := s.Client.Check(address.URL); err != nil {
		return attempt{failure: failurePrivateHost}
	}
	target, header, body, err := s.message(n).encode(n.service, address)
	if err != nil {
		return attempt{failure: failureDamaged, final: true}
	}
	resp, err := s.Client.Post(ctx, target, header, body)
	if err != nil {
		s.Log.WarnContext(ctx, "Calling a notification channel failed", "channel", n.channel, "error", err)
		if errors.Is(err, safehttp.ErrPrivate) {
			return attempt{failure: failurePrivateName}
		}
		return attempt{failure: failureUnreachable}
	}
	result := attempt{wait: retryafter.Parse(resp.RetryAfter, s.db.Now())}
	if resp.Status < 200 || resp.Status > 299 {
		result.failure = newStatusFailure(resp.Status)
		// These statuses reject the message, not the channel.
		result.final = slices.Contains([]int{400, 413, 422}, resp.Status)
	}
	return result
}

// messageID returns the ID of a message about a notification. It is the same for every attempt. It contains the time,
// because a restored database assigns the IDs of notifications that were lost to new notifications.
func messageID(n Notification) string { return fmt.Sprintf("notice-%d-%d", n.ID, db.Micros(n.At)) }

// message returns the chat message for a notification. It is in English, because many people read a chat.
func (s *Service) message(n channelNotice) channelMessage {
	m := channelMessage{
		id: messageID(n.Notification), kind: n.Kind, at: n.At, sentAt: s.db.Now(), team: n.Team, teamName: n.TeamName,
		title: cmp.Or(n.TeamName, "pressroom"), text: testText, url: s.PublicURL + "/operator/channels",
	}
	if n.Kind != testKind {
		m.text, m.url = n.Text(locale.English), s.PublicURL+n.Path()
	}
	return m
}
