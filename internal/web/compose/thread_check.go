package compose

import (
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// codeNoThreads is the problem code for accounts whose network does not support threads.
const codeNoThreads = "thread_not_supported"

// partLength is the length of a part of the thread as an account's network counts it.
type partLength struct {
	network.Measure

	Target post.Target
}

// partLengths returns the lengths of a form's parts for each account whose network publishes threads.
func (p *Handlers) partLengths(s formData, checked []post.AccountCheck) [][]partLength {
	out := make([][]partLength, len(s.Parts))
	for i, part := range s.Parts {
		for _, c := range checked {
			rules, ok := p.creators.Rules(c.Target.Platform)
			if !ok || !rules.Thread {
				continue
			}
			if measures := rules.Measure(network.Content{Text: part.Text}); len(measures) > 0 {
				out[i] = append(out[i], partLength{Measure: measures[0], Target: c.Target})
			}
		}
	}
	return out
}

// networksWithoutThreads returns the names of the networks that cannot publish the checked thread.
func networksWithoutThreads(checked []post.AccountCheck) []string {
	var out []string
	for _, c := range checked {
		name := shell.NetworkName(c.Target.Platform)
		if slices.ContainsFunc(c.Problems, isNoThreads) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func isNoThreads(found post.PostProblem) bool { return found.Code == codeNoThreads }

// noThreadsText returns a text that names the networks, which cannot publish the thread, and says what to do. It
// returns "" if there are none.
func noThreadsText(l *locale.Language, networks []string) string {
	if len(networks) == 0 {
		return ""
	}
	return l.N(len(networks),
		"%[2]s has no threads, so this post cannot be published there. Clear its accounts, or remove the other parts.",
		"%[2]s have no threads, so this post cannot be published there. Clear their accounts, or remove the other parts.",
		l.And(networks))
}

// noThreadsError returns the error for networks that cannot publish the checked thread, or nil.
func noThreadsError(l *locale.Language, checked []post.AccountCheck) error {
	if text := noThreadsText(l, networksWithoutThreads(checked)); text != "" {
		return apierr.Invalid(apierr.NotAllowedValue, "thread", text)
	}
	return nil
}
