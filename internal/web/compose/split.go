package compose

import (
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/post/caption"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/domain/post/threadsplit"
)

// splitTexts splits the texts of the post and of its parts into parts that are short enough for all selected networks
// that support threads. If it returns an error, it has changed nothing.
func (p *Handlers) splitTexts(r *http.Request, s *formData) error {
	accounts, err := p.accounts(r)
	if err != nil {
		return err
	}
	return s.split(p.threadLimit(accounts, s.Accounts))
}

// threadLimit returns a function that reports whether a text is short enough for every selected account whose network
// supports threads.
func (p *Handlers) threadLimit(accounts []account.SocialAccount, selected []int64) func(string) bool {
	var limits []func(string) bool
	for _, a := range accounts {
		if rules, ok := p.creators.Rules(a.Platform); ok && rules.Thread && has(selected, a.ID) {
			limits = append(limits, rules.FitsLength)
		}
	}
	return func(text string) bool {
		for _, fits := range limits {
			if !fits(text) {
				return false
			}
		}
		return true
	}
}

// split splits each text that is too long into parts that fit. The first of these parts keeps the media.
func (s *formData) split(fits func(string) bool) error {
	texts := append([]part{{Text: s.Caption, Media: s.Media}}, s.Parts...)
	var out []part
	for i, one := range texts {
		if fits(one.Text) {
			out = append(out, one)
			continue
		}
		field := "caption"
		if i > 0 {
			field = partField(i)
		}
		if err := caption.Check(one.Text, field); err != nil {
			return err
		}
		pieces, err := threadsplit.Split(one.Text, fits, thread.MaxParts)
		switch {
		case errors.Is(err, threadsplit.ErrTooLong):
			return apierr.Invalid(apierr.TooLong, field, "A link is too long for one part. Shorten it, then split the text.")
		case err != nil || len(out)+len(pieces)+len(texts)-i-1 > thread.MaxParts:
			return apierr.Invalidf(apierr.TooLong, field, "The thread would have more than %d parts. Shorten the text, then split it.",
				thread.MaxParts)
		}
		if len(pieces) == 0 { // only white space
			pieces = []string{""}
		}
		for j, text := range pieces {
			next := part{Text: text}
			if j == 0 {
				next.Media = one.Media
			}
			out = append(out, next)
		}
	}
	s.Caption, s.Parts = out[0].Text, out[1:]
	return nil
}
