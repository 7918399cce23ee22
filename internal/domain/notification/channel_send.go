package notification

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	channelDelay  = 5 * time.Second // so that a post that fails on several accounts is one message
	maxRetryAfter = time.Hour
)

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

// RunChannels sends due notices to channels until ctx is canceled.
func (s *Service) RunChannels(ctx context.Context, report func(error)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = s.SendNext(ctx); err != nil && ctx.Err() == nil {
				report(err)
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// channelNotice is a notice that a node sends to a channel.
type channelNotice struct {
	Notice

	channel int64
	service ChannelService
	sealed  []byte
	tries   int
}

// SendNext sends one due notice to its channel and reports whether there was one. A failed one is sent again later.
func (s *Service) SendNext(ctx context.Context) (bool, error) {
	n, found, err := s.claimForChannel(ctx)
	if err != nil || !found {
		return found, err
	}
	if s.db.Now().Sub(n.At) > maxMailAge {
		return true, s.endChannelNotice(ctx, n, errors.New("the notification was older than a day"), 0)
	}
	wait, failed := s.post(ctx, n)
	if failed != nil {
		s.Log.WarnContext(ctx, "Sending a notification to a channel failed", "channel", n.channel, "kind", n.Kind, "try", n.tries,
			"error", failed)
	}
	return true, s.endChannelNotice(ctx, n, failed, wait)
}

// claimForChannel returns the notice that has been due longest and claims it, so that other nodes do not send it.
func (s *Service) claimForChannel(ctx context.Context) (channelNotice, bool, error) {
	var n channelNotice
	var found bool
	err := s.db.InTx(ctx, "notice_channel.claim", func(ctx context.Context, tx *db.Tx) error {
		n, found = channelNotice{}, false
		now := db.Micros(tx.Now())
		var raw string
		var at int64
		err := tx.QueryRow(ctx, `UPDATE channel_notices SET send_at = ?, tries = tries + 1
			WHERE id = (SELECT id FROM channel_notices WHERE send_at <= ? ORDER BY send_at, id LIMIT 1) AND send_at <= ?
			RETURNING id, channel_id, team_id, kind, subject, detail, created_at, tries`,
			db.Micros(tx.Now().Add(claimTime)), now, now).Scan(&n.ID, &n.channel, &n.Team, &n.Kind, &n.Subject, &raw, &at, &n.tries)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("claiming a notice for a channel: %w", err)
		}
		found, n.At = true, db.Time(at).UTC()
		if err := json.Unmarshal([]byte(raw), &n.detail); err != nil {
			return fmt.Errorf("reading the details of a notice: %w", err)
		}
		return tx.QueryRow(ctx, `SELECT c.service, c.sealed, t.name FROM notice_channels c, teams t WHERE c.id = ? AND t.id = ?`,
			n.channel, n.Team).Scan(&n.service, &n.sealed, &n.TeamName)
	})
	return n, found, err
}

// endChannelNotice records the outcome. A failed notice is sent again after a delay, or later if the service says so.
func (s *Service) endChannelNotice(ctx context.Context, n channelNotice, failed error, wait time.Duration) error {
	return s.db.InTx(ctx, "notice_channel.end", func(ctx context.Context, tx *db.Tx) error {
		now := tx.Now()
		query, args := `UPDATE notice_channels SET sent_at = ?, failed_at = 0, error = '' WHERE id = ?`, []any{db.Micros(now), n.channel}
		if failed != nil {
			query, args = `UPDATE notice_channels SET failed_at = ?, error = ? WHERE id = ?`,
				[]any{db.Micros(now), failed.Error(), n.channel}
		}
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return fmt.Errorf("recording the state of a notice channel: %w", err)
		}
		query, args = `DELETE FROM channel_notices WHERE id = ?`, []any{n.ID}
		if failed != nil && n.tries <= len(retryDelays) && now.Sub(n.At) <= maxMailAge {
			next := now.Add(max(retryDelays[n.tries-1], min(wait, maxRetryAfter)))
			query, args = `UPDATE channel_notices SET send_at = ? WHERE id = ?`, []any{db.Micros(next), n.ID}
		}
		if _, err := tx.Exec(ctx, query, args...); err != nil {
			return fmt.Errorf("recording the outcome of a notice for a channel: %w", err)
		}
		return nil
	})
}

// TestChannel sends a message to a channel at once, and returns why that failed.
func (s *Service) TestChannel(ctx context.Context, id int64) error {
	n := channelNotice{channel: id, Notice: Notice{At: s.db.Now().UTC(), Kind: testKind, ID: s.db.Now().UnixMicro()}}
	err := s.db.QueryRow(ctx, `SELECT service, sealed FROM notice_channels WHERE id = ?`, id).Scan(&n.service, &n.sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return apierr.OperatorError("there is no such channel")
	}
	if err != nil {
		return fmt.Errorf("reading a notice channel: %w", err)
	}
	_, failed := s.post(ctx, n)
	query, args := `UPDATE notice_channels SET sent_at = ?, failed_at = 0, error = '' WHERE id = ?`, []any{db.Micros(s.db.Now()), id}
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

// post sends a notice to its channel. It returns how long the service asks to wait.
func (s *Service) post(ctx context.Context, n channelNotice) (time.Duration, error) {
	address, err := s.open(n.channel, n.sealed)
	if err != nil {
		return 0, err
	}
	if err := s.Client.Check(address.URL); err != nil {
		return 0, errors.New("the address is on a private host that --notice-allow does not have")
	}
	target, header, body, err := s.message(n).encode(n.service, address)
	if err != nil {
		return 0, err
	}
	answer, err := s.Client.Post(ctx, target, header, body)
	if err != nil {
		return 0, errors.New("the service could not be reached")
	}
	if answer.Status < 200 || answer.Status > 299 {
		seconds, _ := strconv.Atoi(answer.RetryAfter) // 0 for a date, which no service sends
		return time.Duration(max(seconds, 0)) * time.Second, fmt.Errorf("the service answered with status %d", answer.Status)
	}
	return 0, nil
}

// message returns what a notice says. Chats are read by many people, so it is in English.
func (s *Service) message(n channelNotice) channelMessage {
	m := channelMessage{
		id: fmt.Sprintf("notice-%d", n.ID), kind: n.Kind, at: n.At, sent: s.db.Now(), team: n.Team, teamName: n.TeamName,
		title: cmp.Or(n.TeamName, "pressroom"), text: testText, url: s.PublicURL + "/operator/channels",
	}
	if n.Kind != testKind {
		m.text, m.url = n.Text(locale.English), s.PublicURL+n.Path()
	}
	return m
}
