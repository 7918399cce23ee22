package preview

import (
	"cmp"

	"pressroom.example/pressroom/internal/network"
)

// withOptions returns the preview with what the options of the post's network change in it.
func (p Post) withOptions(c network.Content) Post {
	switch o := c.Options; {
	case p.Platform == "bluesky" && o.Bluesky != nil:
		return p.withBluesky(c, *o.Bluesky)
	case p.Platform == "threads" && o.Threads != nil:
		return p.withThreads(c, *o.Threads)
	case p.Platform == "x" && o.X != nil:
		return p.withX(*o.X)
	case p.Platform == "youtube" && o.YouTube != nil:
		p.Title = cmp.Or(o.YouTube.Title, p.Title)
	case p.Platform == "linkedin" && o.LinkedIn != nil:
		return p.withLinkedIn(c, *o.LinkedIn)
	case p.Platform == "pinterest" && o.Pinterest != nil:
		p.Title, p.Section = cmp.Or(o.Pinterest.Title, p.Title), o.Pinterest.BoardSection
		if o.Pinterest.Link != "" {
			p.Card = hostOf(o.Pinterest.Link)
		}
	case p.Platform == "facebook" && o.Facebook != nil && o.Facebook.Link != "" && len(c.Media) == 0:
		p.Card = hostOf(o.Facebook.Link)
	}
	return p
}

func (p Post) withThreads(c network.Content, o network.ThreadsOptions) Post {
	p.Quote, p.IsSensitive = o.QuotePostID, o.IsSpoilerMedia && len(c.Media) > 0
	if o.LinkAttachment != "" && len(c.Media) == 0 {
		p.Card = hostOf(o.LinkAttachment)
	}
	if o.PollAttachment != nil {
		p.Poll, p.Card = o.PollAttachment.Choices(), ""
	}
	return p
}

func (p Post) withLinkedIn(c network.Content, o network.LinkedInOptions) Post {
	p.IsLimited = o.Visibility == "CONNECTIONS"
	switch {
	case o.Poll != nil:
		p.Question, p.Poll = o.Poll.Question, o.Poll.Options
	case o.Article != nil && len(c.Media) == 0:
		link := o.Article.Source
		if links := network.Links(c.Text); link == "" && len(links) > 0 {
			link = links[0]
		}
		p.Card, p.CardTitle, p.CardText = cmp.Or(hostOf(link), link), o.Article.Title, o.Article.Description
	}
	return p
}

func (p Post) withX(o network.XOptions) Post {
	p.Quote = o.QuoteTweetID
	if o.Poll != nil {
		p.Poll = o.Poll.Options
	}
	if p.Quote != "" || p.Poll != nil {
		p.Card = ""
	}
	return p
}

func (p Post) withBluesky(c network.Content, o network.BlueskyOptions) Post {
	p.Quote, p.IsSensitive = o.QuoteURL, len(o.Labels) > 0
	if o.LinkCard == nil || o.QuoteURL != "" || len(c.Media) > 0 {
		return p
	}
	link := o.LinkCard.URL
	if links := network.Links(c.Text); link == "" && len(links) > 0 {
		link = links[0]
	}
	p.Card, p.CardTitle, p.CardText = cmp.Or(hostOf(link), link), o.LinkCard.Title, o.LinkCard.Description
	return p
}
