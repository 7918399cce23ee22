package network_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	capabilitiesPage = "../../docs/capabilities.md"
	notOffered       = "–"
)

// capabilityColumns are the networks in the order of the page's columns, with their short names in the comparison.
var capabilityColumns = []struct{ platform, short string }{
	{"instagram", "IG"}, {"facebook", "FB"}, {"tiktok", "TT"}, {"linkedin", "LI"}, {"pinterest", "PI"}, {"bluesky", "BS"},
	{"threads", "TH"}, {"youtube", "YT"}, {"x", "X"},
}

// tableRows returns the rows of the tables of a page whose header begins with head, as cells.
func tableRows(t *testing.T, page, head string) [][]string {
	t.Helper()
	var rows [][]string
	inTable := false
	for line := range strings.Lines(string(must.Get(os.ReadFile(page))(t))) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, head):
			inTable = true
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case inTable && !strings.HasPrefix(line, "|--"):
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no table %s", page, head)
	}
	return rows
}

// capabilityRows returns the cells of the capabilities by name.
func capabilityRows(t *testing.T) map[string][]string {
	t.Helper()
	head := "| |"
	for _, c := range capabilityColumns {
		rules, _ := network.DefaultRules(c.platform)
		head += " " + rules.Title + " |"
	}
	rows := map[string][]string{}
	for _, cells := range tableRows(t, capabilitiesPage, head) {
		if rows[cells[0]] != nil || len(cells) != 1+len(capabilityColumns) {
			t.Errorf("%s: the row is repeated or has %d cells", cells[0], len(cells))
		}
		rows[cells[0]] = cells[1:]
	}
	return rows
}

var (
	capabilityCell = regexp.MustCompile("^(?:yes, (?:server|description|partly|documentation)(?:: `[a-z_.]+`" +
		"(?:, `[a-z_.]+`)*)?|no|" + notOffered + `)(?: \([^)]+\))?$`)
	optionName = regexp.MustCompile("`([a-z_.]+)`")
)

// Each cell has one of the documented values. Only Bluesky has a genuine server, and TikTok and LinkedIn publish no
// description.
func TestCapabilityCells(t *testing.T) {
	t.Parallel()
	for name, cells := range capabilityRows(t) {
		for i, cell := range cells {
			platform := capabilityColumns[i].platform
			undescribed := platform == "tiktok" || platform == "linkedin"
			if !capabilityCell.MatchString(cell) ||
				strings.HasPrefix(cell, "yes, server") && platform != "bluesky" ||
				undescribed && strings.HasPrefix(cell, "yes") && !strings.HasPrefix(cell, "yes, documentation") {
				t.Errorf("%s on %s: %q", name, platform, cell)
			}
		}
	}
}

// The page names every option of each network, and no other.
func TestCapabilityOptions(t *testing.T) {
	t.Parallel()
	rows := capabilityRows(t)
	for i, c := range capabilityColumns {
		options := optionsType(t, c.platform)
		want, got := map[string]bool{}, map[string]bool{}
		for field := range options.Fields() {
			want[jsonName(field)] = true
		}
		for _, cells := range rows {
			for _, match := range optionName.FindAllStringSubmatch(cells[i], -1) {
				got[match[1]] = true
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the options differ from the column (-options +page):\n%s", c.platform, diff)
		}
	}
}

// optionsType returns the type of a network's options.
func optionsType(t *testing.T, platform string) reflect.Type {
	t.Helper()
	for field := range reflect.TypeFor[network.Options]().Fields() {
		if jsonName(field) == platform {
			return field.Type.Elem()
		}
	}
	t.Fatalf("no options for %s", platform)
	return nil
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// The capabilities that the rules describe are those of the page.
func TestCapabilityRules(t *testing.T) {
	t.Parallel()
	rows := capabilityRows(t)
	for i, c := range capabilityColumns {
		r, _ := network.DefaultRules(c.platform)
		for name, want := range map[string]bool{
			"text only": !r.Media.Required, "an image": r.Images.Max > 0, "several images": r.Images.Max > 1,
			"a video": r.Videos.Max > 0, "images and videos together": r.Media.AllowMixed, "story": r.Stories.Max > 0,
			"thread": r.Thread, "first comment": r.HasFirstComment() || c.platform == "youtube", // if the operator turns it on
		} {
			if cells := rows[name]; cells == nil || strings.HasPrefix(cells[i], "yes") != want {
				t.Errorf("%s on %s: %v, want %t", name, c.platform, cells, want)
			}
		}
	}
}

// The table in docs/networks.md, which the adapters' tests check, says the same about how capabilities are tested.
func TestCapabilityVerification(t *testing.T) {
	t.Parallel()
	rows := capabilityRows(t)
	verified := map[string][]string{}
	for _, cells := range tableRows(t, guide, "| | sign-in | text | an image | several images | a video | a story |") {
		verified[cells[0]] = cells
	}
	columns := []string{"text only", "an image", "several images", "a video", "story"}
	for i, c := range capabilityColumns {
		if len(verified[c.platform]) < len(columns)+2 {
			t.Fatalf("%s has no row for %s", guide, c.platform)
		}
		for n, name := range columns {
			want := verified[c.platform][n+2]
			if want != notOffered {
				want = "yes, " + want
			}
			if got := rows[name][i]; got != want && !strings.HasPrefix(got, want+":") {
				t.Errorf("%s on %s: %q, but %s says %q", name, c.platform, got, guide, want)
			}
		}
	}
}

// Each network has a source for the capabilities that its API does not offer.
func TestCapabilitySources(t *testing.T) {
	t.Parallel()
	rows := tableRows(t, capabilitiesPage, "| network | official description |")
	for _, c := range capabilityColumns {
		rules, _ := network.DefaultRules(c.platform)
		if !slices.ContainsFunc(rows, func(cells []string) bool {
			return cells[0] == rules.Title && strings.Contains(cells[1], "](https://")
		}) {
			t.Errorf("no source for %s", rules.Title)
		}
	}
}

// In the comparison, the column pressroom repeats the capabilities, and the last column has the networks on which
// another product has more.
func TestCapabilityComparison(t *testing.T) {
	t.Parallel()
	rows := capabilityRows(t)
	head := "| | pressroom | Postiz | Zernio | Ayrshare | Buffer | Metricool | not yet in pressroom |"
	for _, cells := range tableRows(t, capabilitiesPage, head) {
		capability := rows[cells[0]]
		if capability == nil || len(cells) != 8 {
			t.Errorf("%s: no such capability, or %d cells", cells[0], len(cells))
			continue
		}
		others := strings.Fields(strings.ReplaceAll(strings.Join(cells[2:7], " "), ",", ""))
		var ours, missing []string
		for i, c := range capabilityColumns {
			if strings.HasPrefix(capability[i], "yes") {
				ours = append(ours, c.short)
			} else if slices.Contains(others, c.short) {
				missing = append(missing, c.short)
			}
			others = slices.DeleteFunc(others, func(name string) bool { return name == c.short })
		}
		others = slices.DeleteFunc(others, func(name string) bool { return name == "some" })
		want := []string{strings.Join(ours, ", "), strings.Join(missing, ", ")}
		got := []string{cells[1], strings.Trim(cells[7], "*")}
		if diff := cmp.Diff(want, got); diff != "" || len(others) > 0 {
			t.Errorf("%s: unknown names %v; %s", cells[0], others, diff)
		}
	}
}
