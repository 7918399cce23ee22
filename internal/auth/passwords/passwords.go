// Package passwords hashes passwords (argon2id) and rejects guessable ones.
package passwords

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passwordcheck"
)

// Parameters of argon2id that OWASP recommends: 19 MiB of memory, 2 passes, 1 lane. With them, several people can sign
// in at the same time on a small machine.
const (
	argonTime    = 2
	argonMemory  = 19 * 1024 // KiB
	argonThreads = 1
	argonLen     = 32
)

const (
	minLength = 12  // minimum number of characters (NIST SP 800-63B, 2025: 15 if it is the only factor, otherwise 8)
	maxLength = 200 // maximum number of characters; more are not useful
)

// Check returns an error if a password is invalid, too short, too long or guessable. name and email belong to the
// password's owner. They may be empty.
func Check(password, name, email string) error {
	reject := func(reason, format string, args ...any) error {
		return apierr.Invalidf(reason, "password", format, args...)
	}
	length, lower := utf8.RuneCountInString(password), strings.ToLower(password)
	switch {
	case !utf8.ValidString(password):
		return reject(apierr.Malformed, "The password contains invalid characters.")
	case length < minLength:
		return reject(apierr.TooShort, "The password needs at least %d characters. A few unrelated words work well.", minLength)
	case length > maxLength:
		return reject(apierr.TooLong, "The password can have at most %d characters.", maxLength)
	case lower == email, lower == strings.ToLower(name),
		passwordcheck.IsGuessable(password, name, email, "pressroom"):
		return reject(apierr.NotAllowedValue,
			"This password is too easy to guess. Choose four or more unrelated words, or let a password manager generate one.")
	}
	return nil
}

// DummyHash is used instead of a hash if the person is unknown, so that all failed sign-ins take the same time.
const DummyHash = "$argon2id$v=19$m=19456,t=2,p=1$c29tZWJvZHksIHBlcmhhcA$c29tZXRoaW5nIHRoYXQgbm9ib2R5IGhhc2hlcyB0byA"

// Hash returns the hash of a password as a PHC string. It returns "" if the password is empty.
func Hash(password string) (string, error) {
	if password == "" {
		return "", nil
	}
	salt := make([]byte, 16)
	rand.Read(salt) // crypto/rand.Read never fails
	sum := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonLen)
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		enc.EncodeToString(salt), enc.EncodeToString(sum)), nil
}

// Matches reports whether a password matches a hash.
func Matches(hash, password string) bool {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false
	}
	var memory, time uint32
	var threads uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &time, &threads); err != nil {
		return false
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false
	}
	wantHash, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(wantHash) == 0 {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, time, memory, threads, uint32(len(wantHash)))
	return subtle.ConstantTimeCompare(got, wantHash) == 1
}
