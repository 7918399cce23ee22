package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// printPlain prints the members of a JSON object or list of objects, one per line, with their names and values. It
// keeps the order of the members. Empty lines separate the objects of a list.
func printPlain(w io.Writer, raw []byte) error {
	records := []json.RawMessage{raw}
	if raw[0] == '[' {
		if err := json.Unmarshal(raw, &records); err != nil {
			return fmt.Errorf("reading the response: %w", err)
		}
	}
	for i, record := range records {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := printRecord(w, record); err != nil {
			return err
		}
	}
	return nil
}

func printRecord(w io.Writer, record json.RawMessage) error {
	dec := jsontext.NewDecoder(bytes.NewReader(record))
	if _, err := dec.ReadToken(); err != nil {
		return fmt.Errorf("reading the response: %w", err)
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return fmt.Errorf("reading the response: %w", err)
		}
		label := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return fmt.Errorf("reading the response: %w", err)
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if _, err := fmt.Fprintf(w, "%-17s %s\n", label, text); err != nil {
			return err
		}
	}
	return nil
}
