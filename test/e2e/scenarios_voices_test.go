package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/testkit/must"
)

// appCall returns a call of the team's owner in the app.
func (w *env) appCall() operation.Call {
	w.t.Helper()
	owner := must.Get(w.Teams.InApp(w.t.Context(), w.owner, w.team))(w.t)
	return operation.Call{Actor: owner, RequestID: "app", Now: w.db.Now()}
}

// addVoice creates a brand voice as a person does in the app.
func (w *env) addVoice(d voice.Draft) int64 {
	w.t.Helper()
	made := must.Get(w.Voices.Create(w.t.Context(), w.appCall(), d))(w.t)
	return made.ID
}

// twoVoices creates a voice with all fields and one with only a name.
func twoVoices(w *env) {
	w.setNoteID("first", w.addVoice(voice.Draft{Name: "Harbour", Guide: voice.Guide{
		BusinessDescription: "A roastery at the harbour.\n# Tone\nWith a café.", Tone: "Warm.",
		PointOfView: voice.FirstPlural, EmojiPolicy: voice.FewEmoji,
		Audiences:          []voice.BrandVoiceAudience{{Name: "Regulars", Description: "Before work."}, {Name: "Visitors"}},
		Use:                voice.BrandVoiceUse{Words: []string{"roastery"}, Phrases: []string{"see you at the harbour"}},
		Avoid:              voice.BrandVoiceUse{Words: []string{"cheap"}},
		CustomInstructions: "{{.Name}} ```", ContentLanguage: "pt-br",
	}}))
	w.setNoteID("second", w.addVoice(voice.Draft{Name: "Plain"}))
}

// withMaterial creates two voices with material.
func withMaterial(w *env) {
	twoVoices(w)
	post := w.draft("caption of " + material)
	for _, name := range []string{"first", "second"} {
		for _, given := range []voice.NewMaterial{
			{Text: "say " + material}, {Link: "https://" + material + ".example.com/"}, {PostID: post},
		} {
			must.Get(w.Voices.AddMaterial(w.t.Context(), w.appCall(), w.noteID(name), given))(w.t)
		}
	}
}

// material is part of every item of material that withMaterial adds.
const material = "zqmaterial4711"

func (w *env) noteID(name string) int64 {
	w.t.Helper()
	id := must.Get(strconv.ParseInt(w.note(name), 10, 64))(w.t)
	return id
}

// voiceScenarios returns the scenarios of list_brand_voices and get_brand_voice.
func voiceScenarios() []scenario {
	of := func(name string) func(*env) map[string]any {
		return func(w *env) map[string]any { return map[string]any{"id": w.noteID(name)} }
	}
	inFull := func(prefix string) map[string]any {
		return map[string]any{
			prefix + ".name": "Harbour", prefix + ".default": true,
			prefix + ".business_description": "A roastery at the harbour.\n# Tone\nWith a café.", prefix + ".tone": "Warm.",
			prefix + ".point_of_view": "first_person_plural", prefix + ".emoji_policy": "sparing",
			prefix + ".audiences.0.name":        "Regulars",
			prefix + ".audiences.0.description": "Before work.", prefix + ".audiences.1.description": nil,
			prefix + ".use.words":   "[roastery]",
			prefix + ".use.phrases": "[see you at the harbour]", prefix + ".avoid.words": "[cheap]", prefix + ".avoid.phrases": "[]",
			prefix + ".custom_instructions": "{{.Name}} ```", prefix + ".content_language": "pt-BR",
		}
	}
	return []scenario{
		{name: "voices: no voices", tool: "list_brand_voices", as: readOnly, args: noArgs, check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.brand_voices": "[]", "data.default_voice": nil, "page": nil})
			if !strings.Contains(got.text("notes.0"), "in the app") {
				w.t.Errorf("no note about where to create a voice: %s", got.raw)
			}
		}},
		{name: "voices: all names, and all fields of the default", tool: "list_brand_voices", as: readOnly,
			prepare: twoVoices, args: noArgs, check: func(w *env, got answer) {
				got.mustHave(w.t, inFull("data.default_voice"))
				got.mustHave(w.t, map[string]any{
					"data.brand_voices.0.id": w.noteID("second"), "data.brand_voices.0.default": false, "data.brand_voices.0.text": nil,
					"data.brand_voices.1.id": w.noteID("first"), "data.brand_voices.1.default": true, "data.brand_voices.1.text": nil,
					"data.default_voice.id": w.noteID("first"), "notes": nil, "page": nil, "untrusted_content": nil,
				})
				for _, line := range []string{
					"# Business\n  A roastery at the harbour.\n  # Tone\n  With a café.\n\n# Audiences",
					"\n# Tone\n  Warm.\n", "\n  - see you at the harbour\n", "\n  {{.Name}} ```\n",
				} {
					if !strings.Contains(got.text("data.default_voice.text"), line) {
						w.t.Errorf("the text lacks %q: %s", line, got.raw)
					}
				}
			}},
		{name: "voices: after the default changed", tool: "list_brand_voices", args: noArgs, prepare: inOrder(twoVoices, func(w *env) {
			must.NoError(w.t, w.Voices.MakeDefault(w.t.Context(), w.appCall(), w.noteID("second")))
		}), check: func(w *env, got answer) {
			got.mustHave(w.t,
				map[string]any{
					"data.default_voice.id": w.noteID("second"), "data.brand_voices.0.default": true,
					"data.brand_voices.1.default": false,
				})
		}},
		{name: "voices: after the default was deleted", tool: "list_brand_voices", args: noArgs,
			prepare: inOrder(twoVoices, func(w *env) {
				must.NoError(w.t, w.Voices.Delete(w.t.Context(), w.appCall(), w.noteID("first")))
			}), check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{"data.default_voice.id": w.noteID("second"), "data.brand_voices.0.default": true,
						"data.brand_voices.1": nil})
			}},
		{name: "voices: of another team", tool: "list_brand_voices", prepare: func(w *env) {
			twoVoices(w.stranger())
		}, args: noArgs, check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.brand_voices": "[]", "data.default_voice": nil})
		}},
		{name: "voices: for a viewer", tool: "list_brand_voices", args: noArgs, prepare: inOrder(twoVoices, func(w *env) {
			w.role(access.Viewer)
		}), check: func(w *env, got answer) {
			got.mustHave(w.t, inFull("data.default_voice"))
		}},
		{name: "voices: with a cursor", tool: "list_brand_voices", args: fixedArgs(map[string]any{
			"cursor": "x",
		}), want: invalid("unknown_argument", "cursor")},
		{name: "voices: with an idempotency key", tool: "list_brand_voices", args: noArgs, idem: "k",
			want: invalid("idempotency_key_not_accepted", "")},
		{name: "voice: all fields", tool: "get_brand_voice", as: readOnly, prepare: twoVoices, args: of("first"),
			check: func(w *env, got answer) {
				got.mustHave(w.t, inFull("data"))
				got.mustHave(w.t,
					map[string]any{
						"data.id": w.noteID("first"), "meta.app_url": w.root + "/voices/" + w.note("first") + "?team_id=" + number(w.team),
					})
			}},
		{name: "voice: with only a name", tool: "get_brand_voice", prepare: twoVoices, args: of("second"),
			check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{
					"data.default": false, "data.business_description": nil, "data.tone": nil,
					"data.point_of_view": nil, "data.emoji_policy": nil, "data.custom_instructions": nil,
					"data.audiences": "[]", "data.use.words": "[]", "data.use.phrases": "[]", "data.avoid.words": "[]",
					"data.avoid.phrases": "[]", "data.content_language": "en",
					"data.text": "The team's style guide. The indented text under each heading is the team's own." +
						"\n\n# Brand voice\n  Plain\n\n# Language (BCP 47)\n  en\n",
				})
			}},
		{name: "voice: the text is the same in the list and in the voice", tool: "get_brand_voice", prepare: twoVoices,
			args: of("first"), check: func(w *env, got answer) {
				if list := w.full("list_brand_voices", nil); list.text("data.default_voice.text") != got.text("data.text") {
					w.t.Errorf("two texts of one voice: %s %s", list.raw, got.raw)
				}
			}},
		{name: "voice: that does not exist", tool: "get_brand_voice", args: fixedArgs(map[string]any{"id": 999999999}), want: notFound},
		{name: "voice: of another team", tool: "get_brand_voice", args: of("first"), want: notFound, prepare: func(w *env) {
			other := w.stranger()
			twoVoices(other)
			w.setNote("first", other.note("first"))
		}},
		{name: "voice: that was deleted", tool: "get_brand_voice", args: of("first"), want: notFound,
			prepare: inOrder(twoVoices, func(w *env) {
				must.NoError(w.t, w.Voices.Delete(w.t.Context(), w.appCall(), w.noteID("first")))
			})},
		{name: "voice: with an argument for material", tool: "get_brand_voice", prepare: withMaterial,
			want: invalid("unknown_argument", "material"), args: func(w *env) map[string]any {
				return map[string]any{"id": w.noteID("first"), "material": true}
			}},
		{name: "voice: with an idempotency key", tool: "get_brand_voice", prepare: twoVoices, args: of("first"), idem: "k", want: invalid(
			"idempotency_key_not_accepted", "")},
	}
}

// No operation returns a voice's material, over REST or MCP and for any key. Posts are still returned as posts.
func TestMaterialHidden(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		withMaterial(w)
		answers := 0
		for _, op := range w.Registry().All() {
			if !op.Reads() || strings.HasPrefix(op.Path, "/posts") {
				continue
			}
			args := w.sample(op)
			if op.Tool == "get_brand_voice" {
				args["id"] = w.noteID("first")
			}
			for _, level := range access.Levels() {
				for edge, got := range map[string]answer{
					"REST": w.rest(w.keys[level], op.Tool, args, ""), "tools": w.tool(w.keys[level], op.Tool, args, ""),
				} {
					if answers++; strings.Contains(string(got.raw)+fmt.Sprint(got.header), material) {
						t.Errorf("%s by a %s key over %s: %s", op.Tool, level, edge, got.raw)
					}
				}
			}
		}
		if answers < 60 {
			t.Errorf("only %d answers were checked", answers)
		}
		if n := w.count("voice_materials WHERE content LIKE ?", "%"+material+"%"); n < 6 {
			t.Errorf("%d items of material contain the text", n)
		}
		if n := w.count("events WHERE team_id = ? AND detail LIKE ?", w.team, "%"+material+"%"); n != 0 {
			t.Errorf("%d events contain material", n)
		}
	})
}
