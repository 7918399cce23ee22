// Package passwordcheck estimates how many guesses an attacker needs for a password by trying common passwords, words,
// names, years, keyboard rows, sequences, repetitions and personal details. It follows the idea of zxcvbn (Wheeler,
// USENIX Security 2016) and uses its lists.
package passwordcheck

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MinBits is the number of bits that a password needs. 2^36 guesses take decades of processor time, because each needs
// 19 MiB and two passes of argon2id. Random digits have 3.3 bits each, random letters 4.7, and a common word about 10.
const MinBits = 36

const (
	maxWord   = 28  // characters of the longest word that is looked up
	maxUnit   = 32  // length of the longest repeated text, in characters
	perPart   = 1.0 // bits that each part adds, because attackers must also guess how the parts are combined
	yearBits  = 6.0 // bits of a year from 1900 to 2099
	startBits = 4.0 // for the start of a sequence or keyboard walk
	turnBits  = 2.0 // bits of each change of direction in a keyboard walk
	variant   = 1.0 // bits for capitals, and for letters that are written as digits or signs
)

// IsGuessable reports whether a password is easy to guess. known holds texts that attackers may know about the person
// or the service, such as a name and an email address. Their parts have almost no weight.
func IsGuessable(password string, personalTexts ...string) bool {
	return Bits(password, personalTexts...) < MinBits
}

// Bits returns the base-2 logarithm of the number of guesses that a password needs. This is the sum of the weights of
// its parts, for the division into parts with the lowest sum.
func Bits(password string, personalTexts ...string) float64 {
	e := estimate{runes: []rune(strings.ToLower(password)), personalParts: splitParts(personalTexts)}
	for _, original := range password {
		e.capitals = append(e.capitals, unicode.IsUpper(original))
	}
	n := len(e.runes)
	e.weights = make([]float64, n+1)
	for i := 1; i <= n; i++ {
		e.weights[i] = math.Inf(1)
	}
	for i := range n {
		e.backwards(i)
		e.improve(i, 1, charBits(e.runes[i])-perPart) // consecutive single characters count as one part
		e.words(i)
		e.sequence(i)
		e.walks(i)
		e.year(i)
		e.repetitions(i)
	}
	e.backwards(n)
	return e.weights[n]
}

// estimate is the state of an estimation. best[i] is the lowest weight of the first i characters.
type estimate struct {
	runes         []rune
	capitals      []bool
	personalParts map[string]bool
	weights       []float64
}

// improve records the weight of a part that starts at i, if that lowers the total.
func (e *estimate) improve(i, length int, bits float64) {
	if total := e.weights[i] + bits + perPart; total < e.weights[i+length] {
		e.weights[i+length] = total
	}
}

// charBits returns the weight of a character that is not part of a word, a sequence or another pattern.
func charBits(r rune) float64 {
	switch {
	case '0' <= r && r <= '9':
		return math.Log2(10)
	case 'a' <= r && r <= 'z':
		return math.Log2(26)
	case strings.ContainsRune(" -_.", r): // separators
		return 4
	}
	return 5.5
}

// splitParts returns the words of texts, each text without separators, and the parts before and after an @.
func splitParts(texts []string) map[string]bool {
	parts := map[string]bool{}
	for _, text := range texts {
		words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		for _, word := range slices.Concat(words, strings.Split(strings.ToLower(text), "@"),
			[]string{strings.Join(words, "")}) {
			if len([]rune(word)) >= 3 {
				parts[word] = true
			}
		}
	}
	return parts
}

// words looks up the words that begin at a character, as written and with digits and symbols replaced by similar
// letters.
func (e *estimate) words(i int) {
	rest := e.runes[i:min(i+maxWord, len(e.runes))]
	e.lookUp(string(rest), func(n int, bits float64) { e.improve(i, n, bits+e.capital(i, n)) })
	for _, letters := range lookalikes {
		if read := strings.Map(letters, string(rest)); read != string(rest) {
			e.lookUp(read, func(n int, bits float64) { e.improve(i, n, bits+variant+e.capital(i, n)) })
		}
	}
}

// backwards looks up reversed words that end at a character.
func (e *estimate) backwards(i int) {
	rest := slices.Clone(e.runes[max(0, i-maxWord):i])
	slices.Reverse(rest)
	e.lookUp(string(rest), func(n int, bits float64) { e.improve(i-n, n, bits+variant+e.capital(i-n, n)) })
}

// capital returns the additional weight if the n characters from i contain capital letters.
func (e *estimate) capital(i, n int) float64 {
	if slices.Contains(e.capitals[i:i+n], true) {
		return variant
	}
	return 0
}

// lookUp finds the words that text begins with and calls found with their numbers of characters and weights.
func (e *estimate) lookUp(text string, visit func(n int, bits float64)) {
	for word := range e.personalParts {
		if strings.HasPrefix(text, word) {
			visit(utf8.RuneCountInString(word), 1)
		}
	}
	for at := range text {
		if at >= 3 && !dictionary().prefixes(text[:at], visit) {
			return
		}
	}
	dictionary().prefixes(text, visit)
}

// lookalikes replace digits and symbols with similar letters: 1 with i or with l.
var lookalikes = []func(rune) rune{lookalike('i'), lookalike('l')}

func lookalike(letter rune) func(rune) rune {
	return func(r rune) rune {
		switch r {
		case '4', '@':
			return 'a'
		case '8':
			return 'b'
		case '3':
			return 'e'
		case '6', '9':
			return 'g'
		case '1', '!', '|':
			return letter
		case '0':
			return 'o'
		case '5', '$':
			return 's'
		case '7', '+':
			return 't'
		case '2':
			return 'z'
		}
		return r
	}
}

// sequence records the weights of ascending and descending sequences that start at a character, such as 6789012 or
// fedcba.
func (e *estimate) sequence(i int) {
	for _, step := range []rune{1, -1} {
		for n := 2; i+n <= len(e.runes) && follows(e.runes[i+n-2], e.runes[i+n-1], step); n++ {
			if n >= 3 {
				e.improve(i, n, startBits+math.Log2(float64(n)))
			}
		}
	}
}

// follows reports whether b is step letters or digits after a. 0 follows 9.
func follows(a, b, step rune) bool {
	if unicode.IsDigit(a) && unicode.IsDigit(b) {
		return (a-b+step)%10 == 0
	}
	return unicode.IsLetter(a) && unicode.IsLetter(b) && b-a == step
}

// year records the weight of four digits that are a year from 1900 to 2099.
func (e *estimate) year(i int) {
	if i+4 > len(e.runes) {
		return
	}
	part := string(e.runes[i : i+4])
	if (strings.HasPrefix(part, "19") || strings.HasPrefix(part, "20")) && unicode.IsDigit(e.runes[i+2]) &&
		unicode.IsDigit(e.runes[i+3]) {
		e.improve(i, 4, yearBits)
	}
}

// repetitions records the weights of characters that repeat the characters before them, once or more often.
func (e *estimate) repetitions(i int) {
	for unit := 1; unit <= min(maxUnit, i, len(e.runes)-i); unit++ {
		for n := 0; i+n < len(e.runes) && e.runes[i+n] == e.runes[i+n-unit]; n++ {
			if times := (n + 1) / unit; times >= 1 && (n+1)%unit == 0 {
				e.improve(i, n+1, math.Log2(float64(times)))
			}
		}
	}
}
