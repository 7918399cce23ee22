// Package voice manages brand voices: how a team writes, in its own words. Clients read a voice as fields and as a text
// block for a language model. The material that a voice is based on is only available to people in the app, not through
// operations.
package voice

import (
	"context"
	"io"

	"pressroom.example/pressroom/internal/platform/db"
)

// Limits. Lengths are in characters.
const (
	MaxVoices             = 50 // per team
	MaxNameLength         = 100
	MaxDescriptionLength  = 4000
	MaxToneLength         = 1000
	MaxInstructionsLength = 8000
	MaxAudiences          = 20
	MaxAudienceLength     = 1000 // length of an audience's description
	MaxWords              = 200  // in each list
	MaxWordLength         = 60
	MaxPhrases            = 100 // in each list
	MaxPhraseLength       = 300
	MaxTextLength         = 20_000 // length of the text block
)

// PointOfView is the grammatical person of texts.
type PointOfView string

// The points of view.
const (
	FirstSingular PointOfView = "first_person_singular"
	FirstPlural   PointOfView = "first_person_plural"
	Second        PointOfView = "second_person"
	Third         PointOfView = "third_person"
)

// EmojiPolicy says how many emoji a text may contain.
type EmojiPolicy string

// The emoji policies.
const (
	NoEmoji     EmojiPolicy = "none"
	FewEmoji    EmojiPolicy = "sparing"
	EmojiAtWill EmojiPolicy = "free"
)

// BrandVoiceAudience is a group that the team writes for.
type BrandVoiceAudience struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty" jsonschema:"Who they are and what matters to them."`
}

// BrandVoiceUse lists exact words and phrases.
type BrandVoiceUse struct {
	Words   []string `json:"words"`
	Phrases []string `json:"phrases"`
}

// Guide is the content of a voice. Fields that were not filled in are empty.
type Guide struct {
	BusinessDescription string `json:"business_description,omitempty" jsonschema:"What the business is and does."`
	Tone                string `json:"tone,omitempty" jsonschema:"Tone of texts."`

	PointOfView PointOfView `json:"point_of_view,omitempty" enum:"first_person_singular|first_person_plural|second_person|third_person"`

	Audiences          []BrandVoiceAudience `json:"audiences" jsonschema:"Groups that texts address."`
	EmojiPolicy        EmojiPolicy          `json:"emoji_policy,omitempty" enum:"none|sparing|free"`
	Use                BrandVoiceUse        `json:"use" jsonschema:"Words and phrases to use."`
	Avoid              BrandVoiceUse        `json:"avoid" jsonschema:"Words and phrases to avoid."`
	CustomInstructions string               `json:"custom_instructions,omitempty" jsonschema:"Further instructions."`
	ContentLanguage    string               `json:"content_language,omitempty" jsonschema:"BCP 47 tag: the voice's, or else the team's."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (Guide) Descriptions() map[string]string {
	return map[string]string{"point_of_view": "Grammatical person."}
}

// Draft is the editable content of a voice. An empty ContentLanguage means the team's language.
type Draft struct {
	Guide

	Name string
}

// Options holds the dependencies of a Service.
type Options struct {
	DB *db.DB
	// Fetch downloads a file of at most maxBytes bytes from a public address.
	Fetch func(ctx context.Context, address string, maxBytes int64, into io.Writer) error
}

// Service manages the voices of teams.
type Service struct {
	db    *db.DB
	fetch func(ctx context.Context, address string, maxBytes int64, into io.Writer) error
}

// New returns a Service.
func New(o Options) *Service { return &Service{db: o.DB, fetch: o.Fetch} }
