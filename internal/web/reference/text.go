package reference

import "strings"

// block is a heading, a paragraph or a list of the API description.
type block struct {
	Heading, ID string
	Text        string
	Items       []string
}

// blocks splits a text in Markdown with headings of the second level, paragraphs and lists.
func blocks(text string) []block {
	var out []block
	for part := range strings.SplitSeq(text, "\n\n") {
		if heading, ok := strings.CutPrefix(part, "## "); ok {
			id := strings.ReplaceAll(strings.ToLower(heading), " ", "-")
			out = append(out, block{Heading: heading, ID: id})
			continue
		}
		if list, ok := strings.CutPrefix(part, "- "); ok {
			out = append(out, block{Items: strings.Split(list, "\n- ")})
			continue
		}
		out = append(out, block{Text: part})
	}
	return out
}
