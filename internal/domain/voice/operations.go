package voice

import (
	"context"
	"net/http"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
)

// BrandVoiceEntry identifies a voice in a list.
type BrandVoiceEntry struct {
	ID      int64  `json:"id"`
	Name    string `json:"name"`
	Default bool   `json:"default" jsonschema:"Whether it is the team's default voice."`
}

// BrandVoice is a voice with its content.
type BrandVoice struct {
	BrandVoiceEntry
	Guide

	Text string `json:"text" jsonschema:"The whole voice as one block for a language model. The team's texts are indented below headings."`
}

// BrandVoiceList holds all of a team's voices.
type BrandVoiceList struct {
	BrandVoices  []BrandVoiceEntry `json:"brand_voices"`
	DefaultVoice *BrandVoice       `json:"default_voice,omitempty" jsonschema:"The default voice in full. Omitted if there are no voices."`
}

// ListInput is the input of list_brand_voices, which has no arguments.
type ListInput struct{}

// GetInput is the input of get_brand_voice.
type GetInput struct {
	ID int64 `json:"id"`
}

// Operations returns the operations on voices.
func (s *Service) Operations() []operation.Operation {
	return []operation.Operation{
		operation.Define(operation.Spec{
			Tool: "list_brand_voices", Method: http.MethodGet, Path: "/brand-voices", Needs: access.Read,
			Success: http.StatusOK,
			Summary: "List brand voices",
			Description: "Lists the team's brand voices, newest first, and returns the default voice in full. Call " +
				"it before you write for the team, and use the default unless the user asks for another. " +
				"Voices are created and edited in the app.",
			Next: "get_brand_voice returns another voice in full.",
			Listing: &operation.Listing{Member: "brand_voices", Item: "get_brand_voice",
				Arguments: map[string]string{"id": "id"}, Label: []string{"name"}},
			Example: operation.Example{
				Data: BrandVoiceList{BrandVoices: []BrandVoiceEntry{exampleVoice.BrandVoiceEntry}, DefaultVoice: &exampleVoice},
			},
		}, s.list),
		operation.Define(operation.Spec{
			Tool: "get_brand_voice", Method: http.MethodGet, Path: "/brand-voices/{id}", Needs: access.Read,
			Success: http.StatusOK,
			Summary: "Get a brand voice",
			Description: "Returns a brand voice in full. Its text contains all of its instructions: tone, point of " +
				"view, emoji, words to use and words to avoid.",
			Next:     "Check your text against the words to avoid before you show it.",
			Resource: &operation.Resource{Address: "brand-voices/{id}", Title: "Brand voice"},
			Example:  operation.Example{Arguments: map[string]any{"id": exampleVoice.ID}, Data: exampleVoice},
		}, s.get),
	}
}

const appPath = "/voices"

// noVoicesNote is the note for a team without voices.
const noVoicesNote = "The team has no brand voice yet. A team member who may write can create one in the app under Brand " +
	"voices."

func (s *Service) list(
	ctx context.Context, call operation.Call, _ ListInput,
) (operation.Response[BrandVoiceList], error) {
	out := operation.Response[BrandVoiceList]{App: appPath, Data: BrandVoiceList{BrandVoices: []BrandVoiceEntry{}}}
	records, err := listVoices(ctx, s.db, listQuery, call.TeamID)
	if err != nil {
		return out, err
	}
	for _, r := range records {
		out.Data.BrandVoices = append(out.Data.BrandVoices, newEntry(r))
		if !r.isDefault {
			continue
		}
		voice, err := newBrandVoice(call, r)
		if err != nil {
			return out, err
		}
		out.Data.DefaultVoice = &voice
	}
	if len(records) == 0 {
		out.Notes = []string{noVoicesNote}
	}
	return out, nil
}

func (s *Service) get(ctx context.Context, call operation.Call, in GetInput) (operation.Response[BrandVoice], error) {
	out := operation.Response[BrandVoice]{App: appPath}
	r, err := find(ctx, s.db, call.TeamID, in.ID)
	if err != nil {
		return out, err
	}
	out.App = appPath + "/" + formatID(r.id)
	out.Data, err = newBrandVoice(call, r)
	return out, err
}

// List returns a team's voices with their content. The default voice comes first, followed by the others, newest first.
func (s *Service) List(ctx context.Context, call operation.Call) ([]BrandVoice, error) {
	if err := call.Require(access.Read); err != nil {
		return nil, err
	}
	records, err := listVoices(ctx, s.db, fullListQuery, call.TeamID)
	if err != nil {
		return nil, err
	}
	var out []BrandVoice
	for _, r := range records {
		full, err := newBrandVoice(call, r)
		if err != nil {
			return nil, err
		}
		out = append(out, full)
	}
	return out, nil
}

func newEntry(r record) BrandVoiceEntry {
	return BrandVoiceEntry{ID: r.id, Name: r.name, Default: r.isDefault}
}

// newBrandVoice returns the API representation of a voice. If the voice has no language, the team's language is used.
func newBrandVoice(call operation.Call, r record) (BrandVoice, error) {
	d, err := r.draft()
	if err != nil {
		return BrandVoice{}, err
	}
	if d.ContentLanguage == "" {
		d.ContentLanguage, _ = canonicalLanguage(call.Language) // empty if the team's language is invalid
	}
	text, err := assemble(d)
	return BrandVoice{newEntry(r), d.Guide, text}, err
}

var exampleVoice = func() BrandVoice {
	d := Draft{Name: "Harbour Coffee", Guide: Guide{
		BusinessDescription: "A roastery with a café at the harbour.", Tone: "Warm and plain.",
		PointOfView: FirstPlural,
		Audiences: []BrandVoiceAudience{
			{Name: "Regulars", Description: "They come for the coffee and stay for a chat."},
		},
		EmojiPolicy:        FewEmoji,
		Use:                BrandVoiceUse{Words: []string{"roastery"}, Phrases: []string{"see you at the harbour"}},
		Avoid:              BrandVoiceUse{Words: []string{"cheap"}, Phrases: []string{}},
		CustomInstructions: "End with the opening hours.", ContentLanguage: "en-GB",
	}}
	text, err := assemble(d)
	if err != nil {
		panic(err)
	}
	return BrandVoice{BrandVoiceEntry{ID: 7, Name: d.Name, Default: true}, d.Guide, text}
}()
