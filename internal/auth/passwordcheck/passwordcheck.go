// Package passwordcheck estimates how many guesses an attacker needs to find a password. It assumes that the attacker
// tries common passwords, words, names, years, keyboard rows, sequences, repetitions and personal details. It follows
// the approach of zxcvbn (Wheeler, USENIX Security 2016) and uses its lists.
package passwordcheck

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MinBits is the minimum number of bits for a password. 2^36 guesses take decades of processor time, because each guess
// needs 19 MiB and two passes of argon2id. A random digit has 3.3 bits, a random letter has 4.7 bits, and a common word
// has about 10 bits.
const MinBits = 36

const (
	maxWord     = 28  // maximum number of characters in a word that is looked up
	maxUnit     = 32  // maximum number of characters in a repeated part
	partBits    = 1.0 // bits that each part adds, because attackers must also guess how the parts are combined
	yearBits    = 6.0 // bits of a year from 1900 to 2099
	startBits   = 4.0 // bits of the start of a sequence or keyboard walk
	turnBits    = 2.0 // bits of each change of direction in a keyboard walk
	variantBits = 1.0 // bits for capital letters, reversed words, and letters written as digits or symbols
)

// IsGuessable reports whether a password is easy to guess. personalTexts holds texts that attackers may know about the
// person or the service, such as a name and an email address. Parts of these texts have almost no weight.
func IsGuessable(password string, personalTexts ...string) bool {
	return Bits(password, personalTexts...) < MinBits
}

// Bits returns the base-2 logarithm of the number of guesses that an attacker needs to find a password. Bits divides
// the password into parts so that the sum of their weights is as low as possible, and returns that sum.
func Bits(password string, personalTexts ...string) float64 {
	e := estimate{runes: []rune(strings.ToLower(password)), personalParts: splitParts(personalTexts)}
	for _, r := range password {
		e.isCapital = append(e.isCapital, unicode.IsUpper(r))
	}
	n := len(e.runes)
	e.weights = make([]float64, n+1)
	for i := 1; i <= n; i++ {
		e.weights[i] = math.Inf(1)
	}
	for i := range n {
		e.addReversedWords(i)
		e.improve(i, 1, charBits(e.runes[i])-partBits) // consecutive single characters count as one part
		e.addWords(i)
		e.addSequences(i)
		e.addWalks(i)
		e.addYear(i)
		e.addRepetitions(i)
	}
	e.addReversedWords(n)
	return e.weights[n]
}

// estimate is the state of an estimation. weights[i] is the lowest weight found for the first i characters.
type estimate struct {
	runes         []rune
	isCapital     []bool
	personalParts map[string]bool
	weights       []float64
}

// improve records the weight of a part that starts at character i, if the part lowers the total.
func (e *estimate) improve(i, length int, bits float64) {
	if total := e.weights[i] + bits + partBits; total < e.weights[i+length] {
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

// splitParts splits texts into their words and into the parts before and after an @. It returns these parts, and each
// text without separators.
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

// addWords looks up the words that begin at character i, both as written and with digits and symbols replaced by
// similar letters.
func (e *estimate) addWords(i int) {
	rest := e.runes[i:min(i+maxWord, len(e.runes))]
	e.lookUp(string(rest), func(n int, bits float64) { e.improve(i, n, bits+e.capitalBits(i, n)) })
	for _, letters := range lookalikes {
		if replaced := strings.Map(letters, string(rest)); replaced != string(rest) {
			e.lookUp(replaced, func(n int, bits float64) { e.improve(i, n, bits+variantBits+e.capitalBits(i, n)) })
		}
	}
}

// addReversedWords looks up the reversed words that end before character i.
func (e *estimate) addReversedWords(i int) {
	rest := slices.Clone(e.runes[max(0, i-maxWord):i])
	slices.Reverse(rest)
	e.lookUp(string(rest), func(n int, bits float64) { e.improve(i-n, n, bits+variantBits+e.capitalBits(i-n, n)) })
}

// capitalBits returns the additional weight for capital letters in the n characters from i on, or 0 if there are none.
func (e *estimate) capitalBits(i, n int) float64 {
	if slices.Contains(e.isCapital[i:i+n], true) {
		return variantBits
	}
	return 0
}

// lookUp finds the words that text begins with. For each word, it calls visit with the number of characters and the
// weight.
func (e *estimate) lookUp(text string, visit func(n int, bits float64)) {
	for word := range e.personalParts {
		if strings.HasPrefix(text, word) {
			visit(utf8.RuneCountInString(word), 1)
		}
	}
	for i := range text {
		if i >= 3 && !dictionary().isPrefix(text[:i], visit) {
			return
		}
	}
	dictionary().isPrefix(text, visit)
}

// lookalikes contains functions that replace digits and symbols with similar letters. The first one replaces 1 with i,
// and the second one replaces it with l.
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

// addSequences records the weights of the ascending and descending sequences, such as 6789012 or fedcba, that start at
// character i.
func (e *estimate) addSequences(i int) {
	for _, step := range []rune{1, -1} {
		for n := 2; i+n <= len(e.runes) && follows(e.runes[i+n-2], e.runes[i+n-1], step); n++ {
			if n >= 3 {
				e.improve(i, n, startBits+math.Log2(float64(n)))
			}
		}
	}
}

// follows reports whether b comes step letters or digits after a. The digit 0 comes after 9.
func follows(a, b, step rune) bool {
	if unicode.IsDigit(a) && unicode.IsDigit(b) {
		return (a-b+step)%10 == 0
	}
	return unicode.IsLetter(a) && unicode.IsLetter(b) && b-a == step
}

// addYear records the weight of a year from 1900 to 2099 that starts at character i.
func (e *estimate) addYear(i int) {
	if i+4 > len(e.runes) {
		return
	}
	part := string(e.runes[i : i+4])
	if (strings.HasPrefix(part, "19") || strings.HasPrefix(part, "20")) && unicode.IsDigit(e.runes[i+2]) &&
		unicode.IsDigit(e.runes[i+3]) {
		e.improve(i, 4, yearBits)
	}
}

// addRepetitions records the weights of parts that start at character i and repeat the characters before them one or
// more times.
func (e *estimate) addRepetitions(i int) {
	for unit := 1; unit <= min(maxUnit, i, len(e.runes)-i); unit++ {
		for n := 0; i+n < len(e.runes) && e.runes[i+n] == e.runes[i+n-unit]; n++ {
			if times := (n + 1) / unit; times >= 1 && (n+1)%unit == 0 {
				e.improve(i, n+1, math.Log2(float64(times)))
			}
		}
	}
}
