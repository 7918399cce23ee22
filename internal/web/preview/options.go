package preview

import (
	"cmp"

	"pressroom.example/pressroom/internal/network"
)

// addOptions adds what the options of the post's network show.
func (p *Post) addOptions(c network.Content) {
	if p.Platform == "bluesky" && c.Options.Bluesky != nil {
		p.addBluesky(c, *c.Options.Bluesky)
	}
}

func (p *Post) addBluesky(c network.Content, o network.BlueskyOptions) {
	p.Quote, p.IsSensitive = o.QuoteURL, len(o.Labels) > 0
	if o.LinkCard == nil || o.QuoteURL != "" || len(c.Media) > 0 {
		return
	}
	link := o.LinkCard.URL
	if links := network.Links(c.Text); link == "" && len(links) > 0 {
		link = links[0]
	}
	p.Card, p.CardTitle, p.CardText = cmp.Or(hostOf(link), link), o.LinkCard.Title, o.LinkCard.Description
}
