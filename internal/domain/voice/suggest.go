package voice

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/report/words"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	minPosts          = 3  // posts needed for a suggestion
	minLetters        = 4  // minimum length of a suggested word in characters
	maxSuggestedWords = 10 // maximum number of suggested words
	manyEmojiPerPost  = 3  // if there are more per post on average, the policy is EmojiAtWill
)

// Suggest returns a guide based on the team's newest published posts, and the number of these posts. AddPastPosts adds
// the same posts to a new voice.
func (s *Service) Suggest(ctx context.Context, call operation.Call) (Guide, int, error) {
	if err := checkMaterialAccess(call); err != nil {
		return Guide{}, 0, err
	}
	const noVoice = 0
	materials, err := db.All(ctx, s.db, func(rows *sql.Rows, m *Material) error { return rows.Scan(&m.PostID, &m.Content) },
		pastPostsQuery, call.TeamID, noVoice, maxPastPosts)
	if err != nil {
		return Guide{}, 0, fmt.Errorf("looking for past posts for a new brand voice: %w", err)
	}
	texts := make([]string, len(materials))
	for i, m := range materials {
		texts[i] = m.Content
	}
	return deriveGuide(texts), len(materials), nil
}

// deriveGuide derives a guide from word and emoji counts of texts. The guide is empty if there are too few texts.
func deriveGuide(texts []string) Guide {
	if len(texts) < minPosts {
		return Guide{}
	}
	return Guide{
		PointOfView: detectPointOfView(texts), EmojiPolicy: detectEmojiPolicy(texts), Use: BrandVoiceUse{Words: commonWords(texts)},
	}
}

func detectEmojiPolicy(texts []string) EmojiPolicy {
	count := 0
	for _, text := range texts {
		for _, r := range text {
			if r >= 0x1F300 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF {
				count++
			}
		}
	}
	switch {
	case count == 0:
		return NoEmoji
	case count > manyEmojiPerPost*len(texts):
		return EmojiAtWill
	}
	return FewEmoji
}

// pronouns holds the first-person pronouns of a language, and frequent words that identify the language.
type pronouns struct{ language, singular, plural []string }

var firstPersons = []pronouns{
	{[]string{"the", "and", "is", "for"}, []string{"i", "my", "me", "mine"}, []string{"we", "our", "us", "ours"}},
	{
		[]string{"und", "der", "das", "ist", "für"}, []string{"ich", "mein", "meine", "meinen", "mir", "mich"},
		[]string{"wir", "unser", "unsere", "unseren", "uns"},
	},
}

// detectPointOfView returns FirstPlural or FirstSingular if at least a third of the texts use it, and at least twice as
// many texts use it as use the other. Otherwise, it returns "".
func detectPointOfView(texts []string) PointOfView {
	singular, plural := 0, 0
	for _, text := range texts {
		words := splitWords(text)
		uses := func(list []string) bool {
			return slices.ContainsFunc(list, func(w string) bool { return words[w] != "" })
		}
		for _, p := range firstPersons {
			if !uses(p.language) {
				continue
			}
			if uses(p.plural) {
				plural++
			} else if uses(p.singular) {
				singular++
			}
		}
	}
	switch third := (len(texts) + 2) / 3; {
	case plural >= third && plural >= 2*singular:
		return FirstPlural
	case singular >= third && singular >= 2*plural:
		return FirstSingular
	}
	return ""
}

// splitWords returns the words of a text. The keys are their lower-case forms, and the values are the words as written.
func splitWords(text string) map[string]string {
	out := map[string]string{}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		out[strings.ToLower(word)] = word
	}
	return out
}

// commonWords returns the words that occur in at least three texts and in at least a quarter of the texts, the most
// frequent first.
func commonWords(texts []string) []string {
	counts, spelling := map[string]int{}, map[string]string{}
	for _, text := range texts {
		spellings := splitWords(text)
		for _, word := range words.Parse(text).Words {
			counts[word]++
			if utf8.RuneCountInString(word) < minLetters || utf8.RuneCountInString(word) > MaxWordLength || spellings[word] == "" {
				continue
			}
			// If there are several spellings, max selects the lower-case one, which is the spelling within sentences.
			spelling[word] = max(spelling[word], spellings[word])
		}
	}
	minCount := max(minPosts, (len(texts)+3)/4)
	out := slices.DeleteFunc(slices.Collect(maps.Keys(spelling)), func(w string) bool { return counts[w] < minCount })
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b)) })
	out = out[:min(len(out), maxSuggestedWords)]
	for i, word := range out {
		out[i] = spelling[word]
	}
	return out
}
