package preview

import (
	"cmp"

	"pressroom.example/pressroom/internal/network"
)

// withOptions returns the post with what the options of its network show.
func (p Post) withOptions(c network.Content) Post {
	switch o := c.Options; {
	case p.Platform == "bluesky" && o.Bluesky != nil:
		return p.withBluesky(c, *o.Bluesky)
	case p.Platform == "threads" && o.Threads != nil:
		p.Quote, p.IsSensitive = o.Threads.QuotePostID, o.Threads.IsSpoilerMedia && len(c.Media) > 0
		if o.Threads.LinkAttachment != "" && len(c.Media) == 0 {
			p.Card = hostOf(o.Threads.LinkAttachment)
		}
		if o.Threads.PollAttachment != nil {
			p.Poll, p.Card = o.Threads.PollAttachment.Choices(), ""
		}
	case p.Platform == "x" && o.X != nil:
		p.Quote = o.X.QuoteTweetID
		if o.X.Poll != nil {
			p.Poll = o.X.Poll.Options
		}
		if p.Quote != "" || p.Poll != nil {
			p.Card = ""
		}
	}
	if f := c.Options.Facebook; p.Platform == "facebook" && f != nil && f.Link != "" && len(c.Media) == 0 {
		p.Card = hostOf(f.Link)
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
