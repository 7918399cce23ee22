package bluesky

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
)

// facet marks a part of the text as a link, a tag or a mention (lexicon app.bsky.richtext.facet).
type facet struct {
	Index    byteSlice `json:"index"`
	Features []feature `json:"features"`
}

// byteSlice is a range of the text's UTF-8 bytes. The end is exclusive.
type byteSlice struct {
	ByteStart int `json:"byteStart"`
	ByteEnd   int `json:"byteEnd"`
}

// feature is a link, a tag or a mention. Besides Type, only the field of that type is set.
type feature struct {
	Type string `json:"$type"`
	URI  string `json:"uri,omitempty"`
	Tag  string `json:"tag,omitempty"`
	DID  string `json:"did,omitempty"`
}

const (
	linkFeature    = "app.bsky.richtext.facet#link"
	tagFeature     = "app.bsky.richtext.facet#tag"
	mentionFeature = "app.bsky.richtext.facet#mention"
)

// span is a part of the text that becomes a facet.
type span struct {
	start, end int    // in bytes
	feature    string // the facet's type
	value      string // the link's URI, the tag without its #, the mention's handle in lower case
}

// detectFacets returns the text's links, tags and mentions. A mention of an unknown handle remains plain text.
func (n *Network) detectFacets(ctx context.Context, g network.Grant, text string) ([]facet, error) {
	var facets []facet
	didByHandle := map[string]string{} // handle to DID, "" if unknown
	for _, s := range detectSpans(text) {
		f := feature{Type: s.feature}
		switch s.feature {
		case linkFeature:
			f.URI = s.value
		case tagFeature:
			f.Tag = s.value
		case mentionFeature:
			did, err := n.resolveCached(ctx, g, s.value, didByHandle)
			if err != nil {
				return nil, err
			}
			if did == "" {
				continue
			}
			f.DID = did
		}
		facets = append(facets, facet{Index: byteSlice{s.start, s.end}, Features: []feature{f}})
	}
	return facets, nil
}

// resolveCached returns the DID of a handle, "" if unknown, and stores it in known.
func (n *Network) resolveCached(
	ctx context.Context, g network.Grant, handle string, didByHandle map[string]string,
) (string, error) {
	if did, ok := didByHandle[handle]; ok {
		return did, nil
	}
	did, err := n.resolveHandle(ctx, g, handle)
	if err != nil {
		return "", err
	}
	didByHandle[handle] = did
	return did, nil
}

// detectSpans returns the spans from left to right, without overlaps.
func detectSpans(text string) []span {
	var spans []span
	previous := ' ' // the rune before at
	for at := 0; at < len(text); {
		if s, ok := spanAt(previous, text[at:]); ok {
			spans = append(spans, span{at, at + s.end, s.feature, s.value})
			at += s.end
			previous, _ = utf8.DecodeLastRuneInString(text[:at])
			continue
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		previous = r
		at += size
	}
	return spans
}

// spanAt returns the span at the beginning of rest, with offsets relative to rest. It returns false if rest does not
// begin with a span, or if no span can start after the rune before.
func spanAt(previous rune, rest string) (span, bool) {
	var s span
	switch {
	case !canPrecedeSpan(previous):
		return s, false
	case strings.HasPrefix(rest, "@"):
		s.feature = mentionFeature
		s.end, s.value = parseMention(rest)
	case strings.HasPrefix(rest, "#"), strings.HasPrefix(rest, "＃"):
		s.feature = tagFeature
		s.end, s.value = parseTag(rest)
	default:
		s.feature = linkFeature
		s.end, s.value = parseLink(rest)
	}
	return s, s.end > 0
}

// canPrecedeSpan reports whether a span may start after r. The @ of an email address, the # of a URL and a domain
// within a longer word do not start a span.
func canPrecedeSpan(r rune) bool {
	const marks = "\"'¿¡–—、。，：；！？・\uFE0F" // the last mark ends an emoji
	return unicode.IsSpace(r) || unicode.In(r, unicode.Ps, unicode.Pi, unicode.So) || strings.ContainsRune(marks, r)
}

// continuesWord reports whether r makes the text before it part of a longer word or address.
func continuesWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N) || r == '_' || r == '@' || r == '-'
}

// firstRune returns the first rune of rest, or a space if rest is empty.
func firstRune(rest string) rune {
	if rest == "" {
		return ' '
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return r
}
