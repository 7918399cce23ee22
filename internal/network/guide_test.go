package network_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

var update = flag.Bool("update", false, "write the limits into docs/networks.md")

const (
	guide       = "../../docs/networks.md"
	limitsBegin = "<!-- from internal/network/limits.go: go test ./internal/network -update -->\n"
	limitsEnd   = "<!-- end of the limits -->\n"
)

// TestGuide compares the limits in docs/networks.md with the limits that Check applies.
func TestGuide(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile(guide))(t)
	before, rest, found := strings.Cut(string(raw), limitsBegin)
	old, after, closed := strings.Cut(rest, limitsEnd)
	if !found || !closed {
		t.Fatalf("%s lacks the markers for the limits", guide)
	}
	want := limits(t)
	if *update {
		must.NoError(t, os.WriteFile(guide, []byte(before+limitsBegin+want+limitsEnd+after), 0o600))
		return
	}
	if diff := cmp.Diff(want, old); diff != "" {
		t.Errorf("%s differs from the limits of Check; run go test ./internal/network -update:\n%s", guide, diff)
	}
}

func limits(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	out.WriteString("| | text | hashtags, mentions, links | images | an image | a video | the video of a story |\n" +
		"|---|---|---|---|---|---|---|\n")
	for _, platform := range []string{"instagram", "facebook", "threads", "tiktok", "youtube", "linkedin", "x", "pinterest", "bluesky"} {
		r, ok := network.DefaultRules(platform)
		if !ok {
			t.Fatalf("no limits for %s", platform)
		}
		fmt.Fprintf(&out, "| %s | %s | %s | %s | %s | %s | %s |\n", r.Title, text(r), counts(r), numbers(r), image(r), video(r.Videos),
			story(r))
	}
	return out.String()
}

func text(r network.Rules) string {
	parts := []string{fmt.Sprintf("%d %s", r.Text.MaxLength, r.Text.Unit.Name)}
	if r.Text.WithImages > 0 {
		parts = append(parts, fmt.Sprintf("%d with images", r.Text.WithImages))
	}
	if r.Text.MaxBytes > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", r.Text.MaxBytes))
	}
	if r.Text.Forbidden != "" && strings.ContainsAny(r.Text.Forbidden, "<>") {
		parts = append(parts, "no < or >")
	}
	if r.Media.Required {
		parts = append(parts, "media required")
	}
	return strings.Join(parts, "; ")
}

func counts(r network.Rules) string {
	var parts []string
	for _, c := range []struct {
		what  string
		count network.Count
	}{{"hashtags", r.Hashtags}, {"mentions", r.Mentions}, {"links", r.Links}} {
		if c.count.Limit > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.count.Limit, c.what))
		}
		if c.count.SoftLimit > 0 {
			parts = append(parts, fmt.Sprintf("%s: warning above %d", c.what, c.count.SoftLimit))
		}
	}
	return strings.Join(parts, "; ")
}

func numbers(r network.Rules) string {
	var parts []string
	if r.Images.Max == 0 {
		parts = append(parts, "none")
	} else {
		parts = append(parts, fmt.Sprintf("up to %d", r.Images.Max))
	}
	if r.Media.AllowMixed {
		parts = append(parts, "may include videos")
	}
	return strings.Join(parts, ", ")
}

var typeCase = strings.NewReplacer("QUICKTIME", "MOV", "WEBP", "WebP")

// typeNames returns the names of MIME types for people, such as JPEG and MP4.
func typeNames(types []string) string {
	names := make([]string, len(types))
	for i, mimeType := range types {
		_, name, _ := strings.Cut(mimeType, "/")
		names[i] = typeCase.Replace(strings.ToUpper(name))
	}
	return strings.Join(names, ", ")
}

func shapes(s network.AspectRange) string { return fmt.Sprintf("%s to %s", s.Tallest, s.Widest) }

func image(r network.Rules) string {
	if r.Images.Max == 0 {
		return ""
	}
	parts := []string{typeNames(r.Images.Types)}
	if len(r.Images.Converted) > 0 {
		parts = append(parts, typeNames(r.Images.Converted)+" converted")
	}
	if r.Images.Single.Type != "" {
		parts = append(parts, typeNames([]string{r.Images.Single.Type})+" only as the single image, up to "+
			formatBytes(r.Images.Single.MaxBytes))
	}
	var limits []string
	if r.Images.MaxBytes > 0 {
		limits = append(limits, formatBytes(r.Images.MaxBytes))
	}
	if r.Images.MaxSide > 0 {
		limits = append(limits, fmt.Sprintf("%d pixels", r.Images.MaxSide))
	}
	if len(limits) > 0 {
		parts = append(parts, "resized to fit "+strings.Join(limits, " and "))
	}
	if r.Images.AspectRatios != (network.AspectRange{}) {
		parts = append(parts, shapes(r.Images.AspectRatios))
	}
	return strings.Join(parts, "; ")
}

func story(r network.Rules) string {
	if r.Stories.Max == 0 {
		return ""
	}
	return video(r.Stories)
}

func video(v network.Videos) string {
	if v.Max == 0 {
		return "none"
	}
	parts := []string{typeNames(v.Types)}
	if v.MaxBytes > 0 {
		parts = append(parts, "up to "+formatBytes(v.MaxBytes))
	}
	if v.MaxDuration > 0 {
		parts = append(parts, durationRange(v.MinDuration, v.MaxDuration))
	}
	if v.MinSide > 0 {
		parts = append(parts, fmt.Sprintf("at least %d pixels per side", v.MinSide))
	}
	if v.MaxSide > 0 {
		parts = append(parts, fmt.Sprintf("at most %d pixels per side", v.MaxSide))
	}
	if v.AspectRatios != (network.AspectRange{}) {
		parts = append(parts, shapes(v.AspectRatios))
	}
	return strings.Join(parts, "; ")
}

// durationRange returns a range such as 3 s to 15 min.
func durationRange(shortest, longest network.Duration) string {
	if shortest == 0 {
		return "up to " + formatDuration(longest)
	}
	return formatDuration(shortest) + " to " + formatDuration(longest)
}

func formatDuration(s network.Duration) string {
	switch d := time.Duration(s); {
	case d >= time.Hour && d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%g s", s.Seconds())
}

// formatBytes returns a size in the unit with the fewest digits.
func formatBytes(bytes int64) string {
	for _, unit := range []struct {
		of   int64
		name string
	}{{1 << 20, "MiB"}, {1_000_000_000, "GB"}, {1_000_000, "MB"}, {1000, "kB"}} {
		if bytes >= unit.of && bytes%unit.of == 0 {
			return fmt.Sprintf("%d %s", bytes/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%d bytes", bytes)
}
