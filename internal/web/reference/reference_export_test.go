package reference

import "pressroom.example/pressroom/internal/apierr"

// Write reports whether a reference can be built from a document.
func Write(description []byte) error {
	_, err := newBook(description)
	return err
}

// HasRemedy reports whether the error reference says what to do about a code.
func HasRemedy(code apierr.Code) bool { return remedies[code] != "" }
