package settings

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/domain/account"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/web/shell"
)

const eventsAtOnce = 50

// kind is a kind of event in words. The label is what the filter calls it. The sentence follows the name of who did it;
// {name} stands for what the event's detail has under it.
type kind struct{ Name, Group, Label, Sentence string }

// kinds are what may stand in a team's record, in the order in which the filter offers them.
var kinds = []kind{
	{"key.created", "API keys", "API key made", "made an API key of the level {level}"},
	{"key.changed", "API keys", "API key’s level and limit set", "set an API key to the level {level}, " +
		"{daily_credits} in a day"},
	{"key.level_changed", "API keys", "API key’s level changed", "set an API key to the level {level}"},
	{"key.limit_changed", "API keys", "API key’s daily limit changed", "set the daily limit of an API key to {daily_credits}"},
	{"key.end_changed", "API keys", "API key’s end moved", "moved the end of an API key"},
	{"key.revoked", "API keys", "API key revoked", "revoked an API key"},
	{"key.forgotten", "API keys", "API key forgotten", "forgot a revoked API key"},
	{"assistant.connected", "Assistants", "Assistant connected", "connected an assistant, which may {may}"},
	{"assistant.limit_changed", "Assistants", "Assistant’s daily limit changed", "set the daily limit of an assistant to {daily_credits}"},
	{"assistant.end_changed", "Assistants", "Assistant’s end moved", "moved the end of an assistant’s connection"},
	{"assistant.revoked", "Assistants", "Assistant’s connection ended", "ended the connection of an assistant"},
	{"assistant.disconnected", "Assistants", "Assistant gone",
		"ended the connection of an assistant that revoked its " +
			"access or let it expire"},
	{"assistant.forgotten", "Assistants", "Assistant forgotten", "forgot an assistant whose connection had ended"},
	{"team.access", "The team", "API and tool access switched", "switched API and tool access {on}"},
	{"team.second_factor", "The team", "Two-factor authentication requirement", "turned the two-factor authentication requirement {on}"},
	{"team.created", "The team", "Team made", "made the team on the plan {plan}"},
	{"team.changed", "The team", "Settings changed", "changed the team’s settings"},
	{"team.timezone", "The team", "Time zone set", "set the time zone to {timezone}"},
	{"team.plan", "The team", "Plan changed", "put the team on the plan {plan}"},
	{"team.daily_credits", "The team", "Operator’s daily limit set", "set the operator’s daily limit to {credits}"},
	{"team.own_daily_credits", "The team", "Owner’s daily limit set", "set the team’s own daily limit to {credits}"},
	{"team.closed", "The team", "Team closed", "closed the team"},
	{"team.deletion_begun", "The team", "Deletion of the team", "asked for the deletion of the team"},
	{"team.reopened", "The team", "Team opened again", "opened the team again"},
	{"access.paused", "The team", "Pause begun", "paused {action} of the {scope}"},
	{"access.resumed", "The team", "Pause ended", "ended the pause of {action} of the {scope}"},
	{"member.set", "Members", "Role given", "made a member {role}"},
	{"member.removed", "Members", "Member removed", "took a member out of the team"},
	{"member.left", "Members", "Member left", "left the team"},
	{"member.confirmed", "Members", "Member confirmed", "confirmed a new member as {role}"},
	{"member.declined", "Members", "Member declined", "declined somebody who was invited"},
	{"invitation.created", "Members", "Invitation made", "invited somebody as {role}"},
	{"invitation.accepted", "Members", "Invitation accepted", "joined by an invitation as {role}"},
	{"invitation.revoked", "Members", "Invitation taken back", "took an invitation back"},
	{"invitation.waiting", "Members", "Invitation accepted, to be confirmed", "accepted an invitation as {role} and has to be confirmed"},
	{"invitation.not_mailed", "Members", "Invitation not sent", "withdrew an invitation that could not be mailed"},
	{"social_account.connected", "Social accounts", "Account connected", "connected an account on {platform}"},
	{"social_account.expiring", "Social accounts", "Connection about to end", "noticed that an account’s connection is about to end"},
	{"social_account.lost", "Social accounts", "Connection lost", "noticed that an account’s connection is lost"},
	{"social_account.disconnected", "Social accounts", "Account disconnected", "disconnected an account on {platform}"},
	{"social_account.erased", "Social accounts", "Account’s data deleted for the network", "deleted what was kept of " +
		"an account on {platform}, as the network asked"},
	{"post.created", "Posts", "Post made", "made a post"},
	{"post.changed", "Posts", "Post changed", "changed a post"},
	{"post.returned", "Posts", "Post changed and to be approved anew", "changed a post, so that it has to be approved anew"},
	{"post.scheduled", "Posts", "Post scheduled", "scheduled a post"},
	{"post.handed_over", "Posts", "Post handed over for publishing", "handed a post over to be published on {accounts}"},
	{"post.cancelled", "Posts", "Post taken from the schedule", "took a post from the schedule"},
	{"post.deleted", "Posts", "Draft deleted", "deleted a draft"},
	{"post.media_taken", "Posts", "File taken out of a post", "took a file out of a post, to delete it"},
	{"post.recurred", "Posts", "Post made by a series", "made a post of a series"},
	{"post.approval_asked", "Posts", "Client asked", "asked a client to approve a post"},
	{"post.approval_links_revoked", "Posts", "Approval links revoked", "revoked the approval links of a post"},
	{"post.approved", "Posts", "Client approved", "approved a post"},
	{"post.rejected", "Posts", "Client rejected", "rejected a post"},
	{"post.account_published", "Posts", "Published on an account", "published a post on an account"},
	{"post.account_failed", "Posts", "Failed on an account", "could not publish a post on an account: {error_code}"},
	{"post.account_unconfirmed", "Posts", "Not confirmed on an account", "could not find out whether a post was " +
		"published on an account"},
	{"post.account_decided", "Posts", "Unconfirmed account decided", "decided whether a post is on a network: {decision}"},
	{"series.started", "Posts", "Series begun", "began a series"},
	{"series.paused", "Posts", "Series paused", "paused a series by cancelling one of its posts"},
	{"series.resumed", "Posts", "Series gone on with", "went on with a series"},
	{"series.stopped", "Posts", "Series ended by a person", "ended a series"},
	{"series.ended", "Posts", "Series at its end", "came to the end of a series"},
	{"series.skipped", "Posts", "Posts of a series left out", "left {skipped} of a series out whose time was over"},
	{"report.make", "Reports", "Report asked for", "asked for a report"},
	{"report.refresh", "Reports", "Report refreshed", "refreshed a report"},
	{"report.automatic", "Reports", "Report refreshed by tracking", "refreshed a tracked report"},
	{"report.tracked", "Reports", "Tracking switched", "switched tracking of a report {enabled}"},
	{"report.tracking_ended", "Reports", "Tracking ended by itself", "ended tracking of a report: {reason}"},
	{"hashtag.search", "Hashtags", "Hashtag search", "searched for hashtags on {platform}"},
	{"hashtag_list.created", "Hashtags", "Hashtag list made", "made a hashtag list"},
	{"hashtag_list.changed", "Hashtags", "Hashtag list changed", "changed a hashtag list"},
	{"hashtag_list.added_to", "Hashtags", "Hashtags added to a list", "added {hashtags} to a list"},
	{"hashtag_list.removed_from", "Hashtags", "Hashtag taken out of a list", "removed a hashtag from a list"},
	{"hashtag_list.deleted", "Hashtags", "Hashtag list deleted", "deleted a hashtag list"},
	{"brand_voice.created", "Brand voices", "Voice made", "made a brand voice"},
	{"brand_voice.changed", "Brand voices", "Voice changed", "changed a brand voice"},
	{"brand_voice.made_default", "Brand voices", "Voice made the default", "made a brand voice the default"},
	{"brand_voice.deleted", "Brand voices", "Voice deleted", "deleted a brand voice"},
	{"brand_voice.material_added", "Brand voices", "Material added", "added material to a brand voice"},
	{"brand_voice.material_removed", "Brand voices", "Material removed", "removed material from a brand voice"},
	{"media.added", "Media", "File added", "added a file"},
	{"media.described", "Media", "File described", "described a file"},
	{"media.renamed", "Media", "File renamed", "renamed a file"},
	{"media.moved", "Media", "File moved", "moved a file"},
	{"media.deleted", "Media", "File deleted", "deleted a file"},
	{"media.import", "Media", "File imported", "imported a file"},
	{"media.download", "Media", "Profile’s media downloaded", "downloaded a profile’s media on {platform}"},
	{"uploads.opened", "Media", "Upload begun", "began to upload {files}"},
	{"uploads.closed", "Media", "Upload ended", "ended an upload"},
	{"uploads.replaced", "Media", "Upload links made anew", "made new upload links"},
	{"credits.granted", "Credits", "Credits granted", "granted {credits}"},
	{"credits.withdrawn", "Credits", "Credits withdrawn", "withdrew {credits}"},
}

// kindOf describes a kind that the list does not have by its name.
func kindOf(name string) kind {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.Name == name }); i >= 0 {
		return kinds[i]
	}
	return kind{name, "", "", strings.NewReplacer(".", ": ", "_", " ").Replace(name)}
}

// disconnections are the sentences of assistant.disconnected by its reason, which older events do not have.
var disconnections = map[string]string{
	"revoked":       "noticed that an assistant ended its own connection",
	"expired":       "ended the connection of an assistant, because it expired",
	"reused":        "ended the connection of an assistant, because a code or token of it was used twice",
	"invalid":       "ended the connection of an assistant, because it was no longer valid",
	"second_factor": "ended the connection of an assistant that was connected without two-factor authentication",
}

// sentence says what happened, after the name of who did it.
func sentence(e auditlog.Event) string {
	text := kindOf(e.Kind).Sentence
	if reason, ok := e.Detail["reason"].(string); ok && e.Kind == "assistant.disconnected" &&
		disconnections[reason] != "" {
		return disconnections[reason]
	}
	for name, value := range e.Detail {
		text = strings.ReplaceAll(text, "{"+name+"}", detailWords(name, value))
	}
	switch e.Kind {
	case "team.changed":
		return text + changedWords(e.Detail)
	case "team.own_daily_credits", "team.daily_credits":
		return strings.ReplaceAll(text, "<nil>", "what the plan allows")
	}
	return text
}

func changedWords(detail map[string]any) string {
	var out []string
	if detail["renamed"] == true {
		out = append(out, "its name")
	}
	if zone, ok := detail["timezone"]; ok {
		out = append(out, fmt.Sprint("its time zone to ", zone))
	}
	if language, ok := detail["language"]; ok {
		out = append(out, fmt.Sprint("its language to ", language))
	}
	switch detail["keep_originals"] {
	case true:
		out = append(out, "original files are kept with their metadata")
	case false:
		out = append(out, "original files are no longer kept")
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

// nouns are the names of one of what details count.
var nouns = map[string]string{
	"accounts": "account", "skipped": "post", "hashtags": "hashtag", "files": "file", "credits": "credit",
}

// detailWords says one detail of an event.
func detailWords(name string, value any) string {
	switch v := value.(type) {
	case bool:
		if v {
			return "on"
		}
		return "off"
	case float64: // as JSON has numbers
		if name == "daily_credits" {
			return limitWords(int64(v))
		}
		if noun, ok := nouns[name]; ok {
			return shell.Plural(int64(v), noun, noun+"s")
		}
		return shell.Count(int64(v))
	case string:
		switch name {
		case "level":
			return "“" + levelName(access.Level(v)) + "”"
		case "role":
			return strings.ToLower(roleName(access.Role(v)))
		case "platform":
			return shell.NetworkName(v)
		case "may":
			return mayWords(capabilitiesIn(v))
		}
		return strings.ReplaceAll(v, "_", " ")
	}
	return fmt.Sprint(value)
}

// capabilitiesIn reads what an event has with commas between.
func capabilitiesIn(text string) []access.Capability {
	var out []access.Capability
	for part := range strings.SplitSeq(text, ",") {
		out = append(out, access.Capability(part))
	}
	return out
}

// places are where what events are about is shown, by the first part of their kind.
var places = map[string]string{
	"key": "/settings/keys/", "assistant": "/settings/assistants/", "post": "/posts/", "series": "/posts/",
	"report": "/reports/", "member": "/settings/members/", "hashtag_list": "/hashtags/",
	"social_account": "/accounts/", "media": "/media/", "brand_voice": "/voices/",
}

// gone are kinds of events after which there is nothing to be shown any more, or whose subject is no item with a page.
var gone = []string{
	"key.forgotten", "assistant.forgotten", "member.left", "member.removed", "member.declined", "post.deleted",
	"social_account.disconnected", "social_account.erased", "hashtag_list.deleted", "brand_voice.deleted",
	"media.deleted", "media.import", "media.download",
}

// linkOf is where what an event is about is shown; empty where it is nowhere.
func linkOf(e auditlog.Event) string {
	subject, _, _ := strings.Cut(e.Kind, ".")
	place, ok := places[subject]
	if !ok || e.Subject == "" || slices.Contains(gone, e.Kind) {
		return ""
	}
	return place + url.PathEscape(e.Subject)
}

// line is an event as the page shows it.
type line struct {
	auditlog.Event

	Who, Text, Link string
	Client          string // the name that a client gave: a stranger's text
	Post            string // the start of the post's text; empty where it is no post's event, or the post is gone
	// of the API key or assistant that it is about; empty where it is about none, or that is forgotten
	Name    string
	Account string // the network and user name of the account that it is about
}

// operators are the groups in which what nobody of the team did was the operator's doing.
var operators = []string{"API keys", "Assistants", "The team", "Members", "Credits"}

// clients are the kinds of what clients did, who may have no account here.
var clients = []string{"post.approved", "post.rejected"}

// whoOf says who did what happened.
func whoOf(e auditlog.Event) string {
	switch {
	case e.Person != "" && e.Key != "" && e.Assistant:
		return e.Person + ", by the assistant " + e.Key + ","
	case e.Person != "" && e.Key != "":
		return e.Person + ", by the key " + e.Key + ","
	case e.Person != "":
		return e.Person
	case slices.Contains(clients, e.Kind):
		return "The client"
	case e.Kind == "assistant.disconnected":
		return "Pressroom"
	case slices.Contains(operators, kindOf(e.Kind).Group):
		return "The operator"
	}
	return "Pressroom"
}

// auditView is a part of the record.
type auditView struct {
	Lines  []line
	Kind   string
	Groups []group
	Pages  *pager
}

// group is kinds of events that the filter shows together.
type group struct {
	Name  string
	Kinds []kind
}

// groups are all kinds, as the filter shows them.
var groups = func() []group {
	var out []group
	for _, k := range kinds {
		if len(out) == 0 || out[len(out)-1].Name != k.Group {
			out = append(out, group{Name: k.Group})
		}
		last := &out[len(out)-1]
		last.Kinds = append(last.Kinds, k)
	}
	return out
}()

func (p *Part) auditPage(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	view := auditView{Kind: query.Get("kind"), Groups: groups}
	page := auditlog.Page{Kind: view.Kind, Limit: eventsAtOnce + 1}
	first, next := "", ""
	if before := query.Get("before"); before != "" {
		var err error
		if page.BeforeID, err = strconv.ParseInt(before, 10, 64); err != nil || page.BeforeID < 1 {
			p.Refuse(w, r,
				apierr.Invalid(apierr.InvalidCursor, "before",
					"This page of the record is not there. Begin with the first."))
			return
		}
		first = auditPath(view.Kind, 0)
	}
	events, err := auditlog.List(r.Context(), p.DB, here(r), page)
	if err != nil {
		p.Refuse(w, r, err)
		return
	}
	if len(events) > eventsAtOnce {
		events = events[:eventsAtOnce]
		next = auditPath(view.Kind, events[eventsAtOnce-1].ID)
	}
	view.Pages = pagerOf(first, next)
	for _, e := range events {
		e.At = in(e.At, zone(r))
		view.Lines = append(view.Lines, line{Event: e, Who: whoOf(e), Text: sentence(e), Link: linkOf(e)})
	}
	if err := p.name(r, view.Lines); err != nil {
		p.Refuse(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["audit"], "Who did what", view)
}

// name adds the names of what the lines are about, as far as it is still there.
func (p *Part) name(r *http.Request, lines []line) error {
	var posts []string
	var accounts []int64
	for _, l := range lines {
		if l.ofPost() {
			posts = append(posts, l.Subject)
		}
		if id := l.account(); id > 0 {
			accounts = append(accounts, id)
		}
	}
	named, err := p.Posts.Labels(r.Context(), here(r), posts)
	if err != nil {
		return err
	}
	known := map[int64]account.Account{}
	if len(accounts) > 0 {
		if known, err = p.Accounts.Of(r.Context(), p.DB, here(r), accounts); err != nil {
			return err
		}
	}
	if err := p.nameKeys(r, lines); err != nil {
		return err
	}
	for i := range lines {
		l := &lines[i]
		if n, ok := named[l.Subject]; ok && l.ofPost() {
			l.Post = cmp.Or(n.Excerpt, "A post without text")
			round, _ := l.Detail["round"].(float64)
			if slices.Contains(clients, l.Kind) && l.Person == "" { // who is signed in has a name of their own
				l.Client = n.Clients[int64(round)]
			}
		}
		if a, ok := known[l.account()]; ok {
			l.Account = shell.NetworkName(a.Platform) + ", " + a.Username
		}
	}
	return nil
}

// nameKeys adds the names of the API keys and assistants that the lines are about.
func (p *Part) nameKeys(r *http.Request, lines []line) error {
	if !slices.ContainsFunc(lines, line.ofKey) {
		return nil
	}
	keys, err := p.Teams.Keys(r.Context(), here(r))
	if err != nil {
		return err
	}
	names := make(map[string]string, len(keys))
	for _, k := range keys {
		names[strconv.FormatInt(k.ID, 10)] = k.Name
	}
	for i := range lines {
		if lines[i].ofKey() {
			lines[i].Name = names[lines[i].Subject]
		}
	}
	return nil
}

// ofKey tells whether an event is about an API key, or about an assistant's connection, which is one.
func (l line) ofKey() bool {
	subject, _, _ := strings.Cut(l.Kind, ".")
	return subject == "key" || subject == "assistant"
}

// ofPost tells whether an event is about a post, or about the one that a series is made from.
func (l line) ofPost() bool {
	subject, _, _ := strings.Cut(l.Kind, ".")
	return subject == "post" || subject == "series"
}

// account is the id of the account that an event is about; 0 for none.
func (l line) account() int64 {
	if strings.HasPrefix(l.Kind, "social_account.") {
		id, err := strconv.ParseInt(l.Subject, 10, 64)
		if err != nil {
			return 0
		}
		return id
	}
	id, _ := l.Detail["account"].(float64) // as JSON has numbers
	return int64(id)
}

// auditPath is where a part of the record is.
func auditPath(kind string, before int64) string {
	query := url.Values{}
	if kind != "" {
		query.Set("kind", kind)
	}
	if before > 0 {
		query.Set("before", strconv.FormatInt(before, 10))
	}
	if len(query) == 0 {
		return "/settings/audit"
	}
	return "/settings/audit?" + query.Encode()
}
