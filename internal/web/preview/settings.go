package preview

import (
	"html/template"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// Setting is an option of a post that its preview does not show, such as who can reply.
type Setting struct {
	Name  locale.Key
	Value string
}

// settings collects the settings of a post in a language.
type settings struct {
	l   *locale.Language
	all []Setting
}

// WithSettings returns the post with its options, so that HTML lists the ones that the preview does not show.
func (p Post) WithSettings(o network.Options) Post {
	p.options = o
	return p
}

// Settings returns the options of the post that the preview does not show.
func (p Post) Settings() []Setting {
	s := settings{l: p.Lang}
	if s.l == nil {
		s.l = locale.English
	}
	switch o := p.options; p.Platform {
	case "bluesky":
		s.addBluesky(network.ValueOrZero(o.Bluesky))
	case "facebook":
		s.add("Location ID", network.ValueOrZero(o.Facebook).Place)
	case "instagram":
		s.addInstagram(network.ValueOrZero(o.Instagram))
	case "threads":
		s.addChoice("Who can reply", ThreadsReplies, network.ValueOrZero(o.Threads).ReplyControl)
		s.add("Topic", network.ValueOrZero(o.Threads).TopicTag)
	case "tiktok":
		s.addTikTok(network.ValueOrZero(o.TikTok))
	case "x":
		s.addX(network.ValueOrZero(o.X))
	case "youtube":
		s.addYouTube(network.ValueOrZero(o.YouTube))
	}
	return s.all
}

func (s *settings) addX(o network.XOptions) {
	s.addChoice("Who can reply", XReplies, o.ReplySettings)
	s.addIf(o.MadeWithAI, "Labels", "Made with AI")
	s.addIf(o.PaidPartnership, "Labels", "Paid partnership")
}

func (s *settings) addBluesky(o network.BlueskyOptions) {
	for _, value := range o.ReplySettings {
		s.addChoice("Who can reply", BlueskyReplies, value)
	}
	s.addIf(o.DisableQuotes, "Quotes", "Not allowed")
	for _, value := range o.Labels {
		s.addChoice("Content warnings", BlueskyLabels, value)
	}
	s.add("Languages of the text", o.Languages...)
}

func (s *settings) addInstagram(o network.InstagramOptions) {
	s.addIf(o.Format == network.FormatReel, "Format on Instagram", "Reel")
	s.add("Collaborators", o.Collaborators...)
	for _, tag := range o.UserTags {
		s.add("Tagged people", tag.Username)
	}
	s.add("Location ID", o.LocationID)
	s.add("Name of the reel’s sound", o.AudioName)
	s.addIf(o.CoverMediaID != 0, "Cover", "An image of the library")
	s.addIf(o.ShareToFeed != nil && !*o.ShareToFeed, "Feed", "Not shown in the feed")
	if o.GraduationStrategy != "" {
		s.addChoice("Trial reel", InstagramTrials, o.GraduationStrategy)
	}
}

func (s *settings) addTikTok(o network.TikTokOptions) {
	if o.Mode == network.TikTokInbox {
		s.add("TikTok options", s.l.T("Sent to TikTok as a draft to finish in the app"))
		return
	}
	s.addChoice("Who can view this post", shell.TikTokAudiences, o.PrivacyLevel)
	s.addIf(o.AllowComment, "Allowed", "Comments")
	s.addIf(o.AllowDuet, "Allowed", "Duets")
	s.addIf(o.AllowStitch, "Allowed", "Stitches")
	s.addIf(o.BrandOrganic, "Labels", "Promotional content")
	s.addIf(o.BrandContent, "Labels", "Paid partnership")
	s.addIf(o.IsAIGC, "Labels", "AI-generated")
}

func (s *settings) addYouTube(o network.YouTubeOptions) {
	s.addChoice("Who can watch the video", YouTubeVisibilities, o.PrivacyStatus)
	if o.SelfDeclaredMadeForKids != nil {
		s.addIf(*o.SelfDeclaredMadeForKids, "Made for kids", "Yes, it is made for kids")
		s.addIf(!*o.SelfDeclaredMadeForKids, "Made for kids", "No, it is not made for kids")
	}
	s.add("Playlist ID", o.PlaylistID)
	s.addIf(o.ThumbnailMediaID != 0, "Thumbnail", "An image of the library")
	s.addIf(o.ContainsSyntheticMedia, "Labels", "Altered or synthetic content")
}

// add adds values to a setting. It ignores empty values.
func (s *settings) add(name locale.Key, values ...string) {
	value := strings.Join(slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" }), ", ")
	if value == "" {
		return
	}
	if last := len(s.all) - 1; last >= 0 && s.all[last].Name == name {
		s.all[last].Value += ", " + value
		return
	}
	s.all = append(s.all, Setting{name, value})
}

// addIf adds a value to a setting if on is set.
func (s *settings) addIf(on bool, name, value locale.Key) {
	if on {
		s.add(name, s.l.T(value))
	}
}

// addChoice adds the name of the choice that has the given value to a setting.
func (s *settings) addChoice(name locale.Key, offered []shell.Choice, value string) {
	for _, choice := range offered {
		if choice.Value == value {
			s.add(name, s.l.T(choice.Name))
		}
	}
}

// settingsHTML returns the settings as a list, or "" if the post has none.
func (p Post) settingsHTML() (template.HTML, error) {
	if len(p.Settings()) == 0 {
		return "", nil
	}
	return p.html("settings")
}
