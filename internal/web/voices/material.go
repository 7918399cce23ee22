package voices

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

type (
	// materialView is the page with the source material of a voice.
	materialView struct {
		ID     int64
		Name   string
		Pieces []piece
		Posts  []postChoice // the team's newest posts, to choose from
		Fields url.Values
		Error  shell.FormError
	}
	// postChoice is a post that can be added, with the networks of its accounts.
	postChoice struct {
		post.PostEntry

		Networks []string
	}
	// kindCount is the number of pieces of a kind.
	kindCount struct {
		Kind  voice.MaterialKind
		Count int
	}
	// piece is a piece of material. In a list, Excerpt is the beginning of its text; on its own page, Excerpt is one
	// part of the text.
	piece struct {
		voice.Material

		Voice      int64
		Excerpt    string
		Short      string // link label
		Characters int    // total number of characters
		At         time.Time
		Part       int
		Parts      int
	}
)

// Value returns the value of a field.
func (v materialView) Value(name string) string { return v.Fields.Get(name) }

// Kind returns the kind of material whose form is initially shown.
func (v materialView) Kind() string {
	switch {
	case v.Error.Field == "link" || v.Value("link") != "":
		return "link"
	case v.Error.Field == "post_id" || v.Value("post_id") != "":
		return "posts"
	}
	return "text"
}

// Chosen reports whether a post in the form is selected. That is the post that was submitted or, if none was submitted,
// the first post.
func (v materialView) Chosen(i int, id string) bool {
	if submitted := v.Value("post_id"); submitted != "" {
		return submitted == id
	}
	return i == 0
}

// Most returns the maximum number of pieces.
func (v materialView) Most() int { return voice.MaxMaterials }

// Used returns the number of pieces as a fraction of the maximum.
func (v materialView) Used() float64 { return float64(len(v.Pieces)) / voice.MaxMaterials }

// Counts returns the number of pieces by kind.
func (v materialView) Counts() []kindCount {
	out := []kindCount{{Kind: voice.TextMaterial}, {Kind: voice.LinkMaterial}, {Kind: voice.PostMaterial}}
	for _, p := range v.Pieces {
		for i := range out {
			if out[i].Kind == p.Kind {
				out[i].Count++
			}
		}
	}
	return out
}

// Full reports whether the voice has the maximum amount of material.
func (v materialView) Full() bool { return len(v.Pieces) >= voice.MaxMaterials }

const (
	maxExcerpt      = 200    // maximum number of characters in an excerpt in the list
	maxLabel        = 40     // maximum number of characters in a link label
	partLength      = 15_000 // maximum number of characters in a part
	maxOfferedPosts = 20     // number of posts to choose from
)

func newPiece(call operation.Call, id int64, m voice.Material) piece {
	return piece{
		Material: m, Voice: id, Excerpt: truncate(m.Content, maxExcerpt), Short: truncate(m.Content, maxLabel),
		Characters: utf8.RuneCountInString(m.Content), At: inZone(call, m.AddedAt),
	}
}

// truncate shortens a text to at most limit characters.
func truncate(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit-1])) + "…"
}

func (h *Handlers) materialPage(w http.ResponseWriter, req voiceRequest) {
	h.showMaterial(w, req, http.StatusOK, h.SavedForm(req.Request), shell.FormError{})
}

func (h *Handlers) showMaterial(w http.ResponseWriter, req voiceRequest, status int, fields url.Values, formErr shell.FormError) {
	d, err := h.voices.Draft(req.Context(), req.call, req.voiceID)
	if err != nil {
		h.switchTeam(w, req.Request, err, req.voiceID)
		return
	}
	v := materialView{ID: req.voiceID, Name: d.Name, Fields: fields, Error: formErr}
	materials, err := h.voices.Materials(req.Context(), req.call, req.voiceID)
	if err == nil {
		v.Posts, err = h.ownPosts(req.Request)
	}
	if err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	for _, m := range materials {
		v.Pieces = append(v.Pieces, newPiece(req.call, req.voiceID, m))
	}
	h.ShowTitled(w, req.Request, status, pages["material"], h.T(req.Request, "Material of %s", d.Name), v)
}

// ownPosts returns the team's newest posts, leaving out posts without text.
func (h *Handlers) ownPosts(r *http.Request) ([]postChoice, error) {
	outcome, err := h.Do(r, "list_posts", operation.Arguments{"limit": int64(maxOfferedPosts)})
	if err != nil {
		return nil, err
	}
	list, err := shell.Result[post.PostList](outcome)
	if err != nil {
		return nil, err
	}
	var out []postChoice
	for _, s := range list.Posts {
		if s.Excerpt == "" {
			continue
		}
		option := postChoice{PostEntry: s}
		for _, a := range s.Accounts {
			if !slices.Contains(option.Networks, a.Platform) {
				option.Networks = append(option.Networks, a.Platform)
			}
		}
		out = append(out, option)
	}
	return out, nil
}

func (h *Handlers) addMaterial(w http.ResponseWriter, req voiceRequest) {
	if !h.ReadLongForm(w, req.Request, maxForm) {
		return
	}
	_, err := h.voices.AddMaterial(req.Context(), req.call, req.voiceID,
		voice.NewMaterial{
			Text: req.PostForm.Get("text"), Link: req.PostForm.Get("link"), PostID: req.PostForm.Get("post_id"),
		})
	if err != nil {
		if apierr.Is(err, apierr.NotFound) && apierr.FromError(err).Context["argument"] == "post_id" {
			err = apierr.Invalid(apierr.NotAllowedValue, "post_id", "Post not found in this team.")
		}
		if formErr, ok := h.FormErrorOf(w, req.Request, err, fieldNames); ok {
			h.showMaterial(w, req, shell.StatusOf(err), req.PostForm, formErr)
		}
		return
	}
	text := locale.Key("The material was added.")
	if link := req.PostForm.Get("link"); link != "" && req.PostForm.Get("add_page") != "" {
		if err := h.addPage(req.Context(), req.call, req.voiceID, link); err != nil {
			text = "The link was added, but the text of its page was not. Paste it under Text."
		}
	}
	h.Flash(req.Request, text)
	shell.Redirect(w, req.Request, pathOf(req.voiceID)+"/material")
}

// addPastPosts adds the team's newest published posts as material.
func (h *Handlers) addPastPosts(w http.ResponseWriter, req voiceRequest) {
	if !h.ReadForm(w, req.Request) {
		return
	}
	added, err := h.voices.AddPastPosts(req.Context(), req.call, req.voiceID)
	switch {
	case err != nil:
		if formErr, ok := h.FormErrorOf(w, req.Request, err, fieldNames); ok {
			h.showMaterial(w, req, shell.StatusOf(err), nil, formErr)
		}
		return
	case added == 0:
		h.Flash(req.Request, "There are no other published posts with text.")
	default:
		h.FlashText(req.Request, h.Language(req.Request).N(added,
			"%d published post was added. Remove those that do not fit the voice.",
			"%d published posts were added. Remove those that do not fit the voice."))
	}
	shell.Redirect(w, req.Request, pathOf(req.voiceID)+"/material")
}

// piecePage shows a piece of material. It shows a long piece in parts.
func (h *Handlers) piecePage(w http.ResponseWriter, req voiceRequest) {
	m, err := h.voices.Material(req.Context(), req.call, req.voiceID, req.materialID)
	if err != nil {
		h.switchTeam(w, req.Request, err, req.voiceID)
		return
	}
	v := newPiece(req.call, req.voiceID, m)
	runes := []rune(m.Content)
	v.Parts = max(1, (len(runes)+partLength-1)/partLength)
	v.Part = parsePart(req.Request, v.Parts)
	from := (v.Part - 1) * partLength
	v.Excerpt = string(runes[from:min(len(runes), from+partLength)])
	h.Show(w, req.Request, http.StatusOK, pages["piece"], "Material", v)
}

// Next returns the number of the next part, or 0 if there is none.
func (v piece) Next() int {
	if v.Part < v.Parts {
		return v.Part + 1
	}
	return 0
}

func (h *Handlers) removeMaterial(w http.ResponseWriter, req voiceRequest) {
	if err := h.voices.RemoveMaterial(req.Context(), req.call, req.voiceID, req.materialID); err != nil {
		h.ShowError(w, req.Request, err)
		return
	}
	h.Flash(req.Request, "The material was removed. The voice itself is unchanged.")
	shell.Redirect(w, req.Request, pathOf(req.voiceID)+"/material")
}

// parsePart returns the number of the requested part, from 1. It is 1 if the request is invalid.
func parsePart(r *http.Request, parts int) int {
	n, err := strconv.Atoi(r.URL.Query().Get("part"))
	if err != nil || n < 1 || n > parts {
		return 1
	}
	return n
}
