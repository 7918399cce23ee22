package reference

// Write tells whether a reference can be made of a description.
func Write(description []byte) error {
	_, err := write(description)
	return err
}
