package plot_test

import (
	"encoding/xml"
	"flag"
	"html/template"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/plot"
)

var update = flag.Bool("update", false, "write the golden files")

// heat has an hour of each level and a text that must be escaped.
func heat() plot.Heat {
	h := plot.Heat{Label: "Engagement by hour"}
	for level := range 6 {
		h.Cells[level][4*level] = plot.Cell{Level: level, Text: "3 posts & <more>"}
	}
	return h
}

// twoLines has two lines of different lengths, one with a gap.
func twoLines() plot.Lines {
	return plot.Lines{Label: "Followers gained", Percent: true, Series: []plot.Series{
		{Name: "@harbour", Points: []plot.Point{
			{Name: "2 Mar", At: 10, Value: new(0.0)}, {Name: "9 Mar", At: 17}, {Name: "16 Mar", At: 24, Value: new(4.5)}}},
		{Name: "<quay>", Points: []plot.Point{{Name: "3 Mar", At: 11, Value: new(0.0)}, {Name: "10 Mar", At: 18, Value: new(-2.0)}}},
	}}
}

func TestDrawings(t *testing.T) {
	t.Parallel()
	for name, drawn := range map[string]template.HTML{
		"line": plot.Line{Label: `Engagement "over" time`, IncludesZero: true, Points: []plot.Point{
			{Name: "2 Mar", Value: new(120.0), Low: new(80.0), High: new(190.0)}, {Name: "9 Mar"},
			{Name: "16 <Mar>", Value: new(1320.0)}, {Name: "23 Mar", Value: new(640.0)}}}.Draw(locale.English),
		"spread": plot.Line{Label: "Followers", Proportional: true, Points: []plot.Point{
			{Name: "2 Mar", At: 10, Value: new(18204.0)}, {Name: "3 Mar", At: 11, Value: new(18240.0)},
			{Name: "12 Mar", At: 20, Value: new(18230.0)}}}.Draw(locale.English),
		"one": plot.Line{Label: "Followers", Proportional: true, Points: []plot.Point{{Name: "2 Mar", At: 10,
			Value: new(7.0)}}}.
			Draw(locale.English),
		"heat":   heat().Draw(locale.English),
		"scale":  plot.Scale(),
		"range":  plot.Range{Value: 1.6, Low: 1.3, High: 44, Reach: 2}.Draw(),
		"lines":  twoLines().Draw(locale.English),
		"legend": twoLines().Legend(),
		"columns": plot.Columns{Label: "Posts by <weekday>", Values: []plot.Point{{Name: "Mon", Value: new(2.0)}, {Name: "<Tue>"},
			{Name: "Wed", Value: new(5.0)}}}.Draw(locale.English),
		"compared": plot.Lines{Label: "Views", IncludesZero: true, Series: []plot.Series{
			{Name: "Now", Filled: true, Points: []plot.Point{{Name: "1 Mar", At: 0}, {Name: "2 Mar", At: 1, Value: new(3.0)},
				{Name: "3 Mar", At: 2, Value: new(9.0)}}},
			{Name: "Before", Past: true, Points: []plot.Point{{Name: "1 Feb", At: 1, Value: new(4.0)}, {At: 2, Value: new(2.0)}}},
		}}.Narrow().Draw(locale.English),
		"tall":  plot.Lines{Label: "Views", Tall: true, Series: twoLines().Series}.Draw(locale.English),
		"share": plot.Share{Fraction: 0.25, Second: true}.Draw(),
	} {
		golden(t, filepath.Join("testdata", name+".svg"), string(drawn))
	}
	one := plot.Lines{Label: "One", Series: []plot.Series{{Name: "a", Points: []plot.Point{{Value: new(1.0)}}}}}
	if drawn := one.Draw(locale.English); drawn != "" {
		t.Errorf("line with one point: %s", drawn)
	}
	narrow := string(plot.Line{Label: "Followers", Points: []plot.Point{{Name: "2 Mar", Value: new(7.0)}}}.Narrow().Draw(locale.English))
	if !strings.Contains(narrow, `class="plot narrow" viewBox="0 0 340 220"`) {
		t.Errorf("a line for narrow screens: %s", narrow)
	}
	if drawn := (plot.Line{Label: "Nothing", Points: []plot.Point{{Name: "2 Mar"}}}).Draw(locale.English); drawn != "" {
		t.Errorf("line without points: %s", drawn)
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, "><", ">\n<") + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 7: "7", 0.5: "0.5", 12.34: "12.3", 99.96: "100", 999.4: "999", 999.6: "1K", 1234: "1.23K",
		18240: "18.2K", 999_960: "1M", 4_560_000: "4.56M", 2e9: "2B", -1500: "−1.5K", -0.001: "−0.001",
		0.02184: "0.0218", 0.99951: "1", -1e-9: "0",
	} {
		if got := plot.FormatNumber(locale.English, v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

func TestNumberGerman(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		plot.FormatNumber(locale.German, 1234): "1,23\u00a0Tsd.", plot.FormatNumber(locale.German, -0.001): "−0,001",
		plot.FormatNumber(locale.German, 4_560_000): "4,56\u00a0Mio.", plot.FormatNumber(locale.German, 7): "7",
		plot.FormatPercent(locale.German, 1.714): "1,71\u00a0%", plot.FormatRange(locale.German, 0.5, 2e9): "0,5 bis 2\u00a0Mrd.",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestDrawingsValid checks that templates are well-formed, within bounds and without style attributes.
func TestDrawingsValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Custom(func(t *rapid.T) *float64 {
			if rapid.Bool().Draw(t, "gap") {
				return nil
			}
			return new(rapid.Float64Range(-1e9, 1e9).Draw(t, "value"))
		})
		var line plot.Line
		line.IncludesZero, line.Proportional = rapid.Bool().Draw(t, "zero"), rapid.Bool().Draw(t, "spread")
		for i := range rapid.IntRange(1, 40).Draw(t, "points") {
			line.Points = append(line.Points,
				plot.Point{
					Name: rapid.String().Draw(t, "name"), At: float64(i), Value: value.Draw(t, "v"),
					Low: value.Draw(t, "low"), High: value.Draw(t, "high"),
				})
		}
		sound(t, string(line.Draw(locale.German)))
		both := plot.Lines{Label: line.Label, Series: []plot.Series{{Name: rapid.String().Draw(t, "series"), Points: line.Points}}}
		sound(t, string(both.Draw(locale.German)))
		positive := rapid.Float64Range(0, 1e6)
		sound(t,
			string(plot.Range{
				Value: positive.Draw(t, "value"), Low: positive.Draw(t, "low"), High: positive.Draw(t, "high"),
				Reach: plot.Reach(positive.Draw(t, "reach")),
			}.Draw()))
	})
}

func sound(t *rapid.T, drawn string) {
	if strings.Contains(drawn, "NaN") || strings.Contains(drawn, "Inf") || strings.Contains(drawn,
		"style") && !strings.Contains(drawn, "aria-label") {
		t.Fatal(drawn)
	}
	for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
		_, err := d.Token()
		if err == io.EOF { //nolint:errorlint // the decoder does not wrap it
			return
		}
		if err != nil && !strings.Contains(err.Error(), "illegal character") {
			t.Fatalf("%v: %s", err, drawn)
		}
		if err != nil {
			return
		}
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	if got := plot.Reach(1.1, 0.9); got != 2 {
		t.Errorf("%v", got)
	}
	if got := plot.Reach(0.2, 3); math.Abs(got-5) > 1e-9 {
		t.Errorf("%v", got)
	}
	if got := plot.Reach(0, 4000); got != 10 {
		t.Errorf("%v", got)
	}
}
