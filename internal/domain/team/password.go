package team

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// argon2id with OWASP's first recommended set: 19 MiB, 2 passes, 1 lane. It keeps a small machine small while
// several people sign in.
const (
	argonTime    = 2
	argonMemory  = 19 * 1024 // KiB
	argonThreads = 1
	argonLen     = 32
)

// HashPassword returns the hash of a password as a PHC string, or "" for an empty password.
func HashPassword(password string) (string, error) {
	if password == "" {
		return "", nil
	}
	salt := make([]byte, 16)
	rand.Read(salt) // never fails, crypto/rand
	sum := argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonLen)
	enc := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, argonMemory, argonTime, argonThreads,
		enc.EncodeToString(salt), enc.EncodeToString(sum)), nil
}

// PasswordMatches reports whether a password matches a hash.
func PasswordMatches(hash, password string) bool {
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
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(want) == 0 {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, time, memory, threads, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1
}

// HasPassword reports whether a password is the current one of the person with an email address. It is no sign-in: it
// delays nobody and is not delayed.
func (s *Service) HasPassword(ctx context.Context, email, password string) (bool, error) {
	var hash string
	err := s.db.QueryRow(ctx, `SELECT password_hash FROM people WHERE email = ?`, foldEmail(email)).Scan(&hash)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("reading a password hash: %w", err)
	}
	return PasswordMatches(hash, password), nil
}
