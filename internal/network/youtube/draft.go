package youtube

import (
	"cmp"
	"errors"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxTitle      = 100 // characters
	maxTags       = 500 // characters of all tags and the commas between them
	defaultTitle  = "Video"
	angleBrackets = "<>" // not allowed in titles and descriptions
)

// draft is the stored state of a publication.
type draft struct {
	IsYouTube   bool            `json:"youtube"` // marks a draft of this network
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Tags        []string        `json:"tags,omitempty"`
	Privacy     string          `json:"privacy"`
	Media       []network.Media `json:"media,omitempty"`
	Session     string          `json:"session,omitempty"`  // URL of the upload session, a secret
	Type        string          `json:"type,omitempty"`     // MIME type of the file
	Total       int64           `json:"total,omitempty"`    // size of the file in bytes
	StartedAt   time.Time       `json:"began,omitzero"`     // when the session was started
	Sessions    int             `json:"sessions,omitempty"` // number of sessions started so far
	Video       string          `json:"video,omitempty"`    // ID of the uploaded video
	UploadedAt  time.Time       `json:"uploaded,omitzero"`  // when the video's ID was first seen
	Locked      bool            `json:"locked,omitempty"`   // YouTube kept the video private when it was last read
	MissingAt   time.Time       `json:"missing,omitzero"`   // when the locked video was first missing in YouTube's list

	Choices network.YouTubeOptions `json:"choices,omitzero"` // except title and privacy status
}

var drafts = network.DraftCodec[draft]{Kind: "a YouTube video", Validate: draft.checkOrigin, IsPrepared: draft.isPrepared}

// Plan fixes the video's title, description, tags and choices. A repeated Commit cannot create a second video, because
// Prepare stores the upload session.
func (n *Network) Plan(s network.Submission) (network.Draft, error) {
	if s.Reply != nil {
		return network.PlanFirstComment(s)
	}
	text := strings.ToValidUTF8(s.Content.Text, "\uFFFD")
	var choices network.YouTubeOptions
	if s.Content.Options.YouTube != nil {
		choices = *s.Content.Options.YouTube
	}
	if choices.SelfDeclaredMadeForKids == nil {
		choices.SelfDeclaredMadeForKids = n.opts.MadeForKids
	}
	privacy := cmp.Or(choices.PrivacyStatus, n.opts.Privacy)
	chosen := cleanTitle(strings.ToValidUTF8(s.Content.TitleOn(platform), "\uFFFD"))
	choices.PrivacyStatus, choices.Title = "", ""
	return drafts.Plan(draft{
		IsYouTube: true, Title: cmp.Or(chosen, chooseTitle(text, s.Content.Media)), Description: text,
		Tags: chooseTags(text), Privacy: privacy,
		Media: s.Content.Media, Choices: choices,
	})
}

// chooseTitle returns the text's first line, or else the file's name, or else defaultTitle. A video must have a title.
func chooseTitle(text string, media []network.Media) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	name := ""
	if len(media) > 0 {
		name = strings.TrimSuffix(media[0].Name, path.Ext(media[0].Name))
	}
	return cmp.Or(cleanTitle(first), cleanTitle(name), defaultTitle)
}

// cleanTitle removes angle brackets from text and shortens it to 100 characters.
func cleanTitle(text string) string {
	cleaned := strings.Map(func(r rune) rune {
		if strings.ContainsRune(angleBrackets, r) {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(network.Clip(strings.Join(strings.Fields(cleaned), " "), maxTitle))
}

// chooseTags returns the text's hashtags, as many as fit in 500 characters.
func chooseTags(text string) []string {
	var hashtags []string
	remaining := maxTags
	for _, tag := range network.Hashtags(text) {
		length := utf8.RuneCountInString(tag)
		if len(hashtags) > 0 {
			length++
		}
		if length <= remaining && !slices.Contains(hashtags, tag) {
			hashtags, remaining = append(hashtags, tag), remaining-length
		}
	}
	return hashtags
}

func (d draft) checkOrigin() error {
	if !d.IsYouTube {
		return errors.New("the draft is not for a YouTube video")
	}
	return nil
}

func (d draft) isPrepared() bool { return d.Session != "" && d.Total > 0 && len(d.Media) > 0 }
