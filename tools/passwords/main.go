// Command passwords writes the dictionary of internal/auth/passwordcheck: common passwords, English words and names
// from zxcvbn (MIT), and words for "password" in other languages. Words that attackers guess earlier have lower
// weights.
//
// Run it in this folder: go run . ../../internal/auth/passwordcheck/words.gz
package main

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"slices"
	"strings"

	"github.com/ccojocar/zxcvbn-go/frequency"
)

// maxWords is the number of words to take from the start of each list, which is sorted by frequency. Rarer words are
// as hard to guess as random letters.
var maxWords = map[string]int{
	"Passwords": 50_000, "English": 25_000, "MaleNames": 1_000, "FemaleNames": 2_500, "Surname": 8_000,
}

// foreignRank is the rank of every foreign word. It is near the top of a list because attackers try these words early.
const foreignRank = 100

// foreign lists words for "password" in other languages, with and without accents, and the best-known example of a
// passphrase. They are missing from zxcvbn's lists.
var foreign = append(strings.Fields(`
	contraseña contrasena clave contraclave
	motdepasse mdp
	passwort kennwort losung
	wachtwoord toegangscode
	password parolachiave parola
	senha palavrapasse palavra-passe
	пароль parol
	hasło haslo
	şifre sifre parolanız
	lösenord losenord
	adgangskode passord salasana heslo jelszo jelszó
	correcthorsebatterystaple horsebatterystaple correcthorsebattery
`), "correct horse battery staple")

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write writes one line per word, in alphabetical order. The letter after the word is its weight: the number of bits
// in its rank, where A is 0.
func write(path string) error {
	weights := map[string]int{}
	for name, list := range frequency.Lists {
		for i, word := range list.List[:min(len(list.List), maxWords[name])] {
			word = strings.ToLower(word)
			if len(word) < 3 || strings.ContainsFunc(word, func(r rune) bool { return r <= ' ' || r > '~' }) {
				continue
			}
			bits := bits.Len(uint(i + 1))
			if known, found := weights[word]; !found || bits < known {
				weights[word] = bits
			}
		}
	}
	for _, word := range foreign {
		if known, found := weights[word]; !found || known > bits.Len(foreignRank) {
			weights[word] = bits.Len(foreignRank)
		}
	}
	out, err := os.Create(path) //nolint:gosec // the user chooses the path
	if err != nil {
		return fmt.Errorf("creating the dictionary: %w", err)
	}
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("compressing the dictionary: %w", err)
	}
	for _, word := range slices.SortedFunc(maps.Keys(weights), cmp.Compare[string]) {
		if _, err := fmt.Fprintf(compressed, "%s%c\n", word, 'A'+weights[word]); err != nil {
			return fmt.Errorf("writing the dictionary: %w", err)
		}
	}
	if err := compressed.Close(); err != nil {
		return fmt.Errorf("compressing the dictionary: %w", err)
	}
	return out.Close()
}
