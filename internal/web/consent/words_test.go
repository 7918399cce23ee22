package consent

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/locale"
)

func TestOffers(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]string{
		"read": "read_only*", "read write": "read_only drafts*", "read write publish spend": "read_only drafts* full",
		"read write publish": "read_only drafts* all",
		"read publish":       "read_only* all", "publish": "all*", "write spend": "all*",
	} {
		var able []access.Capability
		for name := range strings.FieldsSeq(scope) {
			able = append(able, access.Capability(name))
		}
		var got []string
		for _, o := range levelOptions(locale.English, able, "") {
			got = append(got, o.Value+map[bool]string{true: "*"}[o.Chosen])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", scope, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for scope, want := range map[string]string{
		"":                    "",
		"spend":               "spend the team’s credits",
		"write publish":       "write or change anything, or schedule or publish posts",
		"write publish spend": "write or change anything, schedule or publish posts, or spend the team’s credits",
	} {
		var of []access.Capability
		for name := range strings.FieldsSeq(scope) {
			of = append(of, access.Capability(name))
		}
		if got := listMissing(locale.English, of); got != want {
			t.Errorf("%s: it will not be able to %s, want %s", scope, got, want)
		}
	}
	const takes = "unschedule posts and pause series"
	for _, o := range levelOptions(locale.English, []access.Capability{access.Read, access.Write}, "") {
		if o.Value == string(access.Drafts) != strings.Contains(o.Description, takes) {
			t.Errorf("text of %s: %s", o.Value, o.Description)
		}
	}
	if got, want := listCapabilities(locale.English, []access.Capability{access.Write, access.Spend}),
		"write drafts, media and lists, "+takes+"; and spend the team’s credits"; got != want {
		t.Errorf("it may %s, want %s", got, want)
	}
}

// TestGrantsOnlyRequestedAndOwned checks that a selection never grants more than was requested and the role in that
// team has.
func TestGrantsOnlyRequestedAndOwned(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		asked := access.WithinRole(rapid.SliceOf(rapid.SampledFrom(access.Capabilities())).Draw(t, "asked"), access.Owner)
		var teams []teamOption
		var able []access.Capability
		for i, role := range rapid.SliceOfN(rapid.SampledFrom(access.Roles()), 1, 4).Draw(t, "roles") {
			c := teamOption{ID: int64(i + 1), Role: locale.Key(role), capabilities: access.WithinRole(asked, role)}
			if len(c.capabilities) == 0 || rapid.Bool().Draw(t, "closed") {
				c.Why = "closed"
			} else {
				able = append(able, c.capabilities...)
			}
			teams = append(teams, c)
		}
		was := selection{rapid.Int64Range(0, 5).
			Draw(t, "team"), rapid.SampledFrom([]string{"", "read_only", "drafts", "full", allLevel, "other"}).Draw(t, "level")}
		granted, formErr := was.capabilities(teams, access.WithinRole(able, access.Owner))
		if (formErr == "") != (len(granted) > 0) {
			t.Fatalf("%v and %q", granted, formErr)
		}
		if formErr != "" {
			return
		}
		at := teams[was.teamID-1]
		if at.Why != "" || len(subtract(granted, at.capabilities)) > 0 || len(subtract(granted, asked)) > 0 {
			t.Fatalf("%+v: granted %v of %v", at, granted, asked)
		}
		if was.level == string(access.ReadOnly) && !slices.Equal(granted, []access.Capability{access.Read}) {
			t.Fatalf("granted for reading: %v", granted)
		}
	})
}
