package post

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/network"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/plaintext"
)

// ApprovalPath is where clients look at posts, below the public address.
const ApprovalPath = "/approval/"

const (
	approvalLinkLifetime = 30 * 24 * time.Hour // how long a client's link can be opened
	maxClientName        = 200                 // characters of a client's name
	// MaxComment is how long a client's comment may be, in characters.
	MaxComment = 2000
)

// codeMissedApproval is the error of accounts whose post was not approved at its time.
const codeMissedApproval = "missed_waiting_approval"

// PassedUnapproved tells whether the post's time passed before its client had approved it: it was not sent then, and
// nothing sends it by itself any more.
func (p Post) PassedUnapproved() bool {
	return slices.ContainsFunc(p.Targets, func(t Target) bool { return t.State == TargetFailed && t.ErrorCode == codeMissedApproval })
}

// ListAwaitingApproval are a team's posts that wait for its client's decision, the newest first, also those whose time has passed. One
// without a time has none.
func (s *Service) ListAwaitingApproval(ctx context.Context, team int64, most int) ([]Slot, error) {
	slots, err := db.All(ctx, s.db, func(rows *sql.Rows, slot *Slot) error {
		var at int64
		err := rows.Scan(&slot.PostID, &slot.Status, &slot.Excerpt, &at)
		slot.At, slot.Client = db.Time(at), Waiting
		return err
	}, awaitingApprovalQuery, team, codeMissedApproval, most)
	if err != nil {
		return nil, fmt.Errorf("reading what waits for the client of team %d: %w", team, err)
	}
	spans := []Span{{Slots: slots}}
	return spans[0].Slots, s.addAccounts(ctx, team, spans)
}

// awaitingApprovalQuery is a walk along the index of states. Of those that failed it is only what was not approved in time.
const awaitingApprovalQuery = `SELECT p.id, p.status, p.excerpt, p.slot_at FROM posts p WHERE p.team_id = ? AND p.status IN ('draft', 'scheduled', 'failed')
	AND p.approval = 'waiting' AND p.is_template = 0
	AND (p.status <> 'failed' OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.error_code = ?)) ORDER BY p.id DESC LIMIT ?`

// Approvals let clients approve posts on a page, by a signed link that needs no sign-in.
type Approvals struct {
	ApprovalsOptions

	links tokencrypt.Signer
}

// ApprovalsOptions say what approvals stand on.
type ApprovalsOptions struct {
	Posts     *Service
	Sealer    *tokencrypt.Sealer
	PublicURL string // the service's address, without a slash at its end
}

// NewApprovals makes what clients approve posts by.
func NewApprovals(opts ApprovalsOptions) *Approvals {
	return &Approvals{opts, opts.Sealer.Signer("approval links")}
}

// approvalLink is what a link says.
type approvalLink struct {
	post       string
	round      int64
	ends       time.Time
	generation int64 // of the post's links: raised when they are revoked
}

// A link is a version, its numbers as big-endian 64-bit integers, the post's id, and the signature. Version 1 has the round
// and the end in seconds since 1970, and its generation is 0; version 2 adds the generation.
const (
	maxApprovalToken = 200 // characters
	tokenNumberSize  = 8   // bytes
)

// tokenNumbers counts the numbers of a link by its version.
var tokenNumbers = map[byte]int{1: 2, 2: 3}

var tokenEncoding = base64.RawURLEncoding.Strict()

func (a *Approvals) token(l approvalLink) string {
	version, numbers := byte(1), []int64{l.round, l.ends.Unix()}
	if l.generation > 0 { // a node of the release before reads version 1 only
		version, numbers = 2, append(numbers, l.generation)
	}
	body := []byte{version}
	for _, n := range numbers {
		body = binary.BigEndian.AppendUint64(body, uint64(n)) //nolint:gosec // rounds and generations are positive, and it ends after 1970
	}
	body = append(body, l.post...)
	return tokenEncoding.EncodeToString(append(body, a.links.Sign(body)...))
}

// Why a link that was signed here shows nothing.
var (
	errApprovalEnded   = apierr.BadState("ended", "This link has expired. Ask the team that sent it for a new one.")
	errApprovalRevoked = apierr.BadState("revoked", "The team has revoked this link. Ask the team that sent it for a new one.")
	errApprovalChanged = apierr.BadState("changed", "The post has changed since this link was sent. Ask the team that sent it for a link to the new version.")
)

// parse reads a link that token wrote; anything else is not_found, and one that has ended wrong_state.
func (a *Approvals) parse(token string) (approvalLink, error) {
	if len(token) > maxApprovalToken {
		return approvalLink{}, apierr.Missing()
	}
	raw, err := tokenEncoding.DecodeString(token)
	if err != nil || len(raw) == 0 {
		return approvalLink{}, apierr.Missing()
	}
	numbers := tokenNumbers[raw[0]]
	head := 1 + numbers*tokenNumberSize
	if numbers == 0 || len(raw) < head+sha256.Size {
		return approvalLink{}, apierr.Missing()
	}
	body, sum := raw[:len(raw)-sha256.Size], raw[len(raw)-sha256.Size:]
	if !a.links.Signed(body, sum) {
		return approvalLink{}, apierr.Missing()
	}
	number := func(i int) int64 { return int64(binary.BigEndian.Uint64(body[1+tokenNumberSize*i:])) } //nolint:gosec // signed, so as it was written
	l := approvalLink{post: string(body[head:]), round: number(0), ends: time.Unix(number(1), 0)}
	if numbers > 2 {
		l.generation = number(2)
	}
	if !a.Posts.db.Now().Before(l.ends) {
		return l, errApprovalEnded
	}
	return l, nil
}

// RequestApproval sends a post to the client: it waits from now on, and the link leads to the page on which the client
// decides on the post as it is now, for 30 days. A scheduled post stays scheduled and is withheld. A post that waits already
// gets another link, also one whose time has passed. It is not_found for people who may not write in the post's team, and
// wrong_state for a post that is approved, was handed over, or is the template of a series.
func (a *Approvals) RequestApproval(ctx context.Context, person int64, postID string) (string, error) {
	var generation int64
	p, err := a.Posts.updateAs(ctx, person, postID, access.Write, "post.ask_approval", func(ctx context.Context, tx *db.Tx, call operation.Call, p *Post) error {
		if err := p.checkApprovalRequest(); err != nil {
			return err
		}
		if p.Approval != Waiting || p.Round == 0 {
			if err := openRound(ctx, tx, p); err != nil {
				return err
			}
		}
		if err := update(ctx, tx, p); err != nil {
			return err
		}
		var err error
		if generation, err = recordLink(ctx, tx, *p); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, p.TeamID, auditlog.By(call), "post.approval_asked", p.ID, map[string]any{"round": p.Round})
	})
	if err != nil {
		return "", err
	}
	return a.PublicURL + ApprovalPath + a.token(approvalLink{p.ID, p.Round, a.Posts.db.Now().Add(approvalLinkLifetime), generation}), nil
}

// What posts.approval_sent tells of the links to the latest version; 0 if none was made.
const (
	linkMade     = 1
	linksRevoked = 2
)

// recordLink notes that a link is made to the post as it is now, and returns the generation of the post's links.
func recordLink(ctx context.Context, tx *db.Tx, p Post) (int64, error) {
	var generation int64
	err := tx.QueryRow(ctx, `UPDATE posts SET approval_sent = ? WHERE id = ? AND team_id = ? RETURNING approval_links`,
		linkMade, p.ID, p.TeamID).Scan(&generation)
	if err != nil {
		return 0, fmt.Errorf("noting that a version was sent: %w", err)
	}
	return generation, nil
}

// RevokeLinks ends every approval link of a post that was made until now. What was decided by them stays. It is not_found
// for people who may not write in the post's team, and wrong_state for a post of which no link was made.
func (a *Approvals) RevokeLinks(ctx context.Context, person int64, postID string) error {
	_, err := a.Posts.updateAs(ctx, person, postID, access.Write, "post.revoke_links", func(ctx context.Context, tx *db.Tx, call operation.Call, p *Post) error {
		if p.Approval == NotNeeded {
			return apierr.BadState(string(p.Approval), "The post was never sent to a client, so it has no links.")
		}
		var generation int64
		err := tx.QueryRow(ctx, `UPDATE posts SET approval_links = approval_links + 1,
			approval_sent = CASE approval_sent WHEN 0 THEN 0 ELSE ? END WHERE id = ? AND team_id = ? RETURNING approval_links`,
			linksRevoked, p.ID, p.TeamID).Scan(&generation)
		if err != nil {
			return fmt.Errorf("revoking approval links: %w", err)
		}
		return auditlog.Record(ctx, tx, p.TeamID, auditlog.By(call), "post.approval_links_revoked", p.ID, map[string]any{"revocations": generation})
	})
	return err
}

func (p Post) checkApprovalRequest() error {
	switch {
	case p.IsTemplate: // what was made from it stands as the template did
		return apierr.BadState("recurring_template", "The client is asked before a series begins. Stop this one first.")
	case p.Status != Draft && p.Status != Scheduled && (p.Approval != Waiting || !p.PassedUnapproved()):
		return apierr.BadState(string(p.Status), "The post was handed over for publishing already.")
	case p.Approval == Approved:
		return apierr.BadState(string(p.Approval), "The client has approved the post.")
	}
	return nil
}

// openRound makes a post as it is now the version that the client is shown. The caller writes the post.
func openRound(ctx context.Context, tx *db.Tx, p *Post) error {
	p.Approval, p.Round = Waiting, p.Round+1
	if _, err := tx.Exec(ctx, `INSERT INTO post_approvals (post_id, round, opened_at) VALUES (?, ?, ?)`, p.ID, p.Round, db.Micros(tx.Now())); err != nil {
		return fmt.Errorf("opening a round of approval: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE posts SET approval_sent = 0 WHERE id = ? AND team_id = ?`, p.ID, p.TeamID); err != nil {
		return fmt.Errorf("noting that a version was not sent: %w", err)
	}
	return nil
}

// reopenApproval sends a post that was changed back to its client, who sees every change (rule 2), and tells what the event
// is called. The caller writes the post.
func reopenApproval(ctx context.Context, tx *db.Tx, p *Post) (string, error) {
	kind := "post.changed"
	switch p.Approval {
	case NotNeeded:
		return kind, nil
	case Approved, Rejected:
		kind = "post.returned"
	case Waiting:
	}
	return kind, openRound(ctx, tx, p)
}

// Proposal is what a client is shown: the version of a post that a link was made for.
type Proposal struct {
	Post

	TeamName string
	Zone     *time.Location
	Client   string    // who decided, by the name given; empty while nobody has
	Decided  time.Time // when
}

// Proposal returns what a link shows. It is not_found for a link that nobody signed or whose post needs no client any
// more, and wrong_state for one that has ended, was revoked, or was made for a version that has changed since.
func (a *Approvals) Proposal(ctx context.Context, token string) (Proposal, error) {
	l, err := a.parse(token)
	if err != nil {
		return Proposal{}, err
	}
	return a.proposal(ctx, l)
}

func (a *Approvals) proposal(ctx context.Context, l approvalLink) (Proposal, error) {
	s := a.Posts
	var out Proposal
	var team, decided, generation int64
	var zone string
	err := s.db.QueryRow(ctx, `SELECT t.id, t.name, t.timezone, p.approval_links, r.client_name, r.decided_at FROM posts p JOIN teams t ON t.id = p.team_id
		JOIN post_approvals r ON r.post_id = p.id AND r.round = p.approval_round
		WHERE p.id = ? AND p.approval <> 'not_needed' AND t.closed_at = 0`, l.post).Scan(&team, &out.TeamName, &zone, &generation, &out.Client, &decided)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.Missing()
	}
	if err != nil {
		return out, fmt.Errorf("reading what a client is shown: %w", err)
	}
	if generation != l.generation {
		return out, errApprovalRevoked
	}
	out.Decided = db.Time(decided)
	if out.Zone, err = time.LoadLocation(zone); err != nil {
		return out, fmt.Errorf("reading the zone of team %d: %w", team, err)
	}
	if out.Post, err = s.read(ctx, s.db, team, l.post, ""); err != nil || out.Round == l.round {
		return out, err
	}
	changed, err := a.changedSince(ctx, out.Post, l.round)
	if err == nil && changed {
		err = errApprovalChanged
	}
	return out, err
}

// changedSince reports whether a post is another one than in an earlier round. A round in which the client was only asked
// again, as after a rejection, shows what the one before it did: it was opened in the transaction that
// tells of the asking, and of that round.
func (a *Approvals) changedSince(ctx context.Context, p Post, round int64) (bool, error) {
	var n int64
	err := a.Posts.db.QueryRow(ctx, `SELECT COUNT(*) FROM post_approvals r WHERE r.post_id = ? AND r.round > ? AND r.round <= ?
		AND NOT EXISTS (SELECT 1 FROM events e WHERE e.team_id = ? AND e.kind = 'post.approval_asked' AND e.subject = r.post_id AND e.at = r.opened_at
			AND e.detail = '{"round":' || CAST(r.round AS TEXT) || '}')`,
		p.ID, round, p.Round, p.TeamID).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("looking whether a post has changed: %w", err)
	}
	return n > 0, nil
}

// FindMedia gives a medium that the post has, or an account in place of the post's.
func (p Proposal) FindMedia(id int64) (network.Media, bool) {
	all := slices.Clone(p.Media)
	for _, t := range p.Targets {
		all = append(all, t.Media...)
	}
	i := slices.IndexFunc(all, func(m network.Media) bool { return m.ID == id })
	if i < 0 {
		return network.Media{}, false
	}
	return all[i], true
}

// Decision is what a client says to one version of a post.
type Decision struct {
	Round   int64 // of the version that the client saw
	Approve bool
	Name    string // the client's own
	Comment string // perhaps
}

// Decide takes a client's decision. Each version is decided once: wrong_state, with the state that the post is in, for
// a second decision, and with the state changed for a version that is not the latest.
func (a *Approvals) Decide(ctx context.Context, token string, d Decision) error {
	l, err := a.parse(token)
	if err != nil {
		return err
	}
	if d, err = d.sanitize(); err != nil {
		return err
	}
	shown, err := a.proposal(ctx, l)
	if err != nil {
		return err
	}
	return a.decide(ctx, auditlog.Actor{}, shown.TeamID, l.post, d)
}

// DecideAs takes the decision of a client who is signed in, on a post of the client's team. It is refused as Decide
// refuses, and not_found for whoever is no client of the team or calls by a key.
func (a *Approvals) DecideAs(ctx context.Context, call operation.Call, postID string, d Decision) error {
	if !call.InApp() || call.Role != access.Client {
		return apierr.Missing()
	}
	d.Name = call.PersonName
	d, err := d.sanitize()
	if err != nil {
		return err
	}
	return a.decide(ctx, auditlog.By(call), call.TeamID, postID, d)
}

func (a *Approvals) decide(ctx context.Context, by auditlog.Actor, team int64, postID string, d Decision) error {
	s := a.Posts
	return s.db.InTx(ctx, "post.decide", func(ctx context.Context, tx *db.Tx) error {
		p, err := s.lock(ctx, tx, team, postID)
		if err != nil {
			return err
		}
		switch {
		case p.Approval == NotNeeded:
			return apierr.BadState(string(p.Approval), "The post does not wait for a client.")
		case p.Approval != Waiting:
			return apierr.BadState(string(p.Approval), "This was decided already.")
		case p.Round != d.Round:
			return apierr.BadState("changed", "The post has changed meanwhile, so nothing was decided. Look at the new version.")
		}
		return storeDecision(ctx, tx, by, &p, d)
	})
}

func storeDecision(ctx context.Context, tx *db.Tx, by auditlog.Actor, p *Post, d Decision) error {
	p.Approval = Rejected
	if d.Approve {
		p.Approval = Approved
	}
	_, err := tx.Exec(ctx, `UPDATE post_approvals SET decision = ?, client_name = ?, comment = ?, decided_at = ? WHERE post_id = ? AND round = ?`,
		string(p.Approval), d.Name, d.Comment, db.Micros(tx.Now()), p.ID, p.Round)
	if err != nil {
		return fmt.Errorf("keeping a client's decision: %w", err)
	}
	if err := update(ctx, tx, p); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, p.TeamID, by, "post."+string(p.Approval), p.ID, map[string]any{"round": p.Round})
}

// sanitize returns a decision as it can be kept: what a stranger wrote must not reorder or hide the text around it. Browsers end
// lines by two characters, and count one.
func (d Decision) sanitize() (Decision, error) {
	d.Name, d.Comment = plaintext.Line(d.Name), plaintext.Lines(d.Comment)
	switch {
	case d.Name == "":
		return d, apierr.Invalid(apierr.MissingArgument, "name", "Fill in your name.")
	case utf8.RuneCountInString(d.Name) > maxClientName:
		return d, apierr.Invalid(apierr.TooLong, "name", fmt.Sprintf("A name takes at most %d characters.", maxClientName))
	case utf8.RuneCountInString(d.Comment) > MaxComment:
		return d, apierr.Invalid(apierr.TooLong, "comment", fmt.Sprintf("A comment takes at most %d characters.", MaxComment))
	}
	return d, nil
}
