// Package notification notifies people of events in their teams and changes to their accounts. Notifications appear in
// the app, are sent by email if there is a mail server, and are sent to the channels that the operator set up. A
// Notification is stored for one person. The transaction that records an event stores a Notification for each person
// who can act on the event.
package notification

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

// Kind is the kind of a notification.
type Kind string

// The kinds of notifications about teams.
const (
	PostFailed      Kind = "post_failed"
	PostUnconfirmed Kind = "post_unconfirmed"
	CommentFailed   Kind = "first_comment_failed"
	AccountLost     Kind = "account_lost"
	ApprovalAsked   Kind = "approval_asked"
	ApprovalDecided Kind = "approval_decided"
	ApprovalComment Kind = "approval_comment"
	CreditsLow      Kind = "credits_low"
	TrackingStopped Kind = "tracking_stopped"
	KeyChanged      Kind = "key_changed"

	AssistantConnected Kind = "assistant_connected"
)

// KindInfo describes a kind of notification.
type KindInfo struct {
	Kind        Kind
	Name        locale.Key
	Plural      locale.Key // subject of an email with several notifications, such as "%d accounts need to be reconnected"
	Roles       []access.Role
	NotifyActor bool // whether the person who caused the event is notified too, in any role
}

// The roles that are notified of different kinds of events.
var (
	publisherRoles = []access.Role{access.Owner, access.Admin, access.Editor}
	managerRoles   = []access.Role{access.Owner, access.Admin}
	ownerRoles     = []access.Role{access.Owner}
	// deciderRoles includes clients, who can also approve posts in the app.
	deciderRoles = []access.Role{access.Owner, access.Admin, access.Editor, access.Client}
)

// Kinds lists the kinds of notifications about teams, in the order of the notification settings.
var Kinds = []KindInfo{
	{PostFailed, "A post failed", "%d times a post could not be published", publisherRoles, false},
	{PostUnconfirmed, "A post couldn’t be confirmed", "%d posts couldn’t be confirmed", publisherRoles, false},
	{CommentFailed, "A first comment failed", "%d first comments failed", publisherRoles, false},
	{AccountLost, "An account needs to be reconnected", "%d accounts need to be reconnected", managerRoles, false},
	{ApprovalAsked, "A post is waiting for the client’s approval", "%d posts are waiting for the client’s approval",
		deciderRoles, false},
	{ApprovalDecided, "The client approved a post or requested changes", "The client decided %d times", publisherRoles, false},
	{ApprovalComment, "The client commented on a post", "The client commented %d times", publisherRoles, false},
	{CreditsLow, "Credits are low", "Credits ran low %d times", managerRoles, false},
	{TrackingStopped, "Report tracking stopped", "Tracking of %d reports stopped", managerRoles, false},
	{KeyChanged, "An API key was created or changed", "API keys were created or changed %d times", ownerRoles, false},
	{AssistantConnected, "An app or assistant was connected, or its daily limit changed",
		"Apps and assistants were connected or changed %d times", managerRoles, true},
}

func (k Kind) info() KindInfo {
	for _, a := range slices.Concat(Kinds, accountKinds) {
		if a.Kind == k {
			return a
		}
	}
	return KindInfo{Kind: k, Name: locale.Key(k), Plural: "%d notifications"}
}

// joinKinds returns kinds as stored: separated, preceded and followed by commas, so that LIKE can find one of them.
func joinKinds(kinds []Kind) string {
	if len(kinds) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteByte(',')
	for _, k := range kinds {
		out.WriteString(string(k) + ",")
	}
	return out.String()
}

// splitKinds is the inverse of joinKinds.
func splitKinds(text string) []Kind {
	var out []Kind
	for part := range strings.SplitSeq(strings.Trim(text, ","), ",") {
		if part != "" {
			out = append(out, Kind(part))
		}
	}
	return out
}

// Name returns the name of a kind.
func (k Kind) Name() locale.Key { return k.info().Name }

// detail has the values in a notification's text.
type detail struct {
	Event     string `json:"event"`               // kind of the event
	Status    string `json:"status,omitempty"`    // status of the post after a client's decision
	Commented bool   `json:"commented,omitempty"` // whether the client left a comment with the decision
	// whether an approved post could not be scheduled
	NotScheduled bool   `json:"not_scheduled,omitempty"`
	Platform     string `json:"platform,omitempty"` // platform of an account
	Name         string `json:"name,omitempty"`     // name of an account, key or assistant
	Reason       string `json:"reason,omitempty"`   // reason of a failure, or a person's decision
	Level        string `json:"level,omitempty"`
	Capabilities string `json:"may,omitempty"` // capabilities of an assistant, separated by commas
	Credits      int64  `json:"credits,omitempty"`
	Browser      string `json:"browser,omitempty"` // browser where an account was changed
	On           bool   `json:"on,omitempty"`      // whether operator access was granted

	Revoked []string `json:"revoked,omitempty"` // names of revoked keys and invitations
	More    int      `json:"more,omitempty"`    // how many more were revoked

	ByOperator bool `json:"by_operator,omitempty"` // whether the operator made the decision
	SameLevel  bool `json:"same_level,omitempty"`  // whether only the daily limit of a key changed
	// new daily limit of a key in credits, or plan.Unlimited
	Limit       *int64 `json:"limit,omitempty"`
	LimitBefore *int64 `json:"limit_before,omitempty"` // previous limit; nil if unknown
}

// Notification is a stored notification of one person.
type Notification struct {
	ID       int64
	Team     int64 // 0 for the person's own account
	TeamName string
	Kind     Kind
	Subject  string    // ID of the post, account, key or other item that the notification is about
	At       time.Time // in the person's time zone, or else the team's
	Read     bool
	Unmailed bool   // whether its email could not be sent
	Post     string // beginning of the post's text, written by a user; may be empty
	status   string // current status of the post; empty if it was deleted
	Client   string // name that the client entered; may be empty
	Quote    string // the client's comment; may be empty
	detail   detail
}

// SameResult reports whether two notifications are about the same result of a post, on different accounts.
func (n Notification) SameResult(o Notification) bool {
	return (n.Kind == PostFailed || n.Kind == PostUnconfirmed) && n.Kind == o.Kind && n.Team == o.Team && n.Subject == o.Subject
}

// ChangesRequested reports whether the notification is about a client who requested changes to a post.
func (n Notification) ChangesRequested() bool {
	return n.Kind == ApprovalDecided && n.detail.Event != "post.approved"
}

// Platform returns the platform of the notification's account, or "" if it is not about an account.
func (n Notification) Platform() string { return n.detail.Platform }

// Name returns the name of the notification's account, key or assistant. The name is user input and may be empty.
func (n Notification) Name() string { return n.detail.Name }

// Browser returns the browser where the person's account was changed, or "" if unknown.
func (n Notification) Browser(l *locale.Language) string {
	browser, system, found := strings.Cut(n.detail.Browser, " on ")
	switch {
	case n.detail.Browser == "Unknown browser":
		return l.T("Unknown browser")
	case !found:
		return n.detail.Browser
	case browser == "Browser":
		return l.T("Browser on %s", system)
	}
	return l.T("%s on %s|browser", browser, system)
}

// Text returns the notification as one or more sentences in a language. It contains no user input except the names of
// revoked keys and invitations. Links in these names are disabled.
func (n Notification) Text(l *locale.Language) string {
	d := n.detail
	switch n.Kind {
	case PostFailed:
		return l.T(postFailedText(d, n.status))
	case PostUnconfirmed:
		return l.T("A network did not confirm a post. Check whether it was published, then record the result here.")
	case CommentFailed:
		return l.T(commentFailedText(d.Event))
	case AccountLost:
		return l.T("An account was disconnected. Its posts wait until you reconnect it.")
	case ApprovalAsked:
		return l.T("A post is waiting for the client’s approval. Clients in the team can decide on its page.")
	case ApprovalDecided:
		return l.T(approvalText(d))
	case ApprovalComment:
		return l.T("The client commented on a post.")
	case CreditsLow:
		return l.T("The team has fewer than %s credits left.", formatNumber(l, d.Credits))
	case TrackingStopped:
		if d.Reason == "credits" {
			return l.T("Tracking of a report stopped: the team has too few credits for its next refresh.")
		}
		return l.T("Tracking of a report stopped: the team’s plan no longer includes it.")
	case KeyChanged:
		return keyText(l, d)
	case AssistantConnected:
		return assistantText(l, d)
	case PasswordChanged, RecoveryUsed, NewBrowser, PasskeysChanged, FactorsChanged, AddressChanged, OperatorChanged:
		return d.accountText(l)
	}
	return l.T(n.Kind.info().Name) + "."
}

// commentFailedText returns the text about a first comment that failed or is unconfirmed.
func commentFailedText(event string) locale.Key {
	switch event {
	case "post.first_comment_unconfirmed":
		return "A network did not confirm the first comment of a post. Check the post there, then record the result here."
	case commentDecidedEvent:
		return "The first comment of a post is marked as not published and can be retried. The post itself is published."
	}
	return "A post was published, but not its first comment. See what went wrong, then try again."
}

// postFailedText returns the text about a post that failed, or that a person did not find on the network.
func postFailedText(d detail, status string) locale.Key {
	switch {
	case d.Event != decidedEvent && status == "partially_published":
		return "A post failed on some accounts. See what went wrong, then try again."
	case d.Event != decidedEvent:
		return "A post couldn’t be published. See what went wrong, then try again."
	case d.ByOperator:
		return "The operator checked the network and did not find a post. It is marked as failed and can be retried."
	}
	return "A member of your team checked the network and did not find a post. It is marked as failed and can be retried."
}

// approvalText returns the text about a client's decision and the next step.
func approvalText(d detail) locale.Key {
	switch {
	case d.Event != "post.approved" && d.Commented:
		return "The client requested changes to a post and left a comment."
	case d.Event != "post.approved":
		return "The client requested changes to a post."
	case d.Status == "failed":
		return "The client approved a post whose time had passed. Retry it to publish it."
	case d.NotScheduled:
		return "The client approved a post, but it could not be scheduled. Open it to see why."
	case d.Status == "draft":
		return "The client approved a post. It is still a draft: schedule or publish it."
	case d.Status == "scheduled":
		return "The client approved a post. It will be published at its scheduled time."
	}
	return "The client approved a post."
}

// levelTexts describes the levels of API keys.
var levelTexts = map[string]locale.Key{
	string(access.ReadOnly): "It can read.", string(access.Drafts): "It can read and create drafts.",
	string(access.Full): "It can read, write, publish and spend credits.",
}

func keyText(l *locale.Language, d detail) string {
	const revokeAdvice locale.Key = "If nobody on your team changed it, revoke it."
	level := l.T(levelTexts[d.Level])
	switch {
	case d.Event == "key.created":
		return joinSentences(l.T("An API key was created."), level, l.T("If nobody on your team created it, revoke it."))
	case d.SameLevel || d.Event == "key.limit_changed":
		return joinSentences(limitText(l, d, "An API key was changed: its daily limit was %s and is now %s.",
			"An API key was changed: its daily limit is now %s."), l.T(revokeAdvice))
	case d.Limit != nil:
		return joinSentences(l.T("An API key was changed."), level, limitText(l, d, "Its daily limit was %s and is now %s.",
			"Its daily limit is now %s."), l.T(revokeAdvice))
	}
	return joinSentences(l.T("An API key was changed."), level, l.T(revokeAdvice))
}

// joinSentences joins sentences with spaces.
func joinSentences(sentences ...string) string { return strings.Join(sentences, " ") }

// capabilityNames describes the capabilities of assistants.
var capabilityNames = map[string]locale.Key{
	string(access.Read): "read|capability", string(access.Write): "create drafts|capability",
	string(access.Publish): "publish|capability", string(access.Spend): "spend credits",
}

func assistantText(l *locale.Language, d detail) string {
	if d.Event != "assistant.connected" {
		return joinSentences(limitText(l, d, "An app’s daily limit was %s and is %s now.", "An app’s daily limit is %s now."),
			l.T("If nobody on your team changed it, revoke the connection."))
	}
	var capabilityTexts []string
	for part := range strings.SplitSeq(d.Capabilities, ",") {
		capabilityTexts = append(capabilityTexts, l.T(capabilityNames[part]))
	}
	return joinSentences(l.T("An app was connected. It can %s.", l.And(capabilityTexts)),
		l.T("If nobody on your team connected it, revoke the connection."))
}

// limitText returns a sentence about the new daily limit of a key and, if known, the old limit.
func limitText(l *locale.Language, d detail, withBefore, withoutBefore locale.Key) string {
	limit := int64(plan.Unlimited)
	if d.Limit != nil {
		limit = *d.Limit
	}
	if d.LimitBefore == nil {
		return l.T(withoutBefore, formatLimit(l, limit))
	}
	return l.T(withBefore, formatLimit(l, *d.LimitBefore), formatLimit(l, limit))
}

func formatLimit(l *locale.Language, credits int64) string {
	switch credits {
	case plan.Unlimited:
		return l.T("none|daily limit")
	case 1:
		return l.T("1 credit")
	}
	return l.T("%s credits", formatNumber(l, credits))
}

// formatNumber formats a number, in English without thousands separators.
func formatNumber(l *locale.Language, n int64) string {
	if l.IsEnglish() {
		return strconv.FormatInt(n, 10)
	}
	return l.Count(n)
}

// Path returns the path of the page about the notification's subject.
func (n Notification) Path() string {
	switch n.Kind {
	case AccountLost:
		return "/accounts"
	case CreditsLow:
		return "/settings/credits"
	case TrackingStopped:
		return "/reports/" + n.Subject
	case KeyChanged:
		return "/settings/keys/" + n.Subject
	case AssistantConnected:
		return "/settings/assistants/" + n.Subject
	case PostFailed, PostUnconfirmed, CommentFailed, ApprovalAsked, ApprovalDecided:
		return "/posts/" + n.Subject
	case ApprovalComment:
		return "/posts/" + n.Subject + "#comments"
	case PasswordChanged, RecoveryUsed, NewBrowser, PasskeysChanged, FactorsChanged, AddressChanged, OperatorChanged:
		return "/account"
	}
	return "/notices"
}

// Options configures a Service.
type Options struct {
	PublicURL string                            // base URL of links in emails, without a trailing slash
	Send      func(context.Context, Mail) error // sends an email; nil if there is no mail server
	Log       *slog.Logger
	Sealer    *tokencrypt.Sealer // encrypts the addresses of channels
	Client    *safehttp.Client   // calls channels
}

// Service stores notifications and sends them by email and to channels.
type Service struct {
	Options

	db *db.DB
}

// New returns a Service.
func New(d *db.DB, o Options) *Service { return &Service{o, d} }

// Mails reports whether there is a mail server.
func (s *Service) Mails() bool { return s.Send != nil }
