package compose

import (
	"slices"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/preview"
)

// issue is a problem in the preview's list, with every network that has it.
type issue struct {
	Text      string
	Field     string // ID of the element that corrects it
	Blocking  bool
	Platforms []string
}

// Readiness returns the CSS class for whether the post can be published.
func (o *previewView) Readiness() string {
	switch {
	case o.Empty, o.Blank:
		return "nothing-yet"
	case o.Blocking > 0, o.Error != "":
		return "error"
	}
	return "ready"
}

// ListsIssues reports whether the problems are listed above the previews. A single problem with the text of a single
// preview is only shown in the preview.
func (o *previewView) ListsIssues() bool {
	if o.Blank || len(o.Issues) == 0 {
		return false
	}
	return len(o.Issues) > 1 || len(o.Cards) > 1 || len(o.Lengths) > 0 || o.Issues[0].Field != "caption"
}

// addIssues lists the problems of all cards, each once, those that block publishing first.
func (o *previewView) addIssues(l *locale.Language) {
	for _, c := range o.Cards {
		for _, found := range c.Problems {
			next := issue{preview.ProblemText(l, found.Message), fieldOf(found, c.Target), found.Blocking, nil}
			if isNoThreads(found) {
				next.Text = o.NoThreads
			}
			at := slices.IndexFunc(o.Issues, func(i issue) bool {
				return i.Text == next.Text && i.Field == next.Field && i.Blocking == next.Blocking
			})
			if at < 0 {
				at, o.Issues = len(o.Issues), append(o.Issues, next)
			}
			if list := &o.Issues[at].Platforms; !slices.Contains(*list, c.Target.Platform) {
				*list = append(*list, c.Target.Platform)
			}
		}
	}
	slices.SortStableFunc(o.Issues, func(a, b issue) int {
		switch {
		case a.Blocking == b.Blocking:
			return 0
		case a.Blocking:
			return -1
		}
		return 1
	})
}
