package settings

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pressroom/internal/access"
	"pressroom/internal/event"
	"pressroom/internal/fault"
	"pressroom/internal/web/frame"
)

const eventsAtOnce = 50

// kind is a kind of event in words. The sentence follows the name of who did it; {name} stands for what the event's
// detail has under it.
type kind struct{ Name, Group, Sentence string }

// kinds are what may stand in a team's record, in the order in which the filter offers them.
var kinds = []kind{
	{"key.created", "API keys", "made an API key, {level}"},
	{"key.changed", "API keys", "set an API key to {level}, {daily_credits} in a day"},
	{"key.level_changed", "API keys", "set an API key to {level}"},
	{"key.limit_changed", "API keys", "set the daily limit of an API key to {daily_credits}"},
	{"key.end_changed", "API keys", "moved the end of an API key"},
	{"key.revoked", "API keys", "revoked an API key"},
	{"key.forgotten", "API keys", "forgot a revoked API key"},
	{"team.access", "The team", "switched API and tool access {on}"},
	{"team.created", "The team", "made the team on the plan {plan}"},
	{"team.changed", "The team", "changed the team’s settings"},
	{"team.timezone", "The team", "set the time zone to {timezone}"},
	{"team.plan", "The team", "put the team on the plan {plan}"},
	{"team.daily_credits", "The team", "set the operator’s daily limit to {credits}"},
	{"team.own_daily_credits", "The team", "set the team’s own daily limit to {credits}"},
	{"team.closed", "The team", "closed the team"},
	{"team.deletion_begun", "The team", "asked for the deletion of the team"},
	{"team.reopened", "The team", "opened the team again"},
	{"access.paused", "The team", "paused {action} of the {scope}"},
	{"access.resumed", "The team", "ended the pause of {action} of the {scope}"},
	{"member.set", "Members", "made a member {role}"},
	{"member.removed", "Members", "took a member out of the team"},
	{"member.left", "Members", "left the team"},
	{"invitation.created", "Members", "invited somebody as {role}"},
	{"invitation.accepted", "Members", "joined by an invitation as {role}"},
	{"invitation.revoked", "Members", "took an invitation back"},
	{"social_account.connected", "Social accounts", "connected an account on {platform}"},
	{"social_account.expiring", "Social accounts", "noticed that an account’s connection is about to end"},
	{"social_account.lost", "Social accounts", "noticed that an account’s connection is lost"},
	{"social_account.disconnected", "Social accounts", "disconnected an account on {platform}"},
	{"social_account.erased", "Social accounts", "deleted what was kept of an account on {platform}, as the network asked"},
	{"post.created", "Posts", "made a post"},
	{"post.changed", "Posts", "changed a post"},
	{"post.returned", "Posts", "changed a post, so that it has to be approved anew"},
	{"post.scheduled", "Posts", "scheduled a post"},
	{"post.handed_over", "Posts", "handed a post over to be published on {accounts}"},
	{"post.cancelled", "Posts", "took a post from the schedule"},
	{"post.deleted", "Posts", "deleted a draft"},
	{"post.media_taken", "Posts", "took a file out of a post, to delete it"},
	{"post.recurred", "Posts", "made a post of a series"},
	{"post.approval_asked", "Posts", "asked a client to approve a post"},
	{"post.approved", "Posts", "noted that a client approved a post"},
	{"post.rejected", "Posts", "noted that a client rejected a post"},
	{"post.account_published", "Posts", "published a post on an account"},
	{"post.account_failed", "Posts", "could not publish a post on an account: {error_code}"},
	{"post.account_unconfirmed", "Posts", "could not find out whether a post was published on an account"},
	{"post.account_decided", "Posts", "decided whether a post is on a network: {decision}"},
	{"series.started", "Posts", "began a series"},
	{"series.resumed", "Posts", "went on with a series"},
	{"series.stopped", "Posts", "ended a series"},
	{"series.ended", "Posts", "came to the end of a series"},
	{"series.skipped", "Posts", "left {skipped} of a series out whose time was over"},
	{"report.make", "Reports", "asked for a report"},
	{"report.refresh", "Reports", "refreshed a report"},
	{"report.automatic", "Reports", "refreshed a tracked report"},
	{"report.tracked", "Reports", "switched tracking of a report {enabled}"},
	{"report.tracking_ended", "Reports", "ended tracking of a report: {reason}"},
	{"hashtag.search", "Hashtags", "searched for hashtags on {platform}"},
	{"hashtag_list.created", "Hashtags", "made a hashtag list"},
	{"hashtag_list.changed", "Hashtags", "changed a hashtag list"},
	{"hashtag_list.added_to", "Hashtags", "added {hashtags} to a list"},
	{"hashtag_list.removed_from", "Hashtags", "removed a hashtag from a list"},
	{"hashtag_list.deleted", "Hashtags", "deleted a hashtag list"},
	{"brand_voice.created", "Brand voices", "made a brand voice"},
	{"brand_voice.changed", "Brand voices", "changed a brand voice"},
	{"brand_voice.made_default", "Brand voices", "made a brand voice the default"},
	{"brand_voice.deleted", "Brand voices", "deleted a brand voice"},
	{"brand_voice.material_added", "Brand voices", "added material to a brand voice"},
	{"brand_voice.material_removed", "Brand voices", "removed material from a brand voice"},
	{"media.added", "Media", "added a file"},
	{"media.described", "Media", "described a file"},
	{"media.renamed", "Media", "renamed a file"},
	{"media.moved", "Media", "moved a file"},
	{"media.deleted", "Media", "deleted a file"},
	{"media.import", "Media", "imported a file"},
	{"media.download", "Media", "downloaded a profile’s media on {platform}"},
	{"uploads.opened", "Media", "began to upload {files}"},
	{"uploads.closed", "Media", "ended an upload"},
	{"uploads.replaced", "Media", "made new upload links"},
	{"credits.granted", "Credits", "granted {credits}"},
	{"credits.withdrawn", "Credits", "withdrew {credits}"},
}

// kindOf describes a kind that the list does not have by its name.
func kindOf(name string) kind {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.Name == name }); i >= 0 {
		return kinds[i]
	}
	return kind{name, "", strings.NewReplacer(".", ": ", "_", " ").Replace(name)}
}

// sentence says what happened, after the name of who did it.
func sentence(e event.Event) string {
	text := kindOf(e.Kind).Sentence
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
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

// nouns are the names of one of what details count.
var nouns = map[string]string{"accounts": "account", "skipped": "post", "hashtags": "hashtag", "files": "file", "credits": "credit"}

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
			return frame.Plural(int64(v), noun, noun+"s")
		}
		return frame.Count(int64(v))
	case string:
		switch name {
		case "level":
			return "“" + levelName(access.Level(v)) + "”"
		case "role":
			return strings.ToLower(roleName(access.Role(v)))
		case "platform":
			return frame.NetworkName(v)
		}
		return strings.ReplaceAll(v, "_", " ")
	}
	return fmt.Sprint(value)
}

// places are where what events are about is shown, by the first part of their kind.
var places = map[string]string{
	"key": "/settings/keys/", "post": "/posts/", "series": "/posts/", "report": "/reports/", "member": "/settings/members/", "hashtag_list": "/hashtags/",
	"social_account": "/accounts/", "media": "/media/", "brand_voice": "/voices/",
}

// gone are kinds of events after which there is nothing to be shown any more, or whose subject is no item with a page.
var gone = []string{"key.forgotten", "member.left", "member.removed", "post.deleted", "social_account.disconnected", "social_account.erased", "hashtag_list.deleted", "brand_voice.deleted", "media.deleted", "media.import", "media.download"}

// linkOf is where what an event is about is shown; empty where it is nowhere.
func linkOf(e event.Event) string {
	subject, _, _ := strings.Cut(e.Kind, ".")
	place, ok := places[subject]
	if !ok || e.Subject == "" || slices.Contains(gone, e.Kind) {
		return ""
	}
	return place + url.PathEscape(e.Subject)
}

// line is an event as the page shows it.
type line struct {
	event.Event

	Who, Text, Link string
}

// operators are the groups in which what nobody of the team did was the operator's doing.
var operators = []string{"API keys", "The team", "Members", "Credits"}

// whoOf says who did what happened.
func whoOf(e event.Event) string {
	switch {
	case e.Person != "" && e.Key != "":
		return e.Person + ", by the key " + e.Key + ","
	case e.Person != "":
		return e.Person
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

// Label is the kind as the filter names it: its sentence without what differs from event to event.
func (k kind) Label() string {
	text, _, _ := strings.Cut(k.Sentence, " {")
	text = strings.TrimSuffix(strings.TrimRight(text, ",:"), " to")
	return strings.ToUpper(text[:1]) + text[1:]
}

func (p *Part) auditPage(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	view := auditView{Kind: query.Get("kind"), Groups: groups}
	page := event.Page{Kind: view.Kind, Most: eventsAtOnce + 1}
	first, next := "", ""
	if before := query.Get("before"); before != "" {
		var err error
		if page.Before, err = strconv.ParseInt(before, 10, 64); err != nil || page.Before < 1 {
			p.Refuse(w, r, fault.Invalid(fault.InvalidCursor, "before", "This page of the record is not there. Begin with the first."))
			return
		}
		first = auditPath(view.Kind, 0)
	}
	events, err := event.List(r.Context(), p.DB, here(r), page)
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
		view.Lines = append(view.Lines, line{e, whoOf(e), sentence(e), linkOf(e)})
	}
	p.Show(w, r, http.StatusOK, pages["audit"], "Who did what", view)
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
