package apicli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"pressroom.example/pressroom/client"
)

// uploadOperation describes `pressroom call upload` as an operation, so that flags and help can be generated for it.
var uploadOperation = client.Operation{
	Name: "upload", Summary: "Upload files to the media library", TakesKey: true,
	Description: "Uploads files and prints the media ID of each. Files that the library already has are not sent.",
	Arguments: []client.Argument{
		{Name: "folder_id", In: "body", Type: "integer", Description: "ID of the folder for the files."},
	},
}

func (t Terminal) upload(ctx context.Context, s settings, args []string) error {
	callArgs := arguments{operation: uploadOperation, values: map[string]any{}}
	flags := s.flags("upload", &callArgs)
	if err := flags.parse(args); err != nil {
		return err
	}
	paths := flags.Args()
	switch {
	case s.help:
		printHelp(t.Out, uploadOperation)
		return nil
	case len(paths) == 0:
		return usagef("upload requires files: pressroom call upload FILE...")
	case s.allPages || s.wait || s.json != "":
		return usagef("upload does not accept --all, --wait or --json")
	}
	c, err := t.client(s)
	if err != nil {
		return err
	}
	files := make([]client.File, len(paths))
	for i, path := range paths {
		if !utf8.ValidString(path) {
			return usagef("the name of file %d is not UTF-8", i+1)
		}
		if files[i], err = client.FileFromPath(path); err != nil {
			return usagef("%w", err)
		}
	}
	in := client.UploadInput{}
	if id, ok := callArgs.values["folder_id"].(int64); ok {
		in.FolderID = &id
	}
	key := cmp.Or(s.key, "call-"+rand.Text())
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	results, uploadErr := c.Upload(ctx, files, in, client.IdempotencyKey(key))
	if len(results) == 0 {
		return uploadErr
	}
	raw, err := json.Marshal(newUploadReport(paths, results))
	if err != nil {
		return errors.Join(fmt.Errorf("encoding the response: %w", err), uploadErr)
	}
	return errors.Join(t.printResponse(uploadOperation.Name, raw, key, s.output), uploadErr)
}
