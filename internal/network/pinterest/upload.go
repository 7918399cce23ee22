package pinterest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"

	"pressroom.example/pressroom/internal/network"
)

// uploadTarget is the form to which a video is uploaded.
type uploadTarget struct {
	ID     string            `json:"media_id"`
	URL    string            `json:"upload_url"`
	Fields map[string]string `json:"upload_parameters"`
}

// upload sends a video and returns its ID. The form's server is a file store and does not receive the token.
func (n *Network) upload(ctx context.Context, g network.Grant, m network.Media, files network.Files) (string, error) {
	file, err := files.Open(ctx, m.ID, n.opts.Rules.FileLimits(m.Kind))
	if err != nil {
		return "", network.FileError(err)
	}
	defer file.Close()
	var target uploadTarget
	c := n.newCall(g, http.MethodPost, "media")
	c.JSON = map[string]string{"media_type": "video"}
	if err := n.do(ctx, c, &target); err != nil {
		return "", err
	}
	if !isID(target.ID) || network.WebURL(target.URL) == "" {
		return "", network.InvalidResponse(errors.New("registering a video: the response lacks the id or the URL"))
	}
	body, err := target.newFormBody(file)
	if err != nil {
		return "", network.PermanentError(err)
	}
	c = network.Call{
		Purpose: network.PurposeTransfer, Name: "the video's store", Method: http.MethodPost, URL: target.URL,
		Body: body,
	}
	for _, secret := range target.Fields {
		c.Secrets = append(c.Secrets, secret)
	}
	response, err := n.client.Do(ctx, c)
	if err != nil {
		return "", err
	}
	if response.Status/100 != 2 {
		return "", response.Rejection(network.Transient, "", "") // the file store's message does not help people
	}
	return target.ID, nil
}

// newFormBody returns the request body: the fields, then the file, which is read while it is sent.
func (t uploadTarget) newFormBody(file network.File) (*network.Body, error) {
	var frame bytes.Buffer
	form := multipart.NewWriter(&frame)
	names := make([]string, 0, len(t.Fields))
	for name := range t.Fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if err := form.WriteField(name, t.Fields[name]); err != nil {
			return nil, fmt.Errorf("writing a form: %w", err)
		}
	}
	if _, err := form.CreateFormFile("file", "video"); err != nil {
		return nil, fmt.Errorf("writing a form: %w", err)
	}
	head := frame.Len()
	if err := form.Close(); err != nil {
		return nil, fmt.Errorf("writing a form: %w", err)
	}
	before, after := frame.Bytes()[:head], frame.Bytes()[head:]
	return &network.Body{
		Reader: io.MultiReader(bytes.NewReader(before), file, bytes.NewReader(after)),
		Type:   form.FormDataContentType(), Size: int64(frame.Len()) + file.Size,
	}, nil
}
