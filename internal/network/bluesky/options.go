package bluesky

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

// Values of reply_settings.
const (
	everybody = "everybody"
	nobody    = "nobody"
)

// postOptions returns a post's options for Bluesky, or the zero value if there are none.
func postOptions(o network.Options) network.BlueskyOptions { return network.ValueOrZero(o.Bluesky) }

// checkOptions returns problems with a post's options.
func checkOptions(c network.Content) []network.Problem {
	var problems []network.Problem
	add := func(field, code string, isBlocking bool, message string) {
		problems = append(problems, network.OptionProblem(platform, field, code, isBlocking, message))
	}
	o := postOptions(c.Options)
	if _, ok := parseQuote(o.QuoteURL); o.QuoteURL != "" && !ok {
		add("quote_url", network.CodeOptionUnsupported, true,
			"The quoted post (options.bluesky.quote_url) needs an address such as "+
				"https://bsky.app/profile/NAME/post/ID.")
	}
	if o.LinkCard != nil {
		switch link := cardURL(*o.LinkCard, c.Text); {
		case len(c.Media) > 0 || o.QuoteURL != "":
			add("link_card", network.CodeOptionUnsupported, false,
				"Bluesky shows either a link card (options.bluesky.link_card) or media and quotes. The "+
					"card is left out.")
		case link == "":
			add("link_card", network.CodeOptionMissing, true,
				"The link card (options.bluesky.link_card) needs a URL. Add it, or a link to the text.")
		case !isWebURL(link):
			add("link_card.url", network.CodeOptionUnsupported, true,
				"The URL of the link card (options.bluesky.link_card.url) must begin with https:// or "+
					"http://.")
		}
	}
	for _, tag := range o.Languages {
		if !languageTag.MatchString(tag) {
			add("languages", network.CodeOptionUnsupported, true,
				"A language (options.bluesky.languages) is not a BCP 47 tag such as en or pt-BR.")
			break
		}
	}
	if isExclusive := slices.Contains(o.ReplySettings, everybody) || slices.Contains(o.ReplySettings, nobody); isExclusive &&
		len(o.ReplySettings) > 1 {
		add("reply_settings", network.CodeOptionUnsupported, true,
			"The reply settings everybody and nobody (options.bluesky.reply_settings) cannot be "+
				"combined with others.")
	}
	return problems
}

// newDraftOptions returns the options that Prepare applies, or nil if there are none.
func newDraftOptions(o network.BlueskyOptions) *draftOptions {
	if o.LinkCard == nil && o.QuoteURL == "" && len(o.ReplySettings) == 0 && !o.DisableQuotes {
		return nil
	}
	return &draftOptions{o.LinkCard, o.QuoteURL, o.ReplySettings, o.DisableQuotes}
}

// applyOptions returns the embed and the gates of a post with options. A link card is shown only if the post has no
// other embed.
func (n *Network) applyOptions(
	ctx context.Context, g network.Grant, d draft, rec record, files network.Files,
) (any, []gate, error) {
	embed := rec.Embed
	switch {
	case d.Options.QuoteURL != "":
		quoted, err := n.findQuote(ctx, g, d.Options.QuoteURL)
		if err != nil {
			return nil, nil, err
		}
		embed = embedQuote(quoted, embed)
	case d.Options.LinkCard != nil && embed == nil:
		card, err := n.embedCard(ctx, g, *d.Options.LinkCard, rec.Text, files)
		if err != nil {
			return nil, nil, err
		}
		embed = card
	}
	gates, err := newGates(*d.Options, "at://"+g.Account+"/"+postCollection+"/"+d.RKey, rec.CreatedAt)
	if err != nil {
		return nil, nil, network.PermanentError(err)
	}
	return embed, gates, nil
}

// recordEmbed shows another post (lexicon app.bsky.embed.record).
type recordEmbed struct {
	Type   string    `json:"$type"`
	Record strongRef `json:"record"`
}

// recordWithMediaEmbed shows another post and media (lexicon app.bsky.embed.recordWithMedia).
type recordWithMediaEmbed struct {
	Type   string      `json:"$type"`
	Record recordEmbed `json:"record"`
	Media  any         `json:"media"`
}

// embedQuote returns an embed that shows the quoted post. If media is not nil, the embed shows both.
func embedQuote(quoted strongRef, media any) any {
	record := recordEmbed{"app.bsky.embed.record", quoted}
	if media == nil {
		return record
	}
	return recordWithMediaEmbed{"app.bsky.embed.recordWithMedia", record, media}
}

// selfLabels are content warnings (lexicon com.atproto.label.defs#selfLabels).
type selfLabels struct {
	Type   string      `json:"$type"`
	Values []selfLabel `json:"values"`
}

type selfLabel struct {
	Value string `json:"val"`
}

func newLabels(values []string) *selfLabels {
	if len(values) == 0 {
		return nil
	}
	labels := &selfLabels{Type: "com.atproto.label.defs#selfLabels"}
	for _, value := range values {
		labels.Values = append(labels.Values, selfLabel{value})
	}
	return labels
}

// gate is a record that restricts replies to a post, or quotes of it. The record has the same key as the post.
type gate struct {
	Collection string          `json:"collection"`
	Record     json.RawMessage `json:"record"`
}

// typedObject is an object with only a type, such as a rule of a gate.
type typedObject struct {
	Type string `json:"$type"`
}

const (
	threadGate = "app.bsky.feed.threadgate"
	postGate   = "app.bsky.feed.postgate"
)

var replyRules = map[string]typedObject{
	"mentioned": {threadGate + "#mentionRule"}, "followers": {threadGate + "#followerRule"},
	"following": {threadGate + "#followingRule"},
}

// newGates returns the gates that a post's reply settings and its setting for quotes require.
func newGates(o draftOptions, uri, createdAt string) ([]gate, error) {
	var gates []gate
	add := func(collection, member string, rules []typedObject) error {
		encoded, err := json.Marshal(map[string]any{"$type": collection, "post": uri, "createdAt": createdAt, member: rules})
		if err != nil {
			return fmt.Errorf("writing the record: %w", err)
		}
		gates = append(gates, gate{collection, encoded})
		return nil
	}
	if len(o.ReplySettings) > 0 && !slices.Contains(o.ReplySettings, everybody) {
		allow := []typedObject{} // empty: nobody can reply
		for _, setting := range o.ReplySettings {
			if rule, known := replyRules[setting]; known {
				allow = append(allow, rule)
			}
		}
		if err := add(threadGate, "allow", allow); err != nil {
			return nil, fmt.Errorf("writing the thread gate: %w", err)
		}
	}
	if o.DisableQuotes {
		if err := add(postGate, "embeddingRules", []typedObject{{postGate + "#disableRule"}}); err != nil {
			return nil, fmt.Errorf("writing the post gate: %w", err)
		}
	}
	return gates, nil
}

// postAddress is the repository and the key of a post.
type postAddress struct{ repo, rkey string }

var quotePatterns = []*regexp.Regexp{
	regexp.MustCompile(`^at://([^/?#\s]+)/app\.bsky\.feed\.post/([^/?#\s]+)$`),
	regexp.MustCompile(`^https?://[^/?#\s]+(?:/[^/?#\s]+)*?/profile/([^/?#\s]+)/post/([^/?#\s]+)/?(?:[?#]\S*)?$`),
}

// parseQuote parses the web address or the AT URI of a post.
func parseQuote(address string) (postAddress, bool) {
	for _, pattern := range quotePatterns {
		match := pattern.FindStringSubmatch(strings.TrimSpace(address))
		if match == nil {
			continue
		}
		repo, err := url.PathUnescape(match[1])
		return postAddress{repo, match[2]}, err == nil && validTID.MatchString(match[2]) &&
			(didSyntax.MatchString(repo) || len(repo) <= maxHandle && handleSyntax.MatchString(repo))
	}
	return postAddress{}, false
}

// Error codes for a post that cannot be quoted. They are not codes of Bluesky.
const (
	codeQuoteNotFound  = "QuoteNotFound"
	codeQuotesDisabled = "QuotesDisabled"
)

// findQuote returns a reference to the current version of the post to quote.
func (n *Network) findQuote(ctx context.Context, g network.Grant, address string) (strongRef, error) {
	quoted, ok := parseQuote(address)
	if !ok {
		return strongRef{}, network.PermanentError(errors.New("the draft quotes an invalid address"))
	}
	if !didSyntax.MatchString(quoted.repo) {
		did, err := n.resolveHandle(ctx, g, strings.ToLower(quoted.repo))
		if err != nil {
			return strongRef{}, err
		}
		if did == "" {
			return strongRef{}, quoteError(codeQuoteNotFound, "The quoted post does not exist or was deleted.", nil)
		}
		quoted.repo = did
	}
	rec, err := n.readRecord(ctx, g, quoted.repo, postCollection, quoted.rkey)
	if isRejected(err) {
		return strongRef{}, quoteError(codeQuoteNotFound, "The quoted post does not exist or was deleted.", err)
	}
	if err == nil {
		err = n.checkQuotable(ctx, g, quoted)
	}
	return strongRef{"at://" + quoted.repo + "/" + postCollection + "/" + quoted.rkey, rec.CID}, err
}

// checkQuotable returns an error if the author of a post does not allow quotes of it.
func (n *Network) checkQuotable(ctx context.Context, g network.Grant, quoted postAddress) error {
	rec, err := n.readRecord(ctx, g, quoted.repo, postGate, quoted.rkey)
	if isRejected(err) {
		return nil // without a gate, everybody can quote the post
	}
	if err != nil {
		return err
	}
	var rules struct {
		Embedding []typedObject `json:"embeddingRules"`
	}
	if json.Unmarshal(rec.Value, &rules) == nil && slices.Contains(rules.Embedding, typedObject{postGate + "#disableRule"}) {
		return quoteError(codeQuotesDisabled, "The author of the quoted post does not allow quotes of it.", nil)
	}
	return nil
}

func quoteError(code, message string, err error) error {
	return &network.Error{Class: network.Rejected, Status: http.StatusBadRequest, Code: code, Message: message, Err: err}
}

func isRejected(err error) bool {
	netErr, ok := errors.AsType[*network.Error](err)
	return ok && netErr.Class == network.Rejected
}
