package settings

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/teamtime"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]auditlog.Event{
		"Ada created a post /posts/p1": {Person: "Ada", Key: "robot", Kind: "post.created", Subject: "p1"},
		"The operator changed the team’s plan to agency ": {
			Kind: "team.plan", Subject: "1", Detail: map[string]any{"plan": "agency", "until": 0.0},
		},
		"Ada set an API key to the permission “Full”, with no limit per day " +
			"/settings/keys/3": {
			Person: "Ada", Kind: "key.changed", Subject: "3", Detail: map[string]any{"level": "full", "daily_credits": -1.0},
		},
		"Ada turned API and tool access off ": {Person: "Ada", Kind: "team.access", Subject: "1",
			Detail: map[string]any{"on": false}},
		"Ada set the team’s own daily limit to the plan’s limit ": {Person: "Ada", Kind: "team.own_daily_credits",
			Detail: map[string]any{"credits": nil}},
		"Ada changed the team’s settings: its name, its time zone to " +
			"Asia/Tokyo ": {Person: "Ada", Kind: "team.changed", Detail: map[string]any{"renamed": true, "timezone": "Asia/Tokyo"}},
		"Ada changed the team’s settings: original files are kept with " +
			"their metadata ": {Person: "Ada", Kind: "team.changed", Detail: map[string]any{"renamed": false, "keep_originals": true}},
		"pressroom could not publish a post /posts/p2": {
			Kind: "post.account_failed", Subject: "p2", Detail: map[string]any{"error_code": "rejected_content"},
		},
		"Ada connected an app, which may read and spend credits " +
			"/settings/assistants/3": {
			Person: "Ada", Kind: "assistant.connected", Subject: "3", Detail: map[string]any{"may": "read,spend"},
		},
		"The operator disconnected an app " +
			"/settings/assistants/3": {Kind: "assistant.revoked", Subject: "3"},
		"pressroom ended the connection of an app that revoked its access or let it expire " +
			"/settings/assistants/3": {Kind: "assistant.disconnected", Subject: "3"},
		"pressroom noticed that an app ended its own connection /settings/assistants/3": {
			Kind: "assistant.disconnected", Subject: "3", Detail: map[string]any{"reason": "revoked"},
		},
		"Ada removed a member from the team ":  {Person: "Ada", Kind: "member.removed", Subject: "4"},
		"The client approved a post /posts/p3": {Kind: "post.approved", Subject: "p3", Detail: map[string]any{"round": 1.0}},
		"Ada thing: new kind ":                 {Person: "Ada", Kind: "thing.new_kind", Subject: "4"},
	} {
		if got := actorOf(locale.English, e) + " " + sentence(locale.English, e) + " " + linkOf(e); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestKinds checks that every kind has a sentence and a unique name in the filter.
func TestKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range kinds {
		label := string(k.Label)
		if seen[k.Name] || seen[label] || k.Group == "" || label == "" || strings.ContainsAny(label, "{}") ||
			strings.ToUpper(label[:1]) != label[:1] {
			t.Errorf("%+v", k)
		}
		seen[k.Name], seen[label] = true, true
		text, german := string(k.Sentence), locale.German.T(k.Sentence)
		if !slices.Equal(detailNames(text), detailNames(german)) {
			t.Errorf("%q has other details than %q", german, text)
		}
	}
}

var detailName = regexp.MustCompile(`\{\w+\}`)

func detailNames(text string) []string {
	out := detailName.FindAllString(text, -1)
	slices.Sort(out)
	return out
}

func TestStatementWords(t *testing.T) {
	t.Parallel()
	for want, i := range map[string]credit.Item{
		"Credits granted by The operator": {Kind: credit.KindGrant},
		"Report: reserved by Key robot": {
			Kind: credit.KindReserve, Operation: "create_report", Person: "Ada", Key: "robot", Amount: 5,
		},
		"Report: reserved by App Claude": {
			Kind: credit.KindReserve, Operation: "create_report", Person: "Ada", Key: "Claude", Assistant: true, Amount: 5,
		},
		"Hashtag search: charged by Ada": {
			Kind: credit.KindSettle, Operation: "search_hashtags", Person: "Ada", Amount: 3, Charged: 3,
		},
		"Report: refunded by Ada": {
			Kind: credit.KindSettle, Operation: "create_report", Person: "Ada", Amount: 5,
		},
		"Download of a profile’s media: partially charged by Ada": {
			Kind: credit.KindSettle, Operation: "download_profile_media", Person: "Ada", Amount: 4, Charged: 2,
		},
		"Refresh of a report: reserved by Tracking, turned on by Ada": {
			Kind: credit.KindReserve, Operation: "refresh_report", Person: "Ada", Automatic: true, Amount: 2,
		},
		"something new: charged by Ada": {Kind: credit.KindSettle, Operation: "something_new", Person: "Ada", Amount: 1, Charged: 1},
	} {
		if got := itemDescription(locale.English, i) + " by " + actorName(locale.English, i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestEndOf checks that a key is valid until the end of its last day in the team's time zone, even on days with 25
// hours.
func TestEndOf(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for day, want := range map[string]string{
		"2026-10-25": "2026-10-25T23:00:00Z", "2026-12-31": "2026-12-31T23:00:00Z", "2027-03-27": "2027-03-27T23:00:00Z",
	} {
		at, err := endOfDay(day, berlin)
		if err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s ends %v, want %s (%v)", day, at.UTC(), want, err)
		}
	}
	if at, err := endOfDay("", berlin); err != nil || !at.IsZero() {
		t.Errorf("empty day: %v (%v)", at, err)
	}
	if _, err := endOfDay("31.12.2026", berlin); err == nil {
		t.Error("an invalid date is accepted")
	}
}

// TestLists checks that all offered zones exist and all roles and levels are described.
func TestLists(t *testing.T) {
	t.Parallel()
	for _, z := range teamtime.Zones {
		if _, err := time.LoadLocation(z); err != nil {
			t.Errorf("%s: %v", z, err)
		}
	}
	if len(teamtime.Zones) < 300 {
		t.Errorf("%d time zones", len(teamtime.Zones))
	}
	for _, r := range access.Roles() {
		if roleNames[r][0] == "" || roleNames[r][1] == "" {
			t.Errorf("role %s has no text", r)
		}
	}
	for _, l := range access.Levels() {
		if levelNames[l][0] == "" || levelNames[l][1] == "" {
			t.Errorf("level %s has no text", l)
		}
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"x", "1", "1-", "-1-2", "0-1", "1-x", "1-0"} {
		if _, err := parsePosition(text); err == nil {
			t.Errorf("%q is accepted as a position", text)
		}
	}
	at := credit.Position{At: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), ID: 7}
	path := statementPath(at.At, at)
	_, after, _ := strings.Cut(path, "after=")
	after, _, _ = strings.Cut(after, "&")
	if got, err := parsePosition(after); err != nil || got != at {
		t.Errorf("%s leads to %v (%v)", path, got, err)
	}
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	for want, i := range map[string]credit.Item{
		"@harbour on Instagram": {
			Operation: "create_report", Subject: credit.Subject{Kind: "profile", Report: "r", Platform: "instagram", Name: "harbour"},
		},
		"#latteart on TikTok": {
			Operation: "refresh_report", Subject: credit.Subject{Kind: "hashtag", Report: "r", Platform: "tiktok", Name: "latteart"},
		},
		"“latte art” on Instagram": {Operation: "search_hashtags", Subject: credit.Subject{Platform: "instagram", Name: "latte art"}},
		"@pier on TikTok":          {Operation: "download_profile_media", Subject: credit.Subject{Platform: "tiktok", Name: "pier"}},
		"":                         {Operation: "create_report"},
	} {
		if got := subjectOf(locale.English, i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A reservation and its charge are one line of the statement.
func TestStatementLines(t *testing.T) {
	t.Parallel()
	lines := StatementLines([]credit.Item{
		{ID: 4, Kind: credit.KindReserve, Job: "b", Change: -5},
		{ID: 3, Kind: credit.KindSettle, Job: "a", Amount: 10, Charged: 7, Change: 3},
		{ID: 2, Kind: credit.KindReserve, Job: "a", Change: -10},
		{ID: 1, Kind: credit.KindGrant, Change: 100},
	})
	if len(lines) != 3 || lines[0].IncludesReservation || !lines[1].IncludesReservation || lines[1].Change != -7 ||
		lines[2].Change != 100 {
		t.Errorf("lines: %+v", lines)
	}
}
