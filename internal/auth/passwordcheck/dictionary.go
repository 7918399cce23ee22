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

// packedWords is a gzip file with a line for each word, in alphabetical order. Each line contains the word, followed by
// a letter for its weight in bits: A is 0, B is 1, and so on. tools/passwords generates the file.
//
//go:embed words.gz
var packedWords []byte

// dictionary returns the list of words. It is loaded on first use.
var dictionary = sync.OnceValue(func() *wordList {
	unpacked, err := gzip.NewReader(bytes.NewReader(packedWords))
	if err != nil {
		panic(err) // unreachable: the file is embedded
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

// wordList finds words in a sorted list.
type wordList struct {
	text  string
	lines []uint32 // offsets of the lines
}

// isPrefix reports whether text is a prefix of a word in the list. If text is itself a word, isPrefix calls visit with
// the word's number of characters and its weight.
func (w *wordList) isPrefix(text string, visit func(n int, bits float64)) bool {
	i := sort.Search(len(w.lines), func(i int) bool { return w.word(i) >= text })
	if i == len(w.lines) || !strings.HasPrefix(w.word(i), text) {
		return false
	}
	if w.word(i) == text {
		visit(utf8.RuneCountInString(text), float64(w.text[int(w.lines[i])+len(text)]-'A'))
	}
	return true
}

func (w *wordList) word(i int) string {
	line := w.text[w.lines[i]:]
	return line[:strings.IndexByte(line, '\n')-1]
}
