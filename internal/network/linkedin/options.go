package linkedin

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
)

const (
	visibilityPublic      = "PUBLIC"
	visibilityConnections = "CONNECTIONS"

	maxQuestion    = 140 // characters
	minPollChoices = 2
	maxPollChoices = 4
	maxPollChoice  = 30 // characters
	defaultPoll    = "SEVEN_DAYS"
)

var pollDurations = []string{"", "ONE_DAY", "THREE_DAYS", defaultPoll, "FOURTEEN_DAYS"}

// postOptions returns a post's options for LinkedIn, or the zero value if there are none.
func postOptions(o network.Options) network.LinkedInOptions { return network.ValueOrZero(o.LinkedIn) }

// optionCheck collects the problems with a post's options.
type optionCheck struct {
	content  network.Content
	options  network.LinkedInOptions
	problems []network.Problem
}

func (c *optionCheck) add(field, code string, isBlocking bool, message string) {
	c.problems = append(c.problems, network.OptionProblem(platform, field, code, isBlocking, message))
}

// checkOptions returns problems with a post's options. A post has either media, a poll or an article.
//
// Sources: https://learn.microsoft.com/linkedin/marketing/community-management/shares/posts-api,
// https://learn.microsoft.com/linkedin/marketing/community-management/shares/poll-post-api
func checkOptions(content network.Content) []network.Problem {
	c := &optionCheck{content: content, options: postOptions(content.Options)}
	c.checkVisibility()
	c.checkPoll()
	c.checkArticle()
	c.checkMentions()
	return c.problems
}

// checkVisibility reports an unknown visibility, and connections of an organization, which only has followers.
func (c *optionCheck) checkVisibility() {
	visibility := c.options.Visibility
	if !slices.Contains([]string{"", visibilityPublic, visibilityConnections}, visibility) {
		c.add("visibility", network.CodeOptionUnsupported, true,
			"The visibility on LinkedIn (options.linkedin.visibility) must be PUBLIC or CONNECTIONS.")
	}
	if visibility == visibilityConnections && strings.HasPrefix(c.content.Account, "urn:li:organization:") {
		c.add("visibility", network.CodeOptionUnsupported, true,
			"Only members of LinkedIn have connections. Choose the visibility PUBLIC "+
				"(options.linkedin.visibility), or remove the company.")
	}
}

func (c *optionCheck) checkPoll() {
	poll := c.options.Poll
	if poll == nil {
		return
	}
	if len(c.content.Media) > 0 || c.options.Article != nil {
		c.add("poll", network.CodeOptionUnsupported, true,
			"LinkedIn does not allow media or an article together with a poll (options.linkedin.poll). "+
				"Remove one of them.")
	}
	if length := utf8.RuneCountInString(strings.TrimSpace(poll.Question)); length < 1 {
		c.add("poll.question", network.CodeOptionMissing, true,
			"A poll on LinkedIn needs a question (options.linkedin.poll.question).")
	} else if length > maxQuestion {
		c.add("poll.question", network.CodeOptionUnsupported, true,
			"The question of a poll on LinkedIn (options.linkedin.poll.question) can have at most 140 "+
				"characters.")
	}
	if len(poll.Options) < minPollChoices || len(poll.Options) > maxPollChoices {
		c.add("poll.options", network.CodeOptionMissing, true,
			"A poll on LinkedIn needs two to four choices (options.linkedin.poll.options).")
	}
	if slices.ContainsFunc(poll.Options, func(choice string) bool {
		length := utf8.RuneCountInString(strings.TrimSpace(choice))
		return length < 1 || length > maxPollChoice
	}) {
		c.add("poll.options", network.CodeOptionUnsupported, true,
			"Each choice of a poll on LinkedIn (options.linkedin.poll.options) needs 1 to 30 characters.")
	}
	if !slices.Contains(pollDurations, poll.Duration) {
		c.add("poll.duration", network.CodeOptionUnsupported, true,
			"A poll on LinkedIn (options.linkedin.poll.duration) lasts ONE_DAY, THREE_DAYS, SEVEN_DAYS or "+
				"FOURTEEN_DAYS.")
	}
}

// draftOptions are the options of a draft. Prepare completes the article.
type draftOptions struct {
	network.LinkedInOptions

	Thumbnail string `json:"thumbnail,omitempty"` // URN of the article's image
}

// newDraftOptions returns the options with which the content is published. It drops an article if the post has media.
func newDraftOptions(c network.Content) draftOptions {
	o := postOptions(c.Options)
	if len(c.Media) > 0 {
		o.Article = nil
	}
	if o.Article != nil {
		article := *o.Article
		article.Source, article.Title = articleSource(article, c.Text), c.TitleOn(platform)
		o.Article = &article
	}
	return draftOptions{LinkedInOptions: o}
}

func (d draftOptions) isValid() bool {
	return (d.Thumbnail == "" || isURN(d.Thumbnail, network.Image)) &&
		!slices.ContainsFunc(d.Mentions, func(m network.LinkedInMention) bool { return !isURN(m.URN, "person", organization) })
}

// isComplete reports whether Prepare has completed the article.
func (d draftOptions) isComplete() bool {
	return d.Article == nil || d.Article.Title != "" && (d.Article.ThumbnailMediaID == 0) == (d.Thumbnail == "")
}

// content returns the draft's content for the account that publishes it.
func (d draft) content(account string) network.Content {
	return network.Content{
		Text: d.Text, Media: d.Media, Account: account, Options: network.Options{LinkedIn: &d.LinkedInOptions},
	}
}

// attachment returns the request's content field for a poll or an article, or nil if the post has neither.
func (d draftOptions) attachment() map[string]any {
	if d.Poll != nil {
		choices := []map[string]string{}
		for _, choice := range d.Poll.Options {
			choices = append(choices, map[string]string{"text": strings.TrimSpace(choice)})
		}
		return map[string]any{"poll": map[string]any{
			"question": strings.TrimSpace(d.Poll.Question), "options": choices,
			"settings": map[string]string{"duration": cmp.Or(d.Poll.Duration, defaultPoll)},
		}}
	}
	if d.Article == nil {
		return nil
	}
	article := map[string]string{}
	for name, text := range map[string]string{
		"source": d.Article.Source, "title": d.Article.Title, "description": d.Article.Description, "thumbnail": d.Thumbnail,
	} {
		if text != "" {
			article[name] = text
		}
	}
	return map[string]any{"article": article}
}
