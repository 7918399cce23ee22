package analysis_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/analysis"
	"pressroom.example/pressroom/internal/testkit/must"
)

// handExample is an example in docs/scoring.md.
type handExample struct {
	At        time.Time `json:"at"`
	Followers *int64    `json:"followers"`
	Posts     []struct {
		At       time.Time `json:"at"`
		Likes    *int64    `json:"likes"`
		Comments *int64    `json:"comments"`
		Shares   *int64    `json:"shares"`
		Views    *int64    `json:"views"`
	} `json:"posts"`
	Snapshots []struct {
		At        time.Time `json:"at"`
		Followers *int64    `json:"followers"`
	} `json:"snapshots"`
	Around time.Time `json:"around"`
	Days   []struct {
		Days  []int  `json:"days"`
		Likes *int64 `json:"likes"`
	} `json:"days"`
}

func (b handExample) input() analysis.ProfileInput {
	in := analysis.ProfileInput{Account: provider.Account{Followers: b.Followers}, At: b.At, Zone: time.UTC}
	for _, p := range b.Posts {
		in.Posts = append(in.Posts, provider.Post{TakenAt: p.At, Likes: p.Likes, Comments: p.Comments, Shares: p.Shares,
			Views: p.Views})
	}
	for _, shot := range b.Snapshots {
		in.Snapshots = append(in.Snapshots, analysis.Snapshot{At: shot.At, Followers: shot.Followers})
	}
	for _, group := range b.Days {
		for _, days := range group.Days {
			before, after := b.Around.AddDate(0, 0, -days), b.Around.AddDate(0, 0, days)
			in.Posts = append(in.Posts, provider.Post{TakenAt: before, Likes: group.Likes},
				provider.Post{TakenAt: after, Likes: group.Likes})
		}
	}
	return in
}

// The code reproduces the examples in the docs exactly.
func TestDocumentedExample(t *testing.T) {
	t.Parallel()
	docs := must.Get(os.ReadFile(scoring))(t)
	_, text, _ := strings.Cut(string(docs), "### Worked examples: profiles\n")
	text, _, _ = strings.Cut(text, "\n## ")
	profiles := strings.Split(text, "\n#### ")[1:]
	if len(profiles) < 4 {
		t.Fatalf("the docs have %d worked examples of profiles", len(profiles))
	}
	for _, profile := range profiles {
		name, text, _ := strings.Cut(profile, "\n")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blocks := strings.Split(text, "```")
			if len(blocks) != 5 {
				t.Fatal("an example needs both metrics and results")
			}
			var given handExample
			decode(t, strings.TrimPrefix(blocks[1], "json"), &given)
			var want, got any
			decode(t, strings.TrimPrefix(blocks[3], "json"), &want)
			answer := must.Get(json.Marshal(analysis.Analyze(given.input())))(t)
			decode(t, string(answer), &got)
			if diff := cmp.Diff(want, subset(want, got)); diff != "" {
				t.Errorf("docs (-) and code (+) differ:\n%s", diff)
			}
		})
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	must.NoError(t, json.Unmarshal([]byte(text), into))
}

// subset returns the members of got that want has.
func subset(want, got any) any {
	switch want := want.(type) {
	case map[string]any:
		members, ok := got.(map[string]any)
		if !ok {
			return got
		}
		out := map[string]any{}
		for name, member := range want {
			if there, ok := members[name]; ok {
				out[name] = subset(member, there)
			}
		}
		return out
	case []any:
		items, ok := got.([]any)
		if !ok || len(items) != len(want) {
			return got
		}
		out := []any{}
		for i, item := range want {
			out = append(out, subset(item, items[i]))
		}
		return out
	default:
		return got
	}
}
