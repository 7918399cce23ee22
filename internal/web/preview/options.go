package preview

import (
	"cmp"

	"pressroom.example/pressroom/internal/network"
)

// withOptions returns the preview after applying the options of the post's network.
func (p Post) withOptions(c network.Content) Post {
	switch o := c.Options; p.Platform {
	case "bluesky":
		return p.withBluesky(c, network.ValueOrZero(o.Bluesky))
	case "threads":
		return p.withThreads(c, network.ValueOrZero(o.Threads))
	case "x":
		return p.withX(network.ValueOrZero(o.X))
	case "linkedin":
		return p.withLinkedIn(c, network.ValueOrZero(o.LinkedIn))
	case "pinterest":
		pin := network.ValueOrZero(o.Pinterest)
		p.Section, p.Card = pin.BoardSection, cmp.Or(hostOf(pin.Link), p.Card)
	case "facebook":
		if link := network.ValueOrZero(o.Facebook).Link; link != "" && len(c.Media) == 0 {
			p.Card = hostOf(link)
		}
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
		p.Card, p.CardTitle, p.CardText = cmp.Or(hostOf(link), link), c.TitleOn("linkedin"), o.Article.Description
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
