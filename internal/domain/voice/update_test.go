package voice

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit"
)

// fullDraft is a draft with all fields.
func fullDraft() Draft {
	return Draft{Name: "Harbour Coffee", Guide: Guide{
		BusinessDescription: "A roastery with a café at the harbour.\n\nThe beans come from four farms that we have " +
			"known for years.",
		Tone:        "Warm, plain, a little dry.",
		PointOfView: FirstPlural,
		Audiences: []BrandVoiceAudience{{"Regulars", "They come for the coffee and stay for a chat."},
			{Name: "Visitors"}},
		EmojiPolicy: FewEmoji,
		Use:         BrandVoiceUse{Words: []string{"roastery", "beans"}, Phrases: []string{"see you at the harbour"}},
		Avoid: BrandVoiceUse{Words: []string{"cheap"}, Phrases: []string{"best coffee in town",
			"limited offer"}},
		CustomInstructions: "End with the opening hours.\nName the farm where there is one.",
		ContentLanguage:    "en-GB",
	}}
}

// Clients read what was stored, and the list contains the default in full.
func TestCreate(t *testing.T) {
	forEachDatabase(t, func(w env) {
		made, err := w.Create(w.t.Context(), w.call, fullDraft())
		w.must(err)
		w.make("Plain")
		if !made.Default || !strings.HasPrefix(made.Text, "The team's style guide.") {
			t.Errorf("created %+v", made)
		}
		if diff := cmp.Diff(fullDraft().Guide, made.Guide); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(made, w.mustGet(made.ID)); diff != "" {
			t.Error(diff)
		}
		want := BrandVoiceList{BrandVoices: []BrandVoiceEntry{{made.ID + 1, "Plain", false}, made.BrandVoiceEntry}, DefaultVoice: &made}
		if diff := cmp.Diff(want, w.mustList(w.call)); diff != "" {
			t.Error(diff)
		}
	})
}

// A note tells a team without voices where to create one.
func TestNoVoices(t *testing.T) {
	forEachDatabase(t, func(w env) {
		got, err := w.callOperation(w.call, "list_brand_voices", "{}")
		w.must(err)
		if asJSON(got.Data) != `{"brand_voices":[]}` || !slices.Equal(got.Notes, []string{noVoicesNote}) ||
			got.App != "/voices" {
			t.Errorf("got %+v", got)
		}
		w.make("Plain")
		got, err = w.callOperation(w.call, "list_brand_voices", "{}")
		w.must(err)
		if len(got.Notes) != 0 {
			t.Errorf("notes %q", got.Notes)
		}
	})
}

// A voice with only a name omits empty fields, keeps its lists, and has the team's language.
func TestVoiceWithOnlyAName(t *testing.T) {
	forEachDatabase(t, func(w env) {
		v := w.mustGet(w.make("Plain"))
		want := `{"id":1,"name":"Plain","default":true,"audiences":[],"use":{"words":[],"phrases":[]},` +
			`"avoid":{"words":[],"phrases":[]},"content_language":"de",`
		if got := asJSON(v); !strings.HasPrefix(got, want+`"text":`) {
			t.Errorf("got %s", got)
		}
		call := w.call
		actor := *call.Actor
		call.Actor = &actor
		for language, shown := range map[string]string{"pt-br": "pt-BR", "": "", "no language": ""} {
			actor.Language = language
			got := w.mustList(call).DefaultVoice
			if got.ContentLanguage != shown || strings.Contains(got.Text, "# Language") != (shown != "") ||
				shown != "" && !strings.Contains(got.Text, "  "+shown+"\n") {
				t.Errorf("team with the language %q: %+v", language, got)
			}
		}
	})
}

// Exactly one voice is the default if there are any.
func TestDefault(t *testing.T) {
	forEachDatabase(t, func(w env) {
		ctx := w.t.Context()
		a, b, c := w.make("A"), w.make("B"), w.make("C")
		w.mustHaveStates("C", "B", "A*")
		w.must(w.MakeDefault(ctx, w.call, c))
		w.must(w.MakeDefault(ctx, w.call, c))
		w.mustHaveStates("C*", "B", "A")
		w.must(w.Delete(ctx, w.call, b))
		w.mustHaveStates("C*", "A")
		d := w.make("D")
		w.must(w.Delete(ctx, w.call, c))
		w.mustHaveStates("D", "A*")
		w.must(w.Delete(ctx, w.call, a))
		w.mustHaveStates("D*")
		w.must(w.Delete(ctx, w.call, d))
		w.mustHaveStates()
		w.make("E")
		w.mustHaveStates("E*")
	})
}

// model is a simple model of a team's voices, oldest first, with the default.
type model struct {
	env

	r   *rapid.T
	ids []int64
	def int64
}

// step performs a random operation on the service and the model.
func (m *model) step(name string) {
	ctx := m.t.Context()
	switch step := rapid.IntRange(0, 3).Draw(m.r, "step"); {
	case step < 2 || len(m.ids) == 0:
		id := m.make(name)
		if m.ids = append(m.ids, id); len(m.ids) == 1 {
			m.def = id
		}
	case step == 2:
		m.def = rapid.SampledFrom(m.ids).Draw(m.r, "default")
		m.must(m.MakeDefault(ctx, m.call, m.def))
	default:
		i := rapid.IntRange(0, len(m.ids)-1).Draw(m.r, "gone")
		gone := m.ids[i]
		m.must(m.Delete(ctx, m.call, gone))
		if m.ids = slices.Delete(m.ids, i, i+1); gone == m.def && len(m.ids) > 0 {
			m.def = m.ids[0]
		}
	}
}

// mustAgree compares the list with the model.
func (m *model) mustAgree() {
	got, want := m.mustList(m.call), []int64{}
	for _, v := range got.BrandVoices {
		if want = append(want, v.ID); v.Default != (v.ID == m.def) {
			m.r.Fatalf("voices %+v, want %d as the default", got.BrandVoices, m.def)
		}
	}
	if slices.Reverse(want); !slices.Equal(want, m.ids) || (got.DefaultVoice != nil) != (len(want) > 0) ||
		len(want) > 0 && got.DefaultVoice.ID != m.def {
		m.r.Fatalf("got %+v, want %v with %d", got, m.ids, m.def)
	}
}

// For any sequence of operations, the voices match a simple model.
func TestVoicesMatchModel(t *testing.T) {
	forEachDatabase(t, func(w env) {
		n := 0
		rapid.Check(w.t, func(r *rapid.T) {
			m := model{env: w, r: r}
			n++
			m.call = w.newTeam(fmt.Sprintf("r%d@harbour.example", n), "en")
			for step := range rapid.IntRange(1, 12).Draw(r, "steps") {
				m.step(fmt.Sprint("voice ", step))
				m.mustAgree()
			}
		})
	})
}

// Concurrent calls on several nodes leave exactly one default, respect the limit of voices, and keep names unique.
func TestConcurrentDefault(t *testing.T) {
	forEachDatabase(t, func(w env) {
		ctx := w.t.Context()
		nodes := []*Service{w.Service, New(Options{DB: testkit.Open(w.t, w.url, w.clock)})}
		var wg sync.WaitGroup
		together := func(n int, do func(s *Service, i int)) {
			for i := range n {
				wg.Go(func() { do(nodes[i%2], i) })
			}
			wg.Wait()
		}
		for n := range MaxVoices - 4 {
			w.make(fmt.Sprint("voice ", n))
		}
		w.exec(`DELETE FROM brand_voices WHERE id BETWEEN 2 AND 8`)
		together(24, func(s *Service, i int) {
			if _, err := s.Create(ctx, w.call, draftNamed(fmt.Sprint("new ", i%16))); err != nil && !apierr.Is(err,
				apierr.ValidationFailed) {
				t.Error(err)
			}
		})
		if n := w.queryInt(`SELECT COUNT(*) FROM brand_voices`); n != MaxVoices {
			t.Errorf("%d voices, want %d", n, MaxVoices)
		}
		if n := w.queryInt(`SELECT COUNT(DISTINCT name) FROM brand_voices`); n != MaxVoices {
			t.Errorf("%d names, want %d", n, MaxVoices)
		}
		w.must(w.MakeDefault(ctx, w.call, 20))
		together(36, func(s *Service, i int) {
			id := int64(20 + i/2)
			do := s.MakeDefault
			if i%3 == 0 {
				do = s.Delete
			}
			if err := do(ctx, w.call, id); err != nil && !apierr.Is(err, apierr.NotFound) {
				t.Error(err)
			}
			if n := w.queryInt(`SELECT COUNT(*) FROM brand_voices WHERE is_default = 1`); n != 1 {
				t.Errorf("%d defaults", n)
			}
		})
	})
}

// Creating a team's first voices concurrently yields one default.
func TestConcurrentFirstVoices(t *testing.T) {
	forEachDatabase(t, func(w env) {
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				if _, err := w.Create(w.t.Context(), w.call, draftNamed(fmt.Sprint("voice ", i))); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := w.queryInt(`SELECT COUNT(*) FROM brand_voices WHERE is_default = 1`); n != 1 || len(w.listVoices()) != 12 {
			t.Errorf("%d defaults of %d", n, len(w.listVoices()))
		}
	})
}

// The database rejects a second default and a second voice with the same name.
func TestDatabaseConstraints(t *testing.T) {
	forEachDatabase(t, func(w env) {
		w.make("Plain")
		for _, c := range []struct {
			folded string
			def    int
		}{{"plain", 0}, {"other", 1}, {"third", 2}} {
			if _, err := w.db.Writer().ExecContext(w.t.Context(),
				fmt.Sprintf(`INSERT INTO brand_voices (team_id, name, folded, is_default, guide, created_at, updated_at)
				VALUES (%d, 'x', '%s', %d, '{}', 1, 1)`, w.call.TeamID, c.folded, c.def)); err == nil {
				t.Errorf("accepted %+v", c)
			}
		}
	})
}

// Every operation on another team's voice returns not_found.
func TestVoicesOfOthers(t *testing.T) {
	forEachDatabase(t, func(w env) {
		ctx, theirs := w.t.Context(), w.newTeam("eve@other.example", "en")
		id := w.make("Plain")
		m, err := w.AddMaterial(ctx, w.call, id, NewMaterial{Text: "ours"})
		w.must(err)
		for _, id := range []int64{id, 999_999_999} {
			_, got := w.callOperation(theirs, "get_brand_voice", fmt.Sprintf(`{"id":%d}`, id))
			_, changed := w.Update(ctx, theirs, id, draftNamed("Taken"))
			_, added := w.AddMaterial(ctx, theirs, id, NewMaterial{Text: "theirs"})
			_, listed := w.Materials(ctx, theirs, id)
			for name, err := range map[string]error{
				"get": got, "change": changed, "add": added, "materials": listed, "delete": w.Delete(ctx, theirs, id),
				"default": w.MakeDefault(ctx, theirs, id), "remove": w.RemoveMaterial(ctx, theirs, id, m.ID),
			} {
				if asJSON(apierr.FromError(err)) != asJSON(apierr.ItemNotFound()) {
					t.Errorf("%s of %d: %v", name, id, err)
				}
			}
		}
		if got := w.mustList(theirs); len(got.BrandVoices) != 0 || got.DefaultVoice != nil {
			t.Errorf("another team sees %+v", got)
		}
		w.mustHaveStates("Plain*")
		if kept, err := w.Materials(ctx, w.call, id); err != nil || len(kept) != 1 {
			t.Errorf("material %v, %v", kept, err)
		}
	})
}

// People who may not write cannot change voices, and voices of a closed team cannot be changed.
func TestUpdatePermissions(t *testing.T) {
	forEachDatabase(t, func(w env) {
		ctx, id := w.t.Context(), w.make("Plain")
		rejected := func(call operation.Call, code apierr.Code) {
			t.Helper()
			_, created := w.Create(ctx, call, draftNamed("Other"))
			_, changed := w.Update(ctx, call, id, draftNamed("Other"))
			for _, err := range []error{created, changed, w.Delete(ctx, call, id), w.MakeDefault(ctx, call, id)} {
				w.mustReject(err, code, "", "")
			}
		}
		rejected(callAs(w.call, access.Viewer, 0), apierr.WriteNotAllowed)
		rejected(callAs(w.call, access.Client, 0), apierr.WriteNotAllowed)
		if _, err := w.Update(ctx, callAs(w.call, access.Editor, 0), id, draftNamed("Plainer")); err != nil {
			t.Error(err)
		}
		w.exec(`UPDATE teams SET closed_at = 5 WHERE id = ?`, w.call.TeamID)
		rejected(w.call, apierr.NotFound)
		w.mustHaveStates("Plainer*")
	})
}

// An update replaces the whole content. Repeating it changes and records nothing.
func TestChange(t *testing.T) {
	forEachDatabase(t, func(w env) {
		ctx := w.t.Context()
		a, b := w.make("A"), w.make("B")
		changed, err := w.Update(ctx, w.call, a, fullDraft())
		w.must(err)
		if diff := cmp.Diff(changed, w.mustGet(a)); diff != "" || changed.Name != "Harbour Coffee" || !changed.Default {
			t.Errorf("%+v\n%s", changed, diff)
		}
		events := w.queryInt(`SELECT COUNT(*) FROM events WHERE kind LIKE 'brand_voice.%'`)
		_, err = w.Update(ctx, w.call, a, fullDraft())
		w.must(err)
		if n := w.queryInt(`SELECT COUNT(*) FROM events WHERE kind LIKE 'brand_voice.%'`); n != events {
			t.Errorf("%d events for an update without changes", n-events)
		}
		_, err = w.Update(ctx, w.call, b, draftNamed("HARBOUR ＣＯＦＦＥＥ"))
		w.mustReject(err, apierr.ValidationFailed, apierr.NotAllowedValue, "name")
		_, err = w.Create(ctx, w.call, draftNamed("harbour coffee"))
		w.mustReject(err, apierr.ValidationFailed, apierr.NotAllowedValue, "name")
		_, err = w.Update(ctx, w.call, a, draftNamed("harbour coffee"))
		w.must(err)
		w.mustHaveStates("B", "harbour coffee*")
	})
}

// Each change is recorded with its author, but without the texts.
func TestEvents(t *testing.T) {
	forEachDatabase(t, func(w env) {
		ctx := w.t.Context()
		id := w.make("Secret name")
		other := w.make("Other")
		_, err := w.Update(ctx, w.call, id, Draft{Name: "Secret name", Guide: Guide{Tone: "Secret tone"}})
		w.must(err)
		w.must(w.MakeDefault(ctx, w.call, other))
		m, err := w.AddMaterial(ctx, w.call, id, NewMaterial{Text: "Secret text"})
		w.must(err)
		w.must(w.RemoveMaterial(ctx, w.call, id, m.ID))
		w.must(w.Delete(ctx, w.call, id))
		if n := w.queryInt(`SELECT COUNT(*) FROM events WHERE detail LIKE '%ecret%' OR subject LIKE '%ecret%'`); n != 0 {
			t.Errorf("%d events contain texts", n)
		}
		for kind, want := range map[string]int{"created": 2, "changed": 1, "made_default": 1, "material_added": 1,
			"material_removed": 1, "deleted": 1} {
			if n := w.queryInt(`SELECT COUNT(*) FROM events WHERE kind = ? AND team_id = ? AND person_id = ?
				AND request_id = 'r1'`, "brand_voice."+kind, w.call.TeamID, w.call.PersonID); n != want {
				t.Errorf("%d events of %s, want %d", n, kind, want)
			}
		}
	})
}

// The enums of the description are the values that a draft accepts.
func TestEnums(t *testing.T) {
	t.Parallel()
	values := func(field string) []string {
		f, _ := reflect.TypeFor[Guide]().FieldByName(field)
		return strings.Split(f.Tag.Get("enum"), "|")
	}
	for _, v := range values("PointOfView") {
		if _, err := normalize(Draft{Name: "n", Guide: Guide{PointOfView: PointOfView(v)}}); err != nil {
			t.Error(err)
		}
	}
	for _, v := range values("EmojiPolicy") {
		if _, err := normalize(Draft{Name: "n", Guide: Guide{EmojiPolicy: EmojiPolicy(v)}}); err != nil {
			t.Error(err)
		}
	}
	if n := len(values("PointOfView")) + len(values("EmojiPolicy")); n != 7 {
		t.Errorf("%d values", n)
	}
}
