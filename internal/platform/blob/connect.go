package blob

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	maxAttempts     = 4               // maximum number of attempts per request
	instanceTimeout = 5 * time.Second // timeout for requesting credentials from the instance's metadata service
	maxPrefix       = 256             // bytes; S3 allows 1,024 with the key
	defaultEndpoint = "https://s3.amazonaws.com"
)

// bucketURL is a parsed s3:// URL.
type bucketURL struct {
	endpoint             *url.URL
	region, name, prefix string
}

func openBucket(ctx context.Context, text string, opts Options) (Store, error) {
	location, err := parseBucketURL(text)
	if err != nil {
		return nil, err
	}
	b := &bucket{name: location.name, prefix: location.prefix, scratch: opts.Scratch}
	if b.scratch == "" {
		b.scratch = os.TempDir()
	}
	if !opts.ReadOnly {
		staged, err := b.Stage(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w; create the folder %s and let this user write to it, or set another folder for "+
				"temporary files", err, b.scratch)
		}
		staged.Discard()
	}
	client, err := connect(location, opts.Credentials)
	if err != nil {
		return nil, err
	}
	b.core = minio.Core{Client: client}
	if opts.ReadOnly {
		return b, nil
	}
	if err := b.Ping(ctx); err != nil {
		return nil, explain(err, location)
	}
	b.detectConditional(ctx)
	if err := testStore(ctx, b); err != nil {
		return nil, explain(err, location)
	}
	return b, nil
}

// parseBucketURL parses an s3:// URL. Its errors do not quote the URL, because the operator may have put a secret in it
// by mistake.
func parseBucketURL(text string) (bucketURL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Host == "" || u.Port() != "" || u.User != nil || u.Fragment != "" {
		return bucketURL{}, errors.New("the URL of a bucket must be " +
			"s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION, without credentials: set those in the " +
			"environment")
	}
	w := bucketURL{name: u.Host}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		if !isKey(prefix) || len(prefix) > maxPrefix {
			return bucketURL{}, fmt.Errorf("the prefix in the bucket must have at most %d bytes of a-z, 0-9, '.', '_', "+
				"'-' and '/'", maxPrefix)
		}
		w.prefix = prefix + "/"
	}
	return w, w.parameters(u.RawQuery)
}

func (w *bucketURL) parameters(text string) error {
	query, err := url.ParseQuery(text)
	if err != nil {
		return errors.New("the parameters of the bucket's URL cannot be parsed")
	}
	for name, values := range query {
		if name != "endpoint" && name != "region" || len(values) != 1 {
			return errors.New("a bucket's URL may have only the parameters endpoint and region, each at most once")
		}
	}
	w.region = query.Get("region")
	w.endpoint, err = parseEndpoint(query.Get("endpoint"))
	return err
}

func parseEndpoint(text string) (*url.URL, error) {
	if text == "" {
		text = defaultEndpoint
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" {
		return nil, errors.New("the endpoint must be https://HOST or https://HOST:PORT, without a path")
	}
	return u, nil
}

func connect(location bucketURL, creds Credentials) (*minio.Client, error) {
	useTLS := location.endpoint.Scheme == "https"
	base, err := minio.DefaultTransport(useTLS)
	if err != nil {
		return nil, fmt.Errorf("configuring the S3 transport: %w", err)
	}
	client, err := minio.New(location.endpoint.Host, &minio.Options{
		Creds: newCredentials(creds), Secure: useTLS, Transport: transport{base}, Region: location.region,
		MaxRetries: maxAttempts,
	})
	if err != nil {
		return nil, fmt.Errorf("configuring the S3 client: %w", err)
	}
	value, err := client.GetCreds()
	if err != nil || value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return nil, errors.New("S3 credentials are missing: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	return client, nil
}

func newCredentials(creds Credentials) *credentials.Credentials {
	if creds.ID != "" {
		return credentials.NewStaticV4(creds.ID, creds.Secret, "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
		&credentials.IAM{Client: &http.Client{Timeout: instanceTimeout}},
	})
}

// detectConditional detects whether the server supports If-None-Match on put. Some servers silently ignore it.
func (b *bucket) detectConditional(ctx context.Context) {
	key, empty := path.Join(incomingDir, rand.Text()), strings.NewReader("")
	b.conditional = true
	first := b.putWhole(ctx, key, "", sha256.Sum256(nil), empty, 0)
	second := b.putWhole(ctx, key, "", sha256.Sum256(nil), empty, 0)
	b.conditional = first == nil && errorResponse(second).StatusCode == http.StatusPreconditionFailed
	_ = b.Delete(ctx, key) // testStore reports errors
}

// explain adds advice for the operator to an error from the server.
func explain(err error, location bucketURL) error {
	r := errorResponse(err)
	advice := "check that " + location.endpoint.Host + " is the server and can be reached"
	switch {
	case r.Code == minio.NoSuchBucket:
		advice = "create the bucket " + location.name + ", or use another bucket"
	case r.Code == minio.AccessDenied:
		advice = "allow the credentials to list the bucket " + location.name + " and to read, write and delete in it"
	case r.StatusCode == http.StatusForbidden, r.StatusCode == http.StatusNotFound: // some servers return 404 for an unknown key
		advice = "check that the credentials, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, are for " +
			location.endpoint.Host
	case r.StatusCode >= http.StatusMultipleChoices && r.StatusCode <= http.StatusBadRequest:
		advice = "check the bucket's region (region=) and endpoint in the URL"
	}
	return fmt.Errorf("%w; %s", err, advice)
}
