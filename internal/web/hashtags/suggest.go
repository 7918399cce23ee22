package hashtags

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/network"
)

const (
	maxPostsRead   = 50 // number of newest posts that suggestions are made from
	maxSuggestions = 12 // maximum number of hashtags in a suggestion
)

// suggestion is a group of hashtags that the form for a new list offers.
type suggestion struct {
	List     string // ready-made list that the hashtags come from; empty for the team's posts
	Hashtags []string
}

// suggest returns the hashtags of the team's newest posts, most used first, and further hashtags of the ready-made
// list that shares the most hashtags with these posts.
func (h *Handlers) suggest(r *http.Request) ([]suggestion, error) {
	call, err := h.NewCall(r, "hashtag_lists")
	if err != nil {
		return nil, err
	}
	texts, err := postlist.LatestTexts(r.Context(), h.DB, call.TeamID, maxPostsRead)
	if err != nil {
		return nil, err
	}
	used := mostUsed(texts)
	var out []suggestion
	if len(used) > 0 {
		out = append(out, suggestion{Hashtags: used[:min(len(used), maxSuggestions)]})
	}
	if similar := mostSimilar(h.lists.ReadyMadeIn(call.Language), used); similar.Name != "" {
		unused := slices.DeleteFunc(slices.Clone(similar.Hashtags), func(tag string) bool { return slices.Contains(used, tag) })
		out = append(out, suggestion{similar.Name, unused[:min(len(unused), maxSuggestions)]})
	}
	return out, nil
}

// mostUsed returns the hashtags in texts in lower case, most used first.
func mostUsed(texts []string) []string {
	uses := map[string]int{}
	var out []string
	for _, text := range texts {
		for _, h := range network.Hashtags(text) {
			h = strings.ToLower(strings.TrimPrefix(h, "#"))
			if uses[h]++; uses[h] == 1 {
				out = append(out, h)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(uses[b], uses[a]) })
	return out
}

// mostSimilar returns the list that contains the most of the used hashtags, or an empty list if none contains any.
func mostSimilar(lists []list.ReadyMade, used []string) list.ReadyMade {
	var best list.ReadyMade
	bestCount := 0
	for _, l := range lists {
		count := 0
		for _, h := range l.Hashtags {
			if slices.Contains(used, h) {
				count++
			}
		}
		if count > bestCount {
			best, bestCount = l, count
		}
	}
	return best
}
