package rest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

const maxBody = 1 << 20 // maximum size of a request body in bytes

func (x *exchange) idempotencyKey() pipeline.Key {
	values := x.r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return pipeline.Key{}
	}
	return pipeline.Key{Given: true, Duplicate: len(values) > 1, Text: strings.TrimSpace(values[0])}
}

// readArguments returns the arguments in the path together with the other arguments. An operation that only reads takes
// them from the query string, and any other operation takes them from the body.
func (x *exchange) readArguments(op *operation.Operation, pathArgs map[string]string) (operation.Arguments, error) {
	args, err := x.parseQueryOrBody(op)
	if err != nil {
		return nil, err
	}
	for name := range args {
		if _, ok := pathArgs[name]; ok {
			return nil, apierr.Invalid(apierr.ArgumentGivenTwice, name,
				name+" is already in the path. Remove it from the query string or the body.")
		}
	}
	if _, ok := args["idempotency_key"]; ok && len(x.r.Header.Values("Idempotency-Key")) > 0 {
		return nil, apierr.Invalid(apierr.IdempotencyKeyGivenTwice, "",
			"Send the Idempotency-Key only in the header, not in the body.")
	}
	for name, text := range pathArgs {
		args[name] = op.PathValue(name, text)
	}
	return args, nil
}

func (x *exchange) parseQueryOrBody(op *operation.Operation) (operation.Arguments, error) {
	if op.Reads() {
		if hasBody(x.r) {
			return nil, apierr.Invalid(apierr.BodyNotAllowed, "",
				"A GET request has no body. Send arguments in the query string.")
		}
		return op.ParseQuery(x.r.URL.RawQuery)
	}
	if x.r.URL.RawQuery != "" {
		return nil, apierr.Invalid(apierr.ArgumentsInQuery, "", "Send arguments in the JSON body, not in the query string.")
	}
	return x.parseBody(op)
}

func hasBody(r *http.Request) bool {
	if r.ContentLength == 0 || r.Body == nil {
		return false
	}
	n, _ := r.Body.Read(make([]byte, 1))
	return n > 0
}

func (x *exchange) parseBody(op *operation.Operation) (operation.Arguments, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	var tooLargeErr *http.MaxBytesError
	switch {
	case errors.As(err, &tooLargeErr):
		return nil, apierr.Invalid(apierr.TooLarge, "", "The body is larger than 1 MiB. Send a smaller body.")
	case err != nil:
		return nil, apierr.Invalid(apierr.BodyNotAnObject, "", "The body was cut off. Send the request again.").Wrap(err)
	case len(raw) == 0 && !op.NeedsBody():
		return operation.Arguments{}, nil
	case hasContentCoding(x.r.Header.Values("Content-Encoding")):
		return nil, apierr.Invalid(apierr.BodyNotAnObject, "",
			"Request bodies with a Content-Encoding are not accepted. Send plain JSON and remove the header.")
	case bytes.HasPrefix(raw, byteOrderMark):
		return nil, apierr.Invalid(apierr.BodyNotAnObject, "",
			"The body starts with a byte order mark (BOM). Send UTF-8 without a BOM.")
	case !isJSON(x.r.Header.Values("Content-Type")) && (len(x.r.Header.Values("Content-Type")) != 0 ||
		string(raw) != "{}" || op.TakesBody()):
		return nil, apierr.Invalid(apierr.BodyNotAnObject, "",
			"Send one JSON object with Content-Type: application/json.")
	}
	return operation.ParseObject(raw)
}

var byteOrderMark = []byte("\ufeff")

// hasContentCoding reports whether a body has a content coding other than identity (RFC 9110, section 8.4).
func hasContentCoding(contentEncodings []string) bool {
	for _, value := range contentEncodings {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "identity") {
				return true
			}
		}
	}
	return false
}

func isJSON(contentTypes []string) bool {
	if len(contentTypes) != 1 {
		return false
	}
	mediaType, params, err := mime.ParseMediaType(contentTypes[0])
	charset := params["charset"]
	return err == nil && mediaType == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}
