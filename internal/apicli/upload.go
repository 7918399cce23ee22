package apicli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"pressroom/client"
)

// uploading is upload as if it were an operation: what its flags are made of.
var uploading = client.Operation{
	Name: "upload", Summary: "Put files into the media library", TakesKey: true,
	Description: "Opens one-time links, sends the bytes and prints the id of each file. A file that the library has already is not sent.",
	Arguments:   []client.Argument{{Name: "folder_id", In: "body", Type: "integer", Description: "The folder that the files go to; none where omitted."}},
}

func (t Terminal) upload(ctx context.Context, s settings, args []string) error {
	given := arguments{operation: uploading, values: map[string]any{}}
	flags := s.flags("upload", &given)
	if err := flags.parse(args); err != nil {
		return err
	}
	paths := flags.Args()
	switch {
	case s.help:
		describe(t.Out, uploading)
		return nil
	case len(paths) == 0:
		return usage("upload needs files: pressroom call upload FILE…")
	case s.all || s.wait || s.json != "":
		return usage("upload takes neither --all nor --wait nor --json")
	}
	c, err := t.client(s)
	if err != nil {
		return err
	}
	files := make([]client.File, len(paths))
	for i, path := range paths {
		if !utf8.ValidString(path) {
			return usage("the name of file %d is not UTF-8", i+1)
		}
		if files[i], err = client.FileAt(path); err != nil {
			return usage("%w", err)
		}
	}
	in := client.UploadInput{}
	if id, ok := given.values["folder_id"].(int64); ok {
		in.FolderID = &id
	}
	key := cmp.Or(s.key, "call-"+rand.Text())
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	results, failed := c.Upload(ctx, files, in, client.IdempotencyKey(key))
	if len(results) == 0 {
		return failed
	}
	raw, err := json.Marshal(shown(paths, results))
	if err != nil {
		return errors.Join(fmt.Errorf("writing the answer: %w", err), failed)
	}
	return errors.Join(t.give(uploading.Name, raw, key, s.field), failed)
}
