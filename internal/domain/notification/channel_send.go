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
	channelDelay   = 5 * time.Second // so that a post that fails on several accounts is one message
	maxRetryAfter  = time.Hour
	channelSenders = 4 // how many channels a node sends to at the same time
)

// channelDelays are the delays of a channel after failed attempts. The last one repeats until the message is too old.
var channelDelays = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, time.Hour}

// notifyChannels stores the notice of an event for the channels that want it, in the event's transaction. Only results of a post that
// were not sent yet are merged. Locking the channels skips one that is being removed.
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

// RunChannels sends due notices to channels until ctx is canceled. A slow channel occupies one of several senders.
func (s *Service) RunChannels(ctx context.Context, report func(error)) {
	var senders sync.WaitGroup
	for range channelSenders {
		senders.Go(func() { poll(ctx, s.SendNext, report) })
	}
	senders.Wait()
}

// channelNotice is a notice that a node sends to a channel.
type channelNotice struct {
	Notice

	channel int64
	service ChannelService
	sealed  []byte
	raw     string // the details, as JSON
	tries   int
}

// attempt is the result of sending a notice to a channel.
type attempt struct {
	err   error
	wait  time.Duration // how long the service asks to wait
	final bool          // whether it would fail again
}

// SendNext sends the oldest due notice of a channel and reports whether there was one. If that fails, the channel waits.
func (s *Service) SendNext(ctx context.Context) (bool, error) {
	n, found, err := s.claimForChannel(ctx)
	if err != nil || !found {
		return found, err
	}
	var result attempt
	if s.db.Now().Sub(n.At) > maxMailAge {
		s.Log.WarnContext(ctx, "A notification was too old to be sent to a channel", "channel", n.channel, "kind", n.Kind)
		return true, s.endChannelNotice(ctx, n, nil)
	}
	if err := json.Unmarshal([]byte(n.raw), &n.detail); err != nil {
		result = attempt{err: errors.New("a notification is damaged"), final: true}
	} else {
		result = s.post(ctx, n)
	}
	if result.err != nil {
		s.Log.WarnContext(ctx, "Sending a notification to a channel failed", "channel", n.channel, "kind", n.Kind, "try", n.tries,
			"error", result.err)
	}
	return true, s.endChannelNotice(ctx, n, &result)
}

// claimForChannel claims the channel that waits longest, so that nobody else sends to it, and returns its oldest due notice.
func (s *Service) claimForChannel(ctx context.Context) (channelNotice, bool, error) {
	var n channelNotice
	var found bool
	err := s.db.InTx(ctx, "notice_channel.claim", func(ctx context.Context, tx *db.Tx) error {
		n, found = channelNotice{}, false
		now := db.Micros(tx.Now())
		err := tx.QueryRow(ctx, `UPDATE notice_channels SET next_at = ? WHERE id = (SELECT c.id FROM notice_channels c
			WHERE c.next_at <= ? AND EXISTS (SELECT 1 FROM channel_notices d WHERE d.channel_id = c.id AND d.send_at <= ?)
			ORDER BY c.next_at, c.id LIMIT 1) AND next_at <= ? RETURNING id, service, sealed`,
			db.Micros(tx.Now().Add(claimTime)), now, now, now).Scan(&n.channel, &n.service, &n.sealed)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("claiming a notice channel: %w", err)
		}
		var at int64
		if err := tx.QueryRow(ctx, `UPDATE channel_notices SET tries = tries + 1
			WHERE id = (SELECT id FROM channel_notices WHERE channel_id = ? AND send_at <= ? ORDER BY id LIMIT 1)
			RETURNING id, team_id, kind, subject, detail, created_at, tries,
			COALESCE((SELECT t.name FROM teams t WHERE t.id = team_id), '')`, n.channel, now).
			Scan(&n.ID, &n.Team, &n.Kind, &n.Subject, &n.raw, &at, &n.tries, &n.TeamName); err != nil {
			return fmt.Errorf("finding the next notice of a channel: %w", err)
		}
		found, n.At = true, db.Time(at).UTC()
		return nil
	})
	return n, found, err
}

// endChannelNotice records the result of an attempt, or nil if the notice was too old. After a failure the notice stays, and the
// channel waits for a while, or longer if the service says so.
func (s *Service) endChannelNotice(ctx context.Context, n channelNotice, result *attempt) error {
	return s.db.InTx(ctx, "notice_channel.end", func(ctx context.Context, tx *db.Tx) error {
		now, next := tx.Now(), tx.Now()
		keep := result != nil && result.err != nil && !result.final
		if keep {
			delay := channelDelays[min(n.tries, len(channelDelays))-1]
			next = now.Add(max(delay, min(result.wait, maxRetryAfter)))
		}
		query, args := `UPDATE notice_channels SET next_at = ? WHERE id = ?`, []any{db.Micros(next), n.channel}
		switch {
		case result != nil && result.err != nil:
			query, args = `UPDATE notice_channels SET next_at = ?, failed_at = ?, error = ? WHERE id = ?`,
				[]any{db.Micros(next), db.Micros(now), result.err.Error(), n.channel}
		case result != nil:
			query, args = `UPDATE notice_channels SET next_at = ?, sent_at = ?, failed_at = 0, error = '' WHERE id = ?`,
				[]any{db.Micros(next), db.Micros(now), n.channel}
		}
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return fmt.Errorf("recording the state of a notice channel: %w", err)
		}
		if keep {
			return nil
		}
		if _, err := tx.Exec(ctx, `DELETE FROM channel_notices WHERE id = ?`, n.ID); err != nil {
			return fmt.Errorf("deleting a notice for a channel: %w", err)
		}
		return nil
	})
}

// TestChannel sends a message to a channel at once, and returns why that failed.
func (s *Service) TestChannel(ctx context.Context, id int64) error {
	n := channelNotice{channel: id, Notice: Notice{At: s.db.Now().UTC(), Kind: testKind, ID: s.db.Now().UnixMicro()}}
	err := s.db.QueryRow(ctx, `SELECT service, sealed FROM notice_channels WHERE id = ?`, id).Scan(&n.service, &n.sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return errNoChannel
	}
	if err != nil {
		return fmt.Errorf("reading a notice channel: %w", err)
	}
	failed := s.post(ctx, n).err
	// After a success, the waiting messages follow at once.
	query, args := `UPDATE notice_channels SET sent_at = ?, next_at = 0, failed_at = 0, error = '' WHERE id = ?`,
		[]any{db.Micros(s.db.Now()), id}
	if failed != nil {
		query, args = `UPDATE notice_channels SET failed_at = ?, error = ? WHERE id = ?`,
			[]any{db.Micros(s.db.Now()), failed.Error(), id}
	}
	if err := s.db.InTx(ctx, "notice_channel.test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, query, args...)
		return err
	}); err != nil {
		return fmt.Errorf("recording a test of a notice channel: %w", err)
	}
	if failed != nil {
		return apierr.OperatorError("the channel did not accept the message: " + failed.Error())
	}
	return nil
}

// post sends a notice to its channel.
func (s *Service) post(ctx context.Context, n channelNotice) attempt {
	address, err := s.open(n.channel, n.sealed)
	if err != nil {
		return attempt{err: err}
	}
	if err := s.Client.Check(address.URL); err != nil {
		return attempt{err: errors.New("the address is on a private host that --notice-allow does not have")}
	}
	target, header, body, err := s.message(n).encode(n.service, address)
	if err != nil {
		return attempt{err: err, final: true}
	}
	answer, err := s.Client.Post(ctx, target, header, body)
	if err != nil {
		s.Log.WarnContext(ctx, "Calling a notification channel failed", "channel", n.channel, "error", err)
		if errors.Is(err, safehttp.ErrPrivate) {
			return attempt{err: errors.New("the name of the host leads to a private address; add the name to --notice-allow")}
		}
		return attempt{err: errors.New("the service could not be reached")}
	}
	result := attempt{wait: retryafter.Parse(answer.RetryAfter, s.db.Now())}
	switch status := answer.Status; {
	case status >= 200 && status <= 299:
	case slices.Contains([]int{401, 403, 404, 410}, status):
		result.err = fmt.Errorf("the service answered with status %d: it does not accept the address; enter a new address", status)
	default:
		result.err = fmt.Errorf("the service answered with status %d", status)
		// These are about the message and not about the channel.
		result.final = slices.Contains([]int{400, 413, 422}, status)
	}
	return result
}

// messageID returns the ID of a message about a notice, the same for every attempt. A restored database assigns the IDs of lost notices
// again, so it contains the time too.
func messageID(n Notice) string { return fmt.Sprintf("notice-%d-%d", n.ID, db.Micros(n.At)) }

// message returns what a notice says. Chats are read by many people, so it is in English.
func (s *Service) message(n channelNotice) channelMessage {
	m := channelMessage{
		id: messageID(n.Notice), kind: n.Kind, at: n.At, sent: s.db.Now(), team: n.Team, teamName: n.TeamName,
		title: cmp.Or(n.TeamName, "pressroom"), text: testText, url: s.PublicURL + "/operator/channels",
	}
	if n.Kind != testKind {
		m.text, m.url = n.Text(locale.English), s.PublicURL+n.Path()
	}
	return m
}
