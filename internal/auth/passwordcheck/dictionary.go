package passwordcheck

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// packed holds a line for each word, in the order of the words: the word, and a letter for what it weighs in bits,
// from A for 0. tools/passwords writes it.
//
//go:embed words.gz
var packed []byte

// dictionary is read when the first password is set.
var dictionary = sync.OnceValue(func() *wordList {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // it is part of the program
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		panic(err)
	}
	w := &wordList{text: string(text)}
	for at := 0; at < len(w.text); {
		w.lines = append(w.lines, uint32(at))
		at += strings.IndexByte(w.text[at:], '\n') + 1
	}
	return w
})

// wordList finds words in a text of sorted lines.
type wordList struct {
	text  string
	lines []uint32 // where each begins
}

// prefixes reports whether words begin with a text, and calls found if the text is one, with its number of characters
// and what it weighs.
func (w *wordList) prefixes(text string, found func(n int, bits float64)) bool {
	i := sort.Search(len(w.lines), func(i int) bool { return w.word(i) >= text })
	if i == len(w.lines) || !strings.HasPrefix(w.word(i), text) {
		return false
	}
	if w.word(i) == text {
		found(utf8.RuneCountInString(text), float64(w.text[int(w.lines[i])+len(text)]-'A'))
	}
	return true
}

func (w *wordList) word(i int) string {
	line := w.text[w.lines[i]:]
	return line[:strings.IndexByte(line, '\n')-1]
}
