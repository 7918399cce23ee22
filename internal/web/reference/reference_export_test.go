package reference

// Write reports whether a reference can be built from a document.
func Write(description []byte) error {
	_, err := newBook(description)
	return err
}
