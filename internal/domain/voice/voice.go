// Package voice keeps brand voices: how a team writes, as its people say. Writers read a voice as fields and as one text
// block to hand to a language model. What a voice was researched from is kept beside it, for the team's people in the
// app alone: no operation reads it.
package voice

import "pressroom/internal/platform/db"

// The limits of voices. Lengths are in characters.
const (
	MaxVoices       = 50 // of a team
	MaxName         = 100
	MaxDescription  = 4000
	MaxTone         = 1000
	MaxInstructions = 8000
	MaxAudiences    = 20
	MaxAudience     = 1000 // of what is said of one
	MaxWords        = 200  // in each list
	MaxWord         = 60
	MaxPhrases      = 100 // in each list
	MaxPhrase       = 300
	MaxText         = 20_000 // of the text block
)

// PointOfView is who speaks in a text.
type PointOfView string

// The points of view.
const (
	FirstSingular PointOfView = "first_person_singular"
	FirstPlural   PointOfView = "first_person_plural"
	Second        PointOfView = "second_person"
	Third         PointOfView = "third_person"
)

// EmojiPolicy is how many emoji a text takes.
type EmojiPolicy string

// The policies.
const (
	NoEmoji     EmojiPolicy = "none"
	FewEmoji    EmojiPolicy = "sparing"
	EmojiAtWill EmojiPolicy = "free"
)

// Audience is somebody whom the team writes for.
type Audience struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty" jsonschema:"Who they are and what matters to them."`
}

// Wording is what texts say in these very words, or do not.
type Wording struct {
	Words   []string `json:"words"`
	Phrases []string `json:"phrases"`
}

// Guide is all that a voice says (contract, Records). What nobody filled in is empty.
type Guide struct {
	BusinessDescription string      `json:"business_description,omitempty" jsonschema:"What the business is and does."`
	Tone                string      `json:"tone,omitempty" jsonschema:"How texts sound."`
	PointOfView         PointOfView `json:"point_of_view,omitempty" enum:"first_person_singular|first_person_plural|second_person|third_person" jsonschema:"Who speaks: I, we, the reader as you, or the business by its name."`
	Audiences           []Audience  `json:"audiences" jsonschema:"Whom texts are for."`
	EmojiPolicy         EmojiPolicy `json:"emoji_policy,omitempty" enum:"none|sparing|free"`
	Use                 Wording     `json:"use" jsonschema:"What texts say in these very words."`
	Avoid               Wording     `json:"avoid" jsonschema:"What texts do not say."`
	CustomInstructions  string      `json:"custom_instructions,omitempty" jsonschema:"What else a writer has to heed."`
	ContentLanguage     string      `json:"content_language,omitempty" jsonschema:"The language of texts, BCP 47: the voice's own, else the team's."`
}

// Draft is what a person says of a voice. An empty ContentLanguage follows the team's.
type Draft struct {
	Guide

	Name string
}

// Options are what the service stands on.
type Options struct {
	DB *db.DB
}

// Service keeps the voices of teams.
type Service struct {
	db *db.DB
}

// New makes the service.
func New(o Options) *Service { return &Service{db: o.DB} }
