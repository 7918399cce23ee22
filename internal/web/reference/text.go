package reference

import "strings"

// block is a heading, a paragraph or a list in the API description.
type block struct {
	Heading, ID string
	Text        string
	Items       []string
}

// parseBlocks parses Markdown text that consists of level-2 headings, paragraphs and lists.
func parseBlocks(text string) []block {
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
