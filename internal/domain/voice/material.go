package voice

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/safehttp"
)

// Limits of material.
const (
	MaxMaterials      = 100    // per voice
	MaxMaterialLength = 50_000 // characters per text
)

// MaterialKind is the kind of a piece of material.
type MaterialKind string

// The kinds of material.
const (
	TextMaterial MaterialKind = "text"
	LinkMaterial MaterialKind = "link"
	PostMaterial MaterialKind = "post"
)

// Material is a source that a voice is based on. It may be third-party text, so it is never exposed to assistants: only
// this file accesses its table, for people in the app.
type Material struct {
	ID      int64
	Kind    MaterialKind
	PostID  string // set if the material is a post
	Content string // the text, the link, or the post's caption when it was added
	AddedAt time.Time
}

// NewMaterial is the input of AddMaterial. Exactly one field must be set.
type NewMaterial struct {
	Text   string
	Link   string // a public https URL, which is not fetched
	PostID string
}

var (
	errNotExactlyOne    = apierr.Invalid(apierr.ExactlyOneOf, "text", "Provide exactly one of text, link and post.")
	errNoPost           = apierr.ItemNotFound().With("argument", "post_id")
	errTooManyMaterials = apierr.Invalidf(apierr.OutOfRange, "",
		"A brand voice can have at most %d pieces of material.", MaxMaterials)
)

// AddMaterial adds material to a voice. Adding the same material again has no effect.
func (s *Service) AddMaterial(ctx context.Context, call operation.Call, voice int64, n NewMaterial) (Material, error) {
	if err := checkMaterialAccess(call); err != nil {
		return Material{}, err
	}
	m, err := s.resolveMaterial(ctx, call, n)
	if err != nil {
		return m, err
	}
	err = s.withLock(ctx, call, "brand_voice.material_added", func(ctx context.Context, tx *db.Tx) (int64, error) {
		if _, err := find(ctx, tx, call.TeamID, voice); err != nil {
			return 0, err
		}
		added, err := addMaterial(ctx, tx, voice, &m)
		if err != nil || !added {
			return 0, err
		}
		return voice, nil
	})
	return m, err
}

// maxPastPosts is the maximum number of posts that AddPastPosts adds per call.
const maxPastPosts = 20

// pastPostsQuery selects a team's newest published posts with a text that a voice does not have as material yet.
const pastPostsQuery = `SELECT p.id, p.caption FROM posts p
	WHERE p.team_id = ? AND p.status IN ('published', 'partially_published') AND p.caption <> ''
	AND NOT EXISTS (SELECT 1 FROM voice_materials m WHERE m.voice_id = ? AND m.post_id = p.id)
	ORDER BY p.id DESC LIMIT ?`

// AddPastPosts adds up to maxPastPosts of the team's newest published posts that a voice does not have as material yet,
// and returns how many it added. It stops when the voice has MaxMaterials pieces of material. It returns an error if
// the voice already had that many.
func (s *Service) AddPastPosts(ctx context.Context, call operation.Call, voice int64) (int, error) {
	if err := checkMaterialAccess(call); err != nil {
		return 0, err
	}
	count := 0
	err := s.withLock(ctx, call, "brand_voice.material_added", func(ctx context.Context, tx *db.Tx) (int64, error) {
		count = 0
		if _, err := find(ctx, tx, call.TeamID, voice); err != nil {
			return 0, err
		}
		materials, err := db.All(ctx, tx, func(rows *sql.Rows, m *Material) error { return rows.Scan(&m.PostID, &m.Content) },
			pastPostsQuery, call.TeamID, voice, maxPastPosts)
		if err != nil {
			return 0, fmt.Errorf("looking for past posts for a brand voice: %w", err)
		}
		for _, m := range materials {
			m.Kind = PostMaterial
			added, err := addMaterial(ctx, tx, voice, &m)
			switch {
			case errors.Is(err, errTooManyMaterials) && count > 0:
				return voice, nil
			case err != nil:
				return 0, err
			case added:
				count++
			}
		}
		if count == 0 {
			return 0, nil
		}
		return voice, nil
	})
	return count, err
}

// checkMaterialAccess returns an error unless the call was made in the app by a person who may write.
func checkMaterialAccess(call operation.Call) error {
	if !call.InApp() {
		return apierr.ItemNotFound()
	}
	return call.Require(access.Write)
}

// resolveMaterial validates the input and returns the material to store.
func (s *Service) resolveMaterial(ctx context.Context, call operation.Call, n NewMaterial) (Material, error) {
	switch n {
	case NewMaterial{Text: n.Text}:
		return newTextMaterial(n.Text)
	case NewMaterial{Link: n.Link}:
		return newLinkMaterial(n.Link)
	case NewMaterial{PostID: n.PostID}:
		return s.newPostMaterial(ctx, call.TeamID, n.PostID)
	}
	return Material{}, errNotExactlyOne
}

func newTextMaterial(text string) (Material, error) {
	var t normalizer
	text = t.lines("text", text, MaxMaterialLength)
	if text == "" {
		t.reject(errNotExactlyOne)
	}
	return Material{Kind: TextMaterial, Content: text}, t.err
}

// newLinkMaterial returns the material for a link. It normalizes the URL, so that the same link is recognized.
func newLinkMaterial(address string) (Material, error) {
	if apikey.ContainsSecret(address) {
		return Material{}, errSecret.With("argument", "link")
	}
	link, err := safehttp.Address(address)
	if err != nil {
		detail := "This link is not allowed."
		if rejected, ok := errors.AsType[*safehttp.Error](err); ok {
			detail = rejected.Detail
		}
		return Material{}, apierr.Invalid(apierr.NotAllowedValue, "link", detail).Wrap(err)
	}
	return Material{Kind: LinkMaterial, Content: link}, nil
}

// newPostMaterial returns one of the team's posts as material, with its current caption.
func (s *Service) newPostMaterial(ctx context.Context, team int64, id string) (Material, error) {
	m := Material{Kind: PostMaterial, PostID: id}
	if !utf8.ValidString(id) || strings.Contains(id, "\x00") { // invalid in PostgreSQL
		return m, errNoPost
	}
	err := s.db.QueryRow(ctx, `SELECT caption FROM posts WHERE id = ? AND team_id = ?`, id, team).Scan(&m.Content)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return m, errNoPost
	case err != nil:
		return m, fmt.Errorf("reading a post for a brand voice: %w", err)
	case m.Content == "":
		return m, apierr.Invalid(apierr.NotAllowedValue, "post_id", "This post has no text.")
	}
	return m, nil
}

// digest returns a hash that identifies a piece of material within a voice: the hash of the post's ID, or else of the
// content.
func (m *Material) digest() string {
	sum := sha256.Sum256([]byte(string(m.Kind) + "\x00" + m.PostID))
	if m.Kind != PostMaterial {
		sum = sha256.Sum256([]byte(string(m.Kind) + "\x00" + m.Content))
	}
	return hex.EncodeToString(sum[:])
}

const materialColumns = `id, kind, post_id, content, created_at`

func (m *Material) scan(scan func(...any) error) error {
	var addedAt int64
	err := scan(&m.ID, &m.Kind, &m.PostID, &m.Content, &addedAt)
	m.AddedAt = db.Time(addedAt)
	return err
}

// addMaterial adds material to a voice of a locked team. If the voice already has the material, addMaterial reports
// false and sets m to the stored material.
func addMaterial(ctx context.Context, tx *db.Tx, voice int64, m *Material) (bool, error) {
	digest := m.digest()
	err := m.scan(tx.QueryRow(ctx, `SELECT `+materialColumns+` FROM voice_materials WHERE voice_id = ? AND digest = ?`,
		voice, digest).Scan)
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	var count int
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM voice_materials WHERE voice_id = ?`, voice).
		Scan(&count); err != nil {
		return false, fmt.Errorf("counting the material of a brand voice: %w", err)
	}
	if count >= MaxMaterials {
		return false, errTooManyMaterials
	}
	m.AddedAt = tx.Now()
	err = tx.QueryRow(ctx, `INSERT INTO voice_materials (voice_id, kind, post_id, content, digest, created_at)
		VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
		voice, string(m.Kind), m.PostID, m.Content, digest, db.Micros(m.AddedAt)).Scan(&m.ID)
	if err != nil {
		return false, fmt.Errorf("adding material to a brand voice: %w", err)
	}
	return true, nil
}

const materialsQuery = `SELECT m.id, m.kind, m.post_id, m.content, m.created_at FROM voice_materials m
	JOIN brand_voices v ON v.id = m.voice_id
	WHERE m.voice_id = ? AND v.team_id = ? ORDER BY m.id`

const materialQuery = `SELECT m.id, m.kind, m.post_id, m.content, m.created_at FROM voice_materials m
	JOIN brand_voices v ON v.id = m.voice_id
	WHERE m.voice_id = ? AND m.id = ? AND v.team_id = ?`

// Materials returns a voice's material.
func (s *Service) Materials(ctx context.Context, call operation.Call, voice int64) ([]Material, error) {
	if err := checkMaterialAccess(call); err != nil {
		return nil, err
	}
	if _, err := find(ctx, s.db, call.TeamID, voice); err != nil {
		return nil, err
	}
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, m *Material) error { return m.scan(rows.Scan) }, materialsQuery,
		voice, call.TeamID)
	if err != nil {
		return nil, fmt.Errorf("listing the material of a brand voice: %w", err)
	}
	return out, nil
}

// Material returns one piece of a voice's material.
func (s *Service) Material(ctx context.Context, call operation.Call, voice, id int64) (Material, error) {
	var m Material
	if err := checkMaterialAccess(call); err != nil {
		return m, err
	}
	err := m.scan(s.db.QueryRow(ctx, materialQuery, voice, id, call.TeamID).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return m, apierr.ItemNotFound()
	}
	if err != nil {
		return m, fmt.Errorf("reading material of a brand voice: %w", err)
	}
	return m, nil
}

// RemoveMaterial deletes a piece of material. It returns not_found if the voice does not have it.
func (s *Service) RemoveMaterial(ctx context.Context, call operation.Call, voice, id int64) error {
	if err := checkMaterialAccess(call); err != nil {
		return err
	}
	return s.withLock(ctx, call, "brand_voice.material_removed", func(ctx context.Context, tx *db.Tx) (int64, error) {
		if _, err := find(ctx, tx, call.TeamID, voice); err != nil {
			return 0, err
		}
		n, err := tx.Exec(ctx, `DELETE FROM voice_materials WHERE id = ? AND voice_id = ?`, id, voice)
		if err != nil {
			return 0, fmt.Errorf("removing material from a brand voice: %w", err)
		}
		if n == 0 {
			return 0, apierr.ItemNotFound()
		}
		return voice, nil
	})
}
