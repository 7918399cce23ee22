package linkedin

import (
	"context"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxArticleTitle       = 400  // characters; unconfirmed, from third-party documentation
	maxArticleDescription = 4000 // characters; unconfirmed, from third-party documentation
)

// articleSource returns the URL of an article: its own, or else the first link of the text, or else "".
func articleSource(a network.LinkedInOptionsArticle, text string) string {
	if source := strings.TrimSpace(a.Source); source != "" {
		return source
	}
	if links := network.Links(text); len(links) > 0 {
		return links[0]
	}
	return ""
}

// checkArticle reports an article that is combined with media, or that has no valid URL.
//
// Source: https://learn.microsoft.com/linkedin/marketing/community-management/shares/articles-api
func (c *optionCheck) checkArticle() {
	article := c.options.Article
	if article == nil {
		return
	}
	switch source := articleSource(*article, c.content.Text); {
	case len(c.content.Media) > 0:
		c.add("article", network.CodeOptionUnsupported, false,
			"LinkedIn shows either a link card (options.linkedin.article) or media. The card is left out.")
	case source == "":
		c.add("article.source", network.CodeOptionMissing, true,
			"The link card on LinkedIn (options.linkedin.article.source) needs a URL. Add it, or a "+
				"link to the text.")
	case network.WebURL(source) == "":
		c.add("article.source", network.CodeOptionUnsupported, true,
			"The URL of the link card on LinkedIn (options.linkedin.article.source) must begin with "+
				"https:// or http://.")
	}
}

// completeArticle sets a missing title and uploads the article's image. LinkedIn does not read the page, so an article
// needs a title. If the title is missing, the title and a missing description are read from the page. If the page
// cannot be read, the title is the name of its host.
func (n *Network) completeArticle(ctx context.Context, g network.Grant, d *draft, files network.Files) error {
	if d.Article == nil {
		return nil
	}
	article := *d.Article
	if article.Title == "" && n.opts.ReadPage != nil {
		// a card without the page's own texts is better than no post
		if page, err := n.opts.ReadPage(ctx, article.Source); err == nil {
			article.Title = network.Clip(strings.TrimSpace(page.Title), maxArticleTitle)
			if article.Description == "" {
				article.Description = network.Clip(page.Description, maxArticleDescription)
			}
		}
	}
	if article.Title == "" {
		if u, err := url.Parse(article.Source); err == nil {
			article.Title = u.Hostname()
		}
	}
	d.Article = &article
	if article.ThumbnailMediaID == 0 {
		return nil
	}
	var err error
	d.Thumbnail, err = n.uploadOne(ctx, g, network.Media{ID: article.ThumbnailMediaID, Kind: network.Image}, files)
	return err
}
