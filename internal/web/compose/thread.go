package compose

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/network"
)

// part is a part of the thread after the post itself, as entered in the form.
type part struct {
	Text  string
	Media []int64
	Items []item // the media as shown on the page
}

// isBlank reports whether the part has neither text nor media.
func (p part) isBlank() bool { return strings.TrimSpace(p.Text) == "" && len(p.Media) == 0 }

// partField returns the name of the text field of a part. Parts are numbered from 1.
func partField(n int) string { return partPrefix + strconv.Itoa(n) }

// partMediaField returns the name of the fields with the media IDs of a part.
func partMediaField(n int) string { return "partmedia-" + strconv.Itoa(n) }

// readParts returns the parts of the thread in a form. Their numbers may have gaps.
func readParts(form url.Values) []part {
	var out []part
	for n := 1; n < thread.MaxParts; n++ {
		if !form.Has(partField(n)) {
			continue
		}
		out = append(out, part{
			Text:  textOf(form, partField(n)),
			Media: numbers(strings.Fields(strings.Join(form[partMediaField(n)], " "))), // older forms use one field
		})
	}
	return out
}

// partsOf returns the parts of a saved post's thread as entered in the form.
func partsOf(p post.Record) []part {
	var out []part
	for _, one := range p.Thread {
		out = append(out, part{Text: one.Caption, Media: idsOf(one.Media)})
	}
	return out
}

// changeParts performs the action of a button of the thread. what is "add", or "remove:" and the index of a part.
func (s *formData) changeParts(what string) {
	action, place, _ := strings.Cut(what, ":")
	at, err := strconv.Atoi(place)
	switch {
	case action == "add" && len(s.Parts) < thread.MaxParts-1:
		s.Parts = append(s.Parts, part{})
	case action == "remove" && err == nil && at >= 0 && at < len(s.Parts):
		s.Parts = slices.Delete(slices.Clone(s.Parts), at, at+1)
	}
}

// thread returns the parts of the thread that are not blank. The result is never nil.
func (s *formData) thread() []post.ThreadPart {
	out := []post.ThreadPart{}
	for _, p := range s.Parts {
		if !p.isBlank() {
			out = append(out, post.ThreadPart{Caption: p.Text, MediaIDs: p.Media})
		}
	}
	return out
}

// renumberAll renumbers the problems of all accounts.
func (s *formData) renumberAll(checked []post.AccountCheck) {
	for _, one := range checked {
		s.renumber(one.Problems)
	}
}

// renumber changes the part numbers in problems to the numbers in the form. The form also counts blank parts, which are
// not validated.
func (s *formData) renumber(found []post.PostProblem) {
	numbers := []int{0}
	for i, p := range s.Parts {
		if !p.isBlank() {
			numbers = append(numbers, i+1)
		}
	}
	for i := range found {
		found[i].Part = numbers[found[i].Part]
	}
}

// HasFirstComments reports whether the team has an account that can add a comment to its own posts.
func (v *view) HasFirstComments() bool {
	return slices.ContainsFunc(v.Groups, func(g group) bool {
		rules, _ := network.DefaultRules(g.Platform)
		return rules.HasFirstComment()
	})
}

// HasTitle reports whether the account's network publishes titles.
func (a accountOption) HasTitle() bool {
	rules, _ := network.DefaultRules(a.Platform)
	return rules.HasTitle()
}

// hasThreads reports whether a network publishes threads.
func hasThreads(platform string) bool {
	rules, _ := network.DefaultRules(platform)
	return rules.Thread
}

// canSplit reports whether splitting can help: the account's network publishes threads, and the post's text or a part
// is too long for it.
func canSplit(c post.AccountCheck) bool {
	return hasThreads(c.Target.Platform) && slices.ContainsFunc(c.Problems, func(found post.PostProblem) bool {
		return found.Code == "caption_too_long" && !found.FirstComment && (found.Part > 0 || c.Target.Caption == nil)
	})
}
