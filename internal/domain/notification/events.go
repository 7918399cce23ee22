package notification

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// kindByEvent maps kinds of audit events to kinds of notifications.
var kindByEvent = map[string]Kind{
	"post.account_failed": PostFailed, "post.account_unconfirmed": PostUnconfirmed, decidedEvent: PostFailed,
	"post.first_comment_failed": CommentFailed, "post.first_comment_unconfirmed": CommentFailed,
	commentDecidedEvent:   CommentFailed,
	"social_account.lost": AccountLost,
	"post.approval_asked": ApprovalAsked, "post.approved": ApprovalDecided, "post.rejected": ApprovalDecided,
	"post.commented": ApprovalComment,
	lowCreditsEvent:  CreditsLow, "report.tracking_ended": TrackingStopped,
	"key.created": KeyChanged, "key.changed": KeyChanged, "key.level_changed": KeyChanged,
	"key.limit_changed":   KeyChanged,
	"assistant.connected": AssistantConnected, "assistant.limit_changed": AssistantConnected,
}

// The events that record a person's decision about whether an unconfirmed post or first comment was published.
const (
	decidedEvent        = "post.account_decided"
	commentDecidedEvent = "post.first_comment_decided"

	notPublished = "not_published" // value of the event's decision
)

// mailDelay is how long an email is delayed, so that it can include more notifications of its kind.
const mailDelay = time.Minute

// HandleEvent creates the notifications for an event, in the transaction that records the event.
func (s *Service) HandleEvent(ctx context.Context, tx *db.Tx, e db.Event) error {
	if e.Team == 0 {
		return s.notifyAccount(ctx, tx, e)
	}
	kind, ok := kindByEvent[e.Kind]
	if !ok {
		return nil
	}
	d, err := s.describe(ctx, tx, kind, e)
	if err != nil || isDecision(e.Kind) && d.Reason != notPublished {
		return err
	}
	d.ByOperator = isDecision(e.Kind) && e.Person == 0
	raw, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("encoding the details of a notice: %w", err)
	}
	info, roleArgs := kind.info(), []any{}
	roles := info.Roles
	for _, r := range roles {
		roleArgs = append(roleArgs, string(r))
	}
	var actor int64
	if info.NotifyActor {
		actor = e.Person
	}
	args := append([]any{
		e.Team, string(kind), e.ID, e.Subject, string(raw), db.Micros(tx.Now()), db.Micros(tx.Now().Add(mailDelay)),
		e.Team,
	}, roleArgs...)
	_, err = tx.Exec(ctx,
		`INSERT INTO notices (person_id, team_id, kind, event_id, subject, detail, created_at, mail_at)
		SELECT m.person_id, CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT),
		CAST(? AS BIGINT), CAST(? AS BIGINT)
		FROM memberships m WHERE m.team_id = ? AND (m.role IN (`+rolePlaceholders(roles)+
			`) OR m.person_id = ?) AND m.person_id <> ? ON CONFLICT DO NOTHING`,
		append(args, actor, excludedPerson(kind, e))...)
	if err != nil {
		return fmt.Errorf("notifying of %s: %w", e.Kind, err)
	}
	return s.notifyChannels(ctx, tx, kind, e, raw)
}

func isDecision(event string) bool { return event == decidedEvent || event == commentDecidedEvent }

// rolePlaceholders returns an SQL list with a placeholder for each role.
func rolePlaceholders(roles []access.Role) string {
	return strings.TrimSuffix(strings.Repeat("?, ", len(roles)), ", ")
}

// excludedPerson returns the person who caused the event and is not notified, or 0. For changes to keys and connections
// it returns 0, because someone else may have acted in the person's name.
func excludedPerson(kind Kind, e db.Event) int64 {
	if e.Key > 0 || kind == KeyChanged || kind == AssistantConnected {
		return 0
	}
	return e.Person
}

// eventDetail has the fields of audit events that notifications use.
type eventDetail struct {
	Account      int64  `json:"account"`
	Reason       string `json:"reason"`
	Decision     string `json:"decision"` // a person's decision about an unconfirmed account
	Level        string `json:"level"`
	Credits      int64  `json:"credits"`
	Capabilities string `json:"may"`
	Round        int64  `json:"round"` // version of the post that the client decided about

	LevelBefore *string `json:"level_before"`
	Limit       *int64  `json:"daily_credits"`
	LimitBefore *int64  `json:"daily_credits_before"`
}

// describe returns the details of a notification, such as the name of an account or key. They are stored with the
// notification, because names may change later.
func (s *Service) describe(ctx context.Context, tx *db.Tx, kind Kind, e db.Event) (detail, error) {
	var r eventDetail
	if err := json.Unmarshal(e.Detail, &r); err != nil {
		return detail{}, fmt.Errorf("reading the details of %s: %w", e.Kind, err)
	}
	d := detail{
		Event: e.Kind, Reason: cmp.Or(r.Reason, r.Decision), Level: r.Level, Capabilities: r.Capabilities, Credits: r.Credits,
		SameLevel: r.LimitBefore != nil && r.LevelBefore == nil, LimitBefore: r.LimitBefore,
	}
	if r.LimitBefore != nil || strings.HasSuffix(e.Kind, ".limit_changed") {
		d.Limit = r.Limit
	}
	var err error
	switch kind {
	case PostFailed, PostUnconfirmed, CommentFailed:
		err = tx.QueryRow(ctx, `SELECT platform, username FROM social_accounts WHERE team_id = ? AND id = ?`, e.Team,
			r.Account).Scan(&d.Platform, &d.Name)
	case AccountLost:
		account, parseErr := strconv.ParseInt(e.Subject, 10, 64)
		if parseErr != nil {
			return d, fmt.Errorf("reading the ID of the disconnected account: %w", parseErr)
		}
		err = tx.QueryRow(ctx, `SELECT platform, username FROM social_accounts WHERE team_id = ? AND id = ?`, e.Team,
			account).Scan(&d.Platform, &d.Name)
	case KeyChanged, AssistantConnected:
		key, parseErr := strconv.ParseInt(e.Subject, 10, 64)
		if parseErr != nil {
			return d, fmt.Errorf("reading the ID of the key: %w", parseErr)
		}
		err = tx.QueryRow(ctx, `SELECT name, level FROM api_keys WHERE team_id = ? AND id = ?`, e.Team,
			key).Scan(&d.Name, &d.Level)
	case ApprovalDecided:
		err = tx.QueryRow(ctx,
			`SELECT p.status, EXISTS (SELECT 1 FROM post_approvals a
		WHERE a.post_id = p.id AND a.round = ? AND a.comment <> ''), EXISTS (SELECT 1 FROM post_approvals a
		WHERE a.post_id = p.id AND a.round = ? AND a.schedule_error <> '')
			FROM posts p WHERE p.team_id = ? AND p.id = ?`, r.Round, r.Round, e.Team, e.Subject).
			Scan(&d.Status, &d.Commented, &d.NotScheduled)
	case ApprovalAsked, ApprovalComment, CreditsLow, TrackingStopped,
		// handled by notifyAccount
		PasswordChanged, RecoveryUsed, NewBrowser, PasskeysChanged, FactorsChanged, AddressChanged, OperatorChanged:
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return d, fmt.Errorf("reading the subject of a notice: %w", err)
	}
	return d, nil
}

const (
	lowCreditsEvent    = "credits.low"
	lowCreditsInterval = 24 * time.Hour // minimum time between two notifications about a team's low credits
)

// NotifyLowCredits notifies a team, at most once a day, if a charge lowers its credits from before to after, and
// thereby below the owner's threshold. Call it in the transaction that charges the credits.
func (s *Service) NotifyLowCredits(ctx context.Context, tx *db.Tx, team, before, after int64) error {
	n, err := tx.Exec(ctx,
		`UPDATE notice_thresholds SET told_at = ?
		WHERE team_id = ? AND credits > 0 AND credits <= ? AND credits > ? AND told_at <= ?`,
		db.Micros(tx.Now()), team, before, after, db.Micros(tx.Now().Add(-lowCreditsInterval)))
	if err != nil {
		return fmt.Errorf("checking the threshold of low credits: %w", err)
	}
	if n == 0 {
		return nil
	}
	var threshold int64
	if err := tx.QueryRow(ctx, `SELECT credits FROM notice_thresholds WHERE team_id = ?`,
		team).Scan(&threshold); err != nil {
		return fmt.Errorf("reading the threshold of low credits: %w", err)
	}
	return auditlog.Record(ctx, tx, team, auditlog.Actor{}, lowCreditsEvent, strconv.FormatInt(team, 10),
		map[string]any{"credits": threshold})
}
