package network

import (
	"slices"
	"strings"
)

// HasTitleOn reports whether a network publishes the content with a title in addition to its text.
func (c Content) HasTitleOn(platform string) bool {
	switch platform {
	case "youtube", "pinterest":
		return true
	case "facebook":
		return len(c.Media) == 1 && c.Media[0].Kind == Video && !c.Options.IsStory(platform)
	case "linkedin":
		return len(c.Media) == 0 && ValueOrZero(c.Options.LinkedIn).Article != nil
	case "tiktok":
		return slices.ContainsFunc(c.Media, isImage)
	}
	return false
}

// TitleOn returns the title that a network publishes with the content: that of the network's options, or else the
// content's own. It returns "" if there is none or if the network publishes no title with the content.
func (c Content) TitleOn(platform string) string {
	if !c.HasTitleOn(platform) {
		return ""
	}
	if title := c.Options.title(platform); title != "" || isBlank(c.Title) {
		return title
	}
	return c.Title
}

// title returns the title in a network's options, or "".
func (o Options) title(platform string) string {
	switch platform {
	case "youtube":
		return ValueOrZero(o.YouTube).Title
	case "pinterest":
		return ValueOrZero(o.Pinterest).Title
	case "facebook":
		return ValueOrZero(o.Facebook).Title
	case "linkedin":
		return ValueOrZero(ValueOrZero(o.LinkedIn).Article).Title
	}
	return ""
}

// HasTitle reports whether the network publishes a title with some posts.
func (r Rules) HasTitle() bool { return r.PostTitle.MaxLength > 0 }

// CheckTitle returns what the network would reject in the title of a post. The title in the network's options is
// checked with the options.
func (r Rules) CheckTitle(platform string, c Content) []Problem {
	title, limit := c.TitleOn(platform), r.PostTitle
	if title == "" || c.Options.title(platform) != "" || limit.Unit.Count == nil {
		return nil
	}
	var problems []Problem
	if count := limit.Unit.Count(title); limit.MaxLength > 0 && count > limit.MaxLength {
		problems = append(problems, blockingProblem("title_too_long", "The title is too long for %s: %d/%d %s. Shorten it.",
			r.Title, count, limit.MaxLength, limit.Unit.Name))
	}
	if at := strings.IndexAny(title, limit.Forbidden); at >= 0 {
		problems = append(problems, blockingProblem("title_characters",
			"%s does not allow the character %s in a title. Remove it.", r.Title, characterName(title[at:])))
	}
	for i := range problems {
		problems[i].Field = "title"
	}
	return problems
}
