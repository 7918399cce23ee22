// Command passwords writes the dictionary of internal/auth/passwordcheck: common passwords, English words and names,
// each with how soon it is guessed. The lists are those of zxcvbn (MIT), and the words for a password in other
// languages.
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

// most is how many words of each list are taken, the most frequent ones. Words that are guessed later than that weigh
// as much as letters do.
var most = map[string]int{
	"Passwords": 50_000, "English": 25_000, "MaleNames": 1_000, "FemaleNames": 2_500, "Surname": 8_000,
}

// ownRank is the rank of the words of foreign, which zxcvbn's English lists lack: attackers try them early.
const ownRank = 100

// foreign are the words for a password in other languages, with and without their accents, and the best-known example
// of a passphrase.
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

// write writes a line for each word, in the order of the words. A letter after the word says how many bits it weighs:
// the logarithm of its rank, from A for 0.
func write(path string) error {
	weights := map[string]int{}
	for name, list := range frequency.Lists {
		for i, word := range list.List[:min(len(list.List), most[name])] {
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
		if known, found := weights[word]; !found || known > bits.Len(ownRank) {
			weights[word] = bits.Len(ownRank)
		}
	}
	out, err := os.Create(path) //nolint:gosec // of the person at the keyboard
	if err != nil {
		return fmt.Errorf("making the dictionary: %w", err)
	}
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return fmt.Errorf("packing the dictionary: %w", err)
	}
	for _, word := range slices.SortedFunc(maps.Keys(weights), cmp.Compare[string]) {
		if _, err := fmt.Fprintf(packed, "%s%c\n", word, 'A'+weights[word]); err != nil {
			return fmt.Errorf("writing the dictionary: %w", err)
		}
	}
	if err := packed.Close(); err != nil {
		return fmt.Errorf("packing the dictionary: %w", err)
	}
	return out.Close()
}
