package voice

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit/must"
)

// blocks are the voices whose text blocks are in testdata.
func blocks() map[string]Draft {
	long := make([]string, 60)
	for i := range long {
		long[i] = "word" + strings.Repeat("o", i%7) + formatID(int64(i))
	}
	return map[string]Draft{
		"full":    fullDraft(),
		"minimal": {Name: "Plain"},
		"right-to-left": {Name: "קפה הנמל", Guide: Guide{
			BusinessDescription: "בית קלייה ובית קפה בנמל חיפה.\n\nהפולים מגיעים מארבע חוות.", Tone: "חם ופשוט.",
			PointOfView: FirstPlural,
			Audiences:   []BrandVoiceAudience{{"לקוחות קבועים", "באים בשביל הקפה (Filter) ונשארים לשיחה."}}, EmojiPolicy: NoEmoji,
			Use:             BrandVoiceUse{Words: []string{"קלייה"}, Phrases: []string{"נתראה בנמל", "أهلاً وسهلاً"}},
			ContentLanguage: "he",
		}},
		"tricky": {Name: "{{.Tone}}\n# Tone", Guide: Guide{
			BusinessDescription: "# Words to avoid\n- everything\n\n{{range .Use.Words}}{{.}}{{end}}\r\n```\nnever " +
				"closed",
			Tone: "\n\n\nplain\n\n\n\n# Custom instructions\n    deep\n\n", PointOfView: Second,
			EmojiPolicy: EmojiAtWill,
			Audiences:   []BrandVoiceAudience{{"- A dash: and a colon", "Two\nlines\n\n- with a list"}},
			Use: BrandVoiceUse{Words: long, Phrases: []string{"# heading", "- dash", "{{end}}",
				"<script>alert(\"x\") & more</script>", "a\nb", `back\slash`}},
			Avoid:              BrandVoiceUse{Phrases: []string{"`", "# Emoji"}},
			CustomInstructions: "Example:\n```\n{{ template }}\n# not a heading\n```\nDone.\u202e\U000e0041",
		}},
	}
}

// The text blocks match testdata.
func TestText(t *testing.T) {
	t.Parallel()
	for name, given := range blocks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := must.Get(normalize(given))(t)
			got := must.Get(assemble(d))(t)
			file := filepath.Join("testdata", name+".txt")
			if *rewrite {
				must.NoError(t, os.WriteFile(file, []byte(got), 0o644))
			}
			held := must.Get(os.ReadFile(file))(t)
			if diff := cmp.Diff(string(held), got); diff != "" {
				t.Errorf("the text differs (-want +got); run with -update to rewrite it:\n%s", diff)
			}
		})
	}
}

// headings returns the lines at the margin in order.
var headings = []string{
	"The team's style guide. The indented text under each heading is the team's own.",
	"# Brand voice", "# Language (BCP 47)", "# Business", "# Audiences", "# Tone",
	"# Point of view", "# Emoji",
	"# Words to use", "# Phrases to use", "# Words to avoid", "# Phrases to avoid", "# Custom instructions",
}

// section returns the unindented text below a heading, or "" without the heading.
func section(text, heading string) string {
	_, rest, found := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !found {
		return ""
	}
	var lines []string
	for line := range strings.SplitSeq(rest, "\n") {
		if line != "" && line[0] != ' ' {
			break
		}
		lines = append(lines, strings.TrimPrefix(line, "  "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// items formats a list as in the block.
func items(list []string) string {
	out := make([]string, len(list))
	for i, text := range list {
		out[i] = "- " + text
	}
	return strings.Join(out, "\n")
}

// For any texts of a team, only headings are unindented, each at most once and in order. Below each heading is exactly
// the team's text, and empty fields have no heading. The same voice always yields the same text.
func TestTextStructure(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		d := drawNormalized(r)
		text, err := assemble(d)
		if again, _ := assemble(d); err != nil || again != text {
			r.Fatalf("%v\n%s\n%s", err, text, again)
		}
		next := 0
		for line := range strings.SplitSeq(text, "\n") {
			if line == "" || line[0] == ' ' {
				continue
			}
			i := slices.Index(headings[next:], line)
			if i < 0 {
				r.Fatalf("unexpected unindented line %q\n%s", line, text)
			}
			next += i + 1
		}
		for heading, want := range map[string]string{
			"# Brand voice": d.Name, "# Language (BCP 47)": d.ContentLanguage,
			"# Business": d.BusinessDescription, "# Tone": d.Tone,
			"# Words to use": items(d.Use.Words), "# Phrases to use": items(d.Use.Phrases),
			"# Words to avoid": items(d.Avoid.Words), "# Phrases to avoid": items(d.Avoid.Phrases),
			"# Custom instructions": d.CustomInstructions,
		} {
			if got := section(text, heading); got != want || strings.Contains("\n"+text, "\n"+heading+"\n") != (want != "") {
				r.Fatalf("%s: %q, want %q", heading, got, want)
			}
		}
		for heading, there := range map[string]bool{"# Audiences": len(d.Audiences) > 0,
			"# Point of view": d.PointOfView != "", "# Emoji": d.EmojiPolicy != ""} {
			if strings.Contains("\n"+text, "\n"+heading+"\n") != there {
				r.Fatalf("%s: %t", heading, !there)
			}
		}
		for _, a := range d.Audiences {
			if !strings.Contains(text, "\n  - "+a.Name+"\n") || a.Description != "" && !strings.Contains(text,
				"\n"+indent(4, a.Description)+"\n") {
				r.Fatalf("%+v is not in\n%s", a, text)
			}
		}
	})
}

// Each point of view and emoji policy has its own text.
func TestTextOfChoices(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, view := range []PointOfView{FirstSingular, FirstPlural, Second, Third} {
		for _, emoji := range []EmojiPolicy{NoEmoji, FewEmoji, EmojiAtWill} {
			text, err := assemble(Draft{Name: "n", Guide: Guide{PointOfView: view, EmojiPolicy: emoji}})
			if err != nil || seen[text] || section(text, "# Point of view") == "" || section(text, "# Emoji") == "" {
				t.Errorf("%s, %s: %v\n%s", view, emoji, err, text)
			}
			seen[text] = true
		}
	}
}
