package clientgen

import "strings"

// lowerCamel converts an operation's name to the name of a TypeScript method.
func lowerCamel(name string) string {
	first, rest, ok := strings.Cut(name, "_")
	if !ok {
		return first
	}
	for word := range strings.SplitSeq(rest, "_") {
		first += strings.ToUpper(word[:1]) + word[1:]
	}
	return first
}

// wrap returns text as comment lines that each begin with prefix.
func wrap(prefix, text string) string {
	const width = 118
	var out strings.Builder
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(prefix)+len(line)+1+len(word) > width {
			out.WriteString(prefix + line + "\n")
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return out.String() + prefix + line + "\n"
}
