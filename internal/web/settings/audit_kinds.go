package settings

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/web/shell"
)

// kind is a kind of event. Label is its name in the filter. Sentence follows the name of the actor. In Sentence, {name}
// is replaced with the event's detail of that name.
type kind struct {
	Name                   string
	Group, Label, Sentence locale.Key
}

// kinds lists the kinds of events in a team's audit log, in the order of the filter.
var kinds = []kind{
	{"key.created", "API keys", "API key created", "created an API key with the permission {level}"},
	{"key.changed", "API keys", "API key changed",
		"set an API key to the permission {level}, with {daily_credits} per day"},
	{"key.level_changed", "API keys", "API key permission changed", "set an API key to the permission {level}"},
	{"key.renamed", "API keys", "API key renamed", "renamed an API key"},
	{"key.limit_changed", "API keys", "API key daily limit changed",
		"set the daily limit of an API key to {daily_credits}"},
	{"key.end_changed", "API keys", "API key expiry changed", "changed the expiry of an API key"},
	{"key.revoked", "API keys", "API key revoked", "revoked an API key"},
	{"key.forgotten", "API keys", "API key deleted", "deleted a revoked API key"},
	{"assistant.connected", "Apps and assistants", "App connected", "connected an app, which may {may}"},
	{"assistant.limit_changed", "Apps and assistants", "App daily limit changed",
		"set the daily limit of an app to {daily_credits}"},
	{"assistant.end_changed", "Apps and assistants", "App expiry changed", "changed the expiry of an app"},
	{"assistant.revoked", "Apps and assistants", "App disconnected", "disconnected an app"},
	{"assistant.disconnected", "Apps and assistants", "App connection ended",
		"ended the connection of an app that revoked its access or let it expire"},
	{"assistant.forgotten", "Apps and assistants", "App deleted", "deleted a disconnected app"},
	{"team.access", "The team", "API and tool access changed", "turned API and tool access {on}"},
	{"team.second_factor", "The team", "Two-factor authentication requirement",
		"turned the two-factor authentication requirement {on}"},
	{"team.post_options", "The team", "TikTok default changed", "turned the team’s default for TikTok {on}"},
	{"team.created", "The team", "Team created", "created the team on the plan {plan}"},
	{"team.changed", "The team", "Settings changed", "changed the team’s settings"},
	{"team.timezone", "The team", "Time zone changed", "set the time zone to {timezone}"},
	{"team.plan", "The team", "Plan changed", "changed the team’s plan to {plan}"},
	{"team.daily_credits", "The team", "Operator’s daily limit changed", "set the operator’s daily limit to {credits}"},
	{"team.own_daily_credits", "The team", "Owner’s daily limit changed",
		"set the team’s own daily limit to {credits}"},
	{"team.checklist_dismissed", "The team", "Checklist dismissed", "dismissed the checklist on the home page"},
	{"team.closed", "The team", "Team closed", "closed the team"},
	{"team.deletion_begun", "The team", "Team deletion requested", "requested the deletion of the team"},
	{"team.reopened", "The team", "Team reopened", "reopened the team"},
	{"access.paused", "The team", "Pause started", "paused {action} for the {scope}"},
	{"access.resumed", "The team", "Pause ended", "ended the pause of {action} for the {scope}"},
	{"notice_channel.added", "The team", "Notification channel added", "added a notification channel"},
	{"notice_channel.changed", "The team", "Notification channel changed", "changed a notification channel"},
	{"notice_channel.secret_shown", "The team", "Signing secret of a notification channel shown",
		"looked at the signing secret of a notification channel"},
	{"notice_channel.removed", "The team", "Notification channel removed", "removed a notification channel"},
	{"member.set", "Members", "Role changed", "made a member {role}"},
	{"member.removed", "Members", "Member removed", "removed a member from the team"},
	{"member.left", "Members", "Member left", "left the team"},
	{"member.confirmed", "Members", "Member confirmed", "confirmed a new member as {role}"},
	{"member.declined", "Members", "Member declined", "declined an invited person"},
	{"invitation.created", "Members", "Invitation created", "invited a person as {role}"},
	{"invitation.accepted", "Members", "Invitation accepted", "joined as {role} through an invitation"},
	{"invitation.revoked", "Members", "Invitation revoked", "revoked an invitation"},
	{"invitation.waiting", "Members", "Invitation accepted, awaiting confirmation",
		"accepted an invitation as {role} and awaits confirmation"},
	{"invitation.not_mailed", "Members", "Invitation not sent", "withdrew an invitation that could not be emailed"},
	{"social_account.connected", "Social accounts", "Account connected", "connected an account on {platform}"},
	{"social_account.reconnected", "Social accounts", "Account reconnected", "reconnected an account on {platform}"},
	{"social_account.expiring", "Social accounts", "Connection expiring",
		"noticed that an account’s connection expires soon"},
	{"social_account.lost", "Social accounts", "Connection lost", "noticed that an account’s connection was lost"},
	{"social_account.disconnected", "Social accounts", "Account disconnected", "disconnected an account on {platform}"},
	{"social_account.erased", "Social accounts", "Account data deleted at the network’s request",
		"deleted the data of an account on {platform} at the network’s request"},
	{"post.created", "Posts", "Post created", "created a post"},
	{"post.changed", "Posts", "Post changed", "changed a post"},
	{"post.returned", "Posts", "Post changed after approval", "changed a post, so that it needs approval again"},
	{"post.scheduled", "Posts", "Post scheduled", "scheduled a post"},
	{"post.handed_over", "Posts", "Publishing started", "started publishing a post on {accounts}"},
	{"post.cancelled", "Posts", "Post unscheduled", "unscheduled a post"},
	{"post.archived", "Posts", "Failed post archived", "archived a failed post"},
	{"post.unarchived", "Posts", "Archived post restored", "restored an archived post"},
	{"post.deleted", "Posts", "Draft deleted", "deleted a draft"},
	{"post.media_taken", "Posts", "File removed from a post", "removed a file from a post to delete it"},
	{"post.recurred", "Posts", "Post created by a series", "created a post of a series"},
	{"post.approval_asked", "Posts", "Approval requested", "asked a client to approve a post"},
	{"post.approval_links_revoked", "Posts", "Approval links revoked", "revoked the approval links of a post"},
	{"post.commented", "Posts", "Client commented", "commented on a post"},
	{"post.comment_answered", "Posts", "Comment answered", "answered a client’s comment on a post"},
	{"post.comments_set_aside", "Posts", "Comments marked as answered", "marked the client’s comments on a post as answered"},
	{"post.approved", "Posts", "Client approved", "approved a post"},
	{"post.rejected", "Posts", "Client requested changes", "requested changes to a post"},
	{"post.account_published", "Posts", "Published on an account", "published a post"},
	{"post.account_failed", "Posts", "Failed on an account", "could not publish a post"},
	{"post.account_unconfirmed", "Posts", "Unconfirmed on an account",
		"could not find out whether a post was published"},
	{"post.first_comment_published", "Posts", "First comment published", "commented on a post"},
	{"post.first_comment_failed", "Posts", "First comment failed", "could not comment on a post"},
	{"post.first_comment_unconfirmed", "Posts", "First comment unconfirmed",
		"could not find out whether a comment was published"},
	{"post.first_comment_decided", "Posts", "Unconfirmed first comment resolved",
		"recorded that a first comment was {decision}"},
	{"post.account_decided", "Posts", "Unconfirmed post resolved",
		"recorded that a post was {decision}"},
	{"series.started", "Posts", "Series started", "started a series"},
	{"series.paused", "Posts", "Series paused", "paused a series by unscheduling one of its posts"},
	{"series.resumed", "Posts", "Series resumed", "resumed a series"},
	{"series.stopped", "Posts", "Series ended by a person", "ended a series"},
	{"series.ended", "Posts", "Series completed", "completed a series"},
	{"series.skipped", "Posts", "Posts of a series skipped", "skipped {skipped} of a series whose time had passed"},
	{"report.make", "Reports", "Report created", "created a report"},
	{"report.refresh", "Reports", "Report refreshed", "refreshed a report"},
	{"report.automatic", "Reports", "Report refreshed by tracking", "refreshed a tracked report"},
	{"report.tracked", "Reports", "Tracking changed", "turned tracking of a report {enabled}"},
	{"report.tracking_ended", "Reports", "Tracking ended automatically", "ended tracking of a report: {reason}"},
	{"report.link_created", "Reports", "Report shared", "created a share link to a report, which works for {days}"},
	{"report.link_revoked", "Reports", "Share link revoked", "revoked a share link to a report"},
	{"report.mail_scheduled", "Reports", "Report emails scheduled", "scheduled {period} emails of a report"},
	{"report.mail_stopped", "Reports", "Report emails stopped", "stopped the emails of a report"},
	{"report.recipient_added", "Reports", "Report recipient added", "added a recipient to the emails of a report"},
	{"report.recipient_removed", "Reports", "Report recipient removed", "removed a recipient from the emails of a report"},
	{"report.recipient_unsubscribed", "Reports", "Report recipient unsubscribed", "unsubscribed from the emails of a report"},
	{"hashtag.search", "Hashtags", "Hashtag search", "searched for hashtags on {platform}"},
	{"hashtag_list.created", "Hashtags", "Hashtag list created", "created a hashtag list"},
	{"hashtag_list.changed", "Hashtags", "Hashtag list changed", "changed a hashtag list"},
	{"hashtag_list.added_to", "Hashtags", "Hashtags added to a list", "added {hashtags} to a list"},
	{"hashtag_list.removed_from", "Hashtags", "Hashtag removed from a list", "removed a hashtag from a list"},
	{"hashtag_list.deleted", "Hashtags", "Hashtag list deleted", "deleted a hashtag list"},
	{"brand_voice.created", "Brand voices", "Voice created", "created a brand voice"},
	{"brand_voice.changed", "Brand voices", "Voice changed", "changed a brand voice"},
	{"brand_voice.made_default", "Brand voices", "Default voice changed", "made a brand voice the default"},
	{"brand_voice.deleted", "Brand voices", "Voice deleted", "deleted a brand voice"},
	{"brand_voice.material_added", "Brand voices", "Material added", "added material to a brand voice"},
	{"brand_voice.material_removed", "Brand voices", "Material removed", "removed material from a brand voice"},
	{"media.added", "Media", "File added", "added a file"},
	{"media.described", "Media", "Alt text changed", "changed the alt text of a file"},
	{"media.renamed", "Media", "File renamed", "renamed a file"},
	{"media.moved", "Media", "File moved", "moved a file"},
	{"media.deleted", "Media", "File deleted", "deleted a file"},
	{"media.import", "Media", "File imported", "imported a file"},
	{"media.download", "Media", "Profile media downloaded", "downloaded a profile’s media on {platform}"},
	{"uploads.opened", "Media", "Upload started", "started an upload of {files}"},
	{"uploads.closed", "Media", "Upload ended", "ended an upload"},
	{"uploads.replaced", "Media", "Upload links replaced", "replaced upload links"},
	{"credits.granted", "Credits", "Credits granted", "granted {credits}"},
	{"credits.withdrawn", "Credits", "Credits withdrawn", "withdrew {credits}"},
}

// kindOf returns the kind with the given name. For an unknown kind, it derives the sentence from the name.
func kindOf(name string) kind {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.Name == name }); i >= 0 {
		return kinds[i]
	}
	return kind{name, "", "", locale.Key(strings.NewReplacer(".", ": ", "_", " ").Replace(name))}
}

// EventLabel returns the label of a kind of event. For an unknown kind, it derives the label from the name.
func EventLabel(l *locale.Language, name string) string {
	if k := kindOf(name); k.Label != "" {
		return l.T(k.Label)
	}
	words := strings.NewReplacer(".", " ", "_", " ").Replace(name)
	return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):]
}

// EventReason returns the details that say why or how an event happened, or "" if there are none.
func EventReason(l *locale.Language, kind string, detail map[string]any) string {
	names := placeholder.FindAllString(string(kindOf(kind).Sentence), -1)
	var out []string
	for _, name := range append(names, "{error_code}", "{reason}", "{decision}") {
		name = strings.Trim(name, "{}")
		value, ok := detail[name]
		if text := detailWords(l, name, value); ok && value != nil && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// EventKind is a kind of event that can be selected in a filter.
type EventKind struct {
	Name         string
	Group, Label locale.Key
}

// EventKinds returns the kinds of events in a team's audit log, ordered by group.
func EventKinds() []EventKind {
	out := make([]EventKind, len(kinds))
	for i, k := range kinds {
		out[i] = EventKind{k.Name, k.Group, k.Label}
	}
	return out
}

// groupIcons maps groups of kinds to their icons.
var groupIcons = map[locale.Key]string{
	"API keys": "key-2-line", "Apps and assistants": "robot-2-line", "The team": "building-4-line", "Members": "team-line",
	"Social accounts": "share-line", "Posts": "file-list-2-line", "Reports": "bar-chart-line", "Hashtags": "hashtag",
	"Brand voices": "quill-pen-line", "Media": "image-line", "Credits": "bank-card-line",
}

// kindIcons maps kinds of events to icons that differ from the icon of their group.
var kindIcons = map[string]string{
	"post.approved": "check-line", "post.rejected": "pencil-line", "post.commented": "chat-1-line",
	"post.comment_answered": "chat-1-line", "post.approval_asked": "send-plane-line", "post.account_published": "check-line",
	"post.account_failed": "error-warning-line", "post.account_unconfirmed": "question-line",
	"social_account.lost": "error-warning-line", "post.scheduled": "calendar-line", "post.deleted": "delete-bin-line",
	"media.deleted": "delete-bin-line", "hashtag_list.deleted": "delete-bin-line", "brand_voice.deleted": "delete-bin-line",
}

// EventIcon returns the icon of a kind of event.
func EventIcon(name string) string {
	if icon, ok := kindIcons[name]; ok {
		return icon
	}
	if icon, ok := groupIcons[kindOf(name).Group]; ok {
		return icon
	}
	return "user-line"
}

// disconnectionSentences maps reasons of assistant.disconnected events to sentences. Older events have no reason.
var disconnectionSentences = map[string]locale.Key{
	"revoked":       "noticed that an app ended its own connection",
	"expired":       "ended the connection of an app, because it expired",
	"reused":        "ended the connection of an app, because one of its codes or tokens was used twice",
	"invalid":       "ended the connection of an app, because it was no longer valid",
	"second_factor": "ended the connection of an app that was connected without two-factor authentication",
}

// sentence describes an event. The text follows the actor's name.
func sentence(l *locale.Language, e auditlog.Event) string {
	text := l.T(kindOf(e.Kind).Sentence)
	if reason, ok := e.Detail["reason"].(string); ok && e.Kind == "assistant.disconnected" &&
		disconnectionSentences[reason] != "" {
		return l.T(disconnectionSentences[reason])
	}
	for name, value := range e.Detail {
		text = strings.ReplaceAll(text, "{"+name+"}", detailWords(l, name, value))
	}
	switch e.Kind {
	case "team.changed":
		return text + changedWords(l, e.Detail)
	case "team.own_daily_credits", "team.daily_credits":
		return strings.ReplaceAll(text, "<nil>", l.T("the plan’s limit"))
	}
	return text
}

func changedWords(l *locale.Language, detail map[string]any) string {
	var out []string
	if detail["renamed"] == true {
		out = append(out, l.T("its name"))
	}
	if zone, ok := detail["timezone"]; ok {
		out = append(out, l.T("its time zone to %s", zone))
	}
	if language, ok := detail["language"]; ok {
		out = append(out, l.T("its language to %s", language))
	}
	switch detail["keep_originals"] {
	case true:
		out = append(out, l.T("original files are kept with their metadata"))
	case false:
		out = append(out, l.T("original files are no longer kept"))
	}
	if len(out) == 0 {
		return ""
	}
	return ": " + strings.Join(out, ", ")
}

// countWords formats a numeric detail with its unit. It returns false for a detail that has no unit.
func countWords(l *locale.Language, name string, n int64) (string, bool) {
	switch name {
	case "daily_credits":
		return limitWords(l, n), true
	case "accounts":
		return l.N(n, "%d account", "%d accounts"), true
	case "days":
		return l.N(n, "%d day", "%d days"), true
	case "skipped":
		return l.N(n, "%d post", "%d posts"), true
	case "hashtags":
		return l.N(n, "%d hashtag", "%d hashtags"), true
	case "files":
		return l.N(n, "%d file", "%d files"), true
	case "credits":
		return l.N(n, "%d credit", "%d credits"), true
	}
	return "", false
}

// detailTexts maps the names and values of details to texts.
var detailTexts = map[string]locale.Key{
	"action/api":             "api|paused",
	"action/everything":      "everything|paused",
	"action/spend":           "spend|paused",
	"action/publish":         "publish|paused",
	"scope/service":          "service|of a pause",
	"scope/team":             "team|of a pause",
	"scope/key":              "key|of a pause",
	"decision/published":     "published|decision",
	"decision/not_published": "not published|decision",
	"period/weekly":          "weekly|of emails",
	"period/monthly":         "monthly|of emails",
	"reason/credits":         "credits|reason",
	"reason/plan":            "plan|reason",
}

// errorTexts maps the error codes of posts to texts.
var errorTexts = map[string]locale.Key{
	"rejected_content":        "rejected content|error",
	"rejected_media":          "rejected media|error",
	"duplicate_content":       "duplicate content|error",
	"account_needs_reauth":    "account must be reconnected|error",
	"rate_limited":            "rate limited|error",
	"quota_used_up":           "quota used up|error",
	"network_error":           "network error|error",
	"not_confirmed":           "not confirmed|error",
	"missed_waiting_approval": "not approved in time|error",
	"preflight_blocked":       "blocked by network checks|error",
	"plan_limit_reached":      "plan limit reached|error",
	"missed_while_held":       "publishing was on hold|error",
	"server_not_allowed":      "server not allowed|error",
	"app_not_approved":        "app not approved|error",
	"thread_interrupted":      "thread interrupted|error",
}

// detailWords describes one detail of an event.
func detailWords(l *locale.Language, name string, value any) string {
	switch v := value.(type) {
	case bool:
		if v {
			return l.T("on|turned")
		}
		return l.T("off|turned")
	case float64: // JSON number
		if text, ok := countWords(l, name, int64(v)); ok {
			return text
		}
		return l.Count(int64(v))
	case string:
		switch name {
		case "level":
			return l.T("“%s”", levelName(l, access.Level(v)))
		case "role":
			return shell.RoleName(l, access.Role(v))
		case "platform":
			return shell.NetworkName(v)
		case "may":
			return capabilityText(l, parseCapabilities(v))
		case "error_code":
			if text, ok := errorTexts[v]; ok {
				return l.T(text)
			}
		}
		if text, ok := detailTexts[name+"/"+v]; ok {
			return l.T(text)
		}
		return strings.ReplaceAll(v, "_", " ")
	}
	return fmt.Sprint(value)
}

// parseCapabilities parses the comma-separated capabilities in an event's detail.
func parseCapabilities(text string) []access.Capability {
	var out []access.Capability
	for part := range strings.SplitSeq(text, ",") {
		out = append(out, access.Capability(part))
	}
	return out
}
