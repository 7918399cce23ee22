package locale

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

//go:embed de/*.json
var files embed.FS

// scriptSuffix is the suffix of the files that translate the texts in scripts.
const scriptSuffix = ".scripts.json"

// UnmarshalJSON reads a text, or an object with its plural forms.
func (t *translation) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, &t.Other) //nolint:wrapcheck // load adds the file name
	}
	type forms translation
	return json.Unmarshal(data, (*forms)(t)) //nolint:wrapcheck // as above
}

// MarshalJSON writes what UnmarshalJSON reads.
func (t translation) MarshalJSON() ([]byte, error) {
	if t.One == "" {
		return json.Marshal(t.Other) //nolint:wrapcheck // a string
	}
	type forms translation
	return json.Marshal(forms(t)) //nolint:wrapcheck // strings
}

// load reads the translations of a language and returns the language. It panics if a file is invalid, because the files
// are part of the program.
func load(l *Language) *Language {
	l.texts, l.scripts = map[Key]translation{}, map[string]translation{}
	entries, err := files.ReadDir(l.Tag)
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		data, err := files.ReadFile(path.Join(l.Tag, entry.Name()))
		texts := map[string]translation{}
		if err == nil {
			err = json.Unmarshal(data, &texts)
		}
		if err != nil {
			panic(fmt.Errorf("%s: %w", entry.Name(), err))
		}
		for key, text := range texts {
			if strings.HasSuffix(entry.Name(), scriptSuffix) {
				l.scripts[key] = text
			} else {
				l.texts[Key(key)] = text
			}
		}
	}
	return l
}

// ScriptTextsJSON returns the translations of the texts in scripts as a JSON object. Its names are the English texts,
// and its values are translated texts or objects with plural forms.
func (l *Language) ScriptTextsJSON() []byte {
	if l.scripts == nil {
		return []byte("{}")
	}
	out, err := json.Marshal(l.scripts)
	if err != nil {
		panic(err) // unreachable: strings can always be encoded
	}
	return out
}

// Catalog returns the keys of all translations. Only tests use it.
func (l *Language) Catalog() []Key {
	out := make([]Key, 0, len(l.texts))
	for key := range l.texts {
		out = append(out, key)
	}
	return out
}
