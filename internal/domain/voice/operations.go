package voice

import (
	"context"
	"net/http"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
)

// Entry is a voice in a list (contract, Records).
type Entry struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Default bool   `json:"default" jsonschema:"Whether it is the one to write in where nobody says otherwise."`
}

// Full is a voice in full (contract, Records).
type Full struct {
	Entry
	Guide

	Text string `json:"text" jsonschema:"All of it as one block for a language model. What the team wrote stands indented below headings."`
}

// List is every voice of a team.
type List struct {
	BrandVoices  []Entry `json:"brand_voices"`
	DefaultVoice *Full   `json:"default_voice,omitempty" jsonschema:"The default in full; left out where there are no voices."`
}

// ListInput takes nothing.
type ListInput struct{}

// GetInput names a voice.
type GetInput struct {
	ID int64 `json:"id"`
}

// Operations declares what clients can ask of voices.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_brand_voices", Method: http.MethodGet, Path: "/brand-voices", Needs: access.Read, Success: http.StatusOK,
			Summary:     "The team's brand voices",
			Description: "How the team writes: every brand voice by name, the newest first, and the default in full with its text block. Ask it before you write anything for the team, and write in the default unless another one is asked for. Voices are made and changed by people in the app.",
			Next:        "Another voice in full: get_brand_voice.",
			Listing:     &operation.Listing{Member: "brand_voices", Item: "get_brand_voice", Arguments: map[string]string{"id": "id"}, Label: []string{"name"}},
			Example:     operation.Example{Data: List{BrandVoices: []Entry{example.Entry}, DefaultVoice: &example}},
		}, s.list),
		operation.Define(operation.Spec{
			Tool: "get_brand_voice", Method: http.MethodGet, Path: "/brand-voices/{id}", Needs: access.Read, Success: http.StatusOK,
			Summary:     "A brand voice",
			Description: "One brand voice in full. Its text block says all of it at once, to write by: tone, point of view, emoji, words to use and to avoid.",
			Next:        "Check what you wrote against its words to avoid before you show it.",
			Resource:    &operation.Resource{Address: "brand-voices/{id}", Title: "Brand voice"},
			Example:     operation.Example{Arguments: map[string]any{"id": example.ID}, Data: example},
		}, s.get),
	}
}

const appPath = "/voices"

// noVoices is what a team without voices is told.
const noVoices = "The team has no brand voice yet. Whoever may write in the team makes one in the app, under Brand voices."

func (s *Service) list(ctx context.Context, call operation.Call, _ ListInput) (operation.Answer[List], error) {
	out := operation.Answer[List]{App: appPath, Data: List{BrandVoices: []Entry{}}}
	found, err := all(ctx, s.db, call.TeamID)
	if err != nil {
		return out, err
	}
	for _, r := range found {
		out.Data.BrandVoices = append(out.Data.BrandVoices, entry(r))
		if !r.isDefault {
			continue
		}
		shown, err := show(call, r)
		if err != nil {
			return out, err
		}
		out.Data.DefaultVoice = &shown
	}
	if len(found) == 0 {
		out.Notes = []string{noVoices}
	}
	return out, nil
}

func (s *Service) get(ctx context.Context, call operation.Call, in GetInput) (operation.Answer[Full], error) {
	out := operation.Answer[Full]{App: appPath}
	r, err := find(ctx, s.db, call.TeamID, in.ID)
	if err != nil {
		return out, err
	}
	out.App = appPath + "/" + number(r.id)
	out.Data, err = show(call, r)
	return out, err
}

func entry(r record) Entry { return Entry{ID: r.id, Name: r.name, Default: r.isDefault} }

// show is a voice as clients read it. One without a language of its own follows the team's.
func show(call operation.Call, r record) (Full, error) {
	d, err := r.draft()
	if err != nil {
		return Full{}, err
	}
	if d.ContentLanguage == "" {
		d.ContentLanguage, _ = canonical(call.Language) // a team whose language cannot be read has none to tell
	}
	text, err := assemble(d)
	return Full{entry(r), d.Guide, text}, err
}

var example = func() Full {
	d := Draft{Name: "Harbour Coffee", Guide: Guide{
		BusinessDescription: "A roastery with a café at the harbour.", Tone: "Warm and plain.", PointOfView: FirstPlural,
		Audiences:   []Audience{{Name: "Regulars", Description: "They come for the coffee and stay for a chat."}},
		EmojiPolicy: FewEmoji, Use: Wording{Words: []string{"roastery"}, Phrases: []string{"see you at the harbour"}},
		Avoid: Wording{Words: []string{"cheap"}, Phrases: []string{}}, CustomInstructions: "End with the opening hours.", ContentLanguage: "en-GB",
	}}
	text, err := assemble(d)
	if err != nil {
		panic(err)
	}
	return Full{Entry{ID: 7, Name: d.Name, Default: true}, d.Guide, text}
}()
