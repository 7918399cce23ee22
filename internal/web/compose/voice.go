package compose

import (
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/web/shell"
)

// maxWords is the maximum number of preferred words and phrases that are listed.
const maxWords = 20

// noVoice is the value of formData.Voice if the person chose to check against no voice. The value 0 means the team's
// default voice.
const noVoice = -1

// voiceCheck is the result of checking the texts of a form against a brand voice.
type voiceCheck struct {
	Voices     []voice.BrandVoiceEntry
	Chosen     int64 // ID of the selected voice; 0 for none
	Name       string
	Avoided    []string // words and phrases to avoid that occur in the texts
	HasAvoided bool     // whether the voice has words or phrases to avoid
	Use        []useWord
}

// useWord is a word or phrase that the voice prefers. Used is set if the texts contain it.
type useWord struct {
	Text string
	Used bool
}

// wordingOf checks the texts of a form against its brand voice.
func (p *Handlers) wordingOf(r *http.Request, s formData) (voiceCheck, error) {
	found, _, err := shell.Run[voice.BrandVoiceList](p.Shell, r, "list_brand_voices", operation.Arguments{})
	if err != nil {
		return voiceCheck{}, err
	}
	out := voiceCheck{Voices: found.BrandVoices}
	v := found.DefaultVoice
	switch {
	case s.Voice == noVoice:
		return out, nil
	case s.Voice > 0 && (v == nil || v.ID != s.Voice):
		chosen, _, err := shell.Run[voice.BrandVoice](p.Shell, r, "get_brand_voice", operation.Arguments{"id": s.Voice})
		if err != nil && !apierr.Is(err, apierr.NotFound) {
			return out, err
		}
		if err == nil {
			v = &chosen
		}
	}
	if v != nil {
		out.apply(*v, s.texts())
	}
	return out, nil
}

// apply sets the result of checking texts against a voice.
func (w *voiceCheck) apply(v voice.BrandVoice, texts []string) {
	w.Chosen, w.Name = v.ID, v.Name
	avoid := slices.Concat(v.Avoid.Words, v.Avoid.Phrases)
	w.HasAvoided = len(avoid) > 0
	has := func(word string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return containsWord(text, word) })
	}
	for _, word := range avoid {
		if has(word) {
			w.Avoided = append(w.Avoided, word)
		}
	}
	for _, word := range slices.Concat(v.Use.Words, v.Use.Phrases) {
		if len(w.Use) < maxWords {
			w.Use = append(w.Use, useWord{word, has(word)})
		}
	}
}

// texts returns the post's text and the selected accounts' own texts. It omits the thread and the first comment.
func (s *formData) texts() []string {
	out := []string{s.Caption}
	for _, account := range s.Accounts {
		out = append(out, s.Own[account].Text)
	}
	return out
}

// containsWord reports whether a text contains a word or phrase as whole words. It ignores case.
func containsWord(text, word string) bool {
	fold := func(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
	text, word = fold(text), fold(word)
	if word == "" {
		return false
	}
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(word):])
		if !inWord(before) && !inWord(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		from = at + size
	}
}
