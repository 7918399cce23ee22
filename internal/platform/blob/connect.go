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
	attempts      = 4               // of a request that failed on its way
	machineWithin = 5 * time.Second // for the machine's own credentials, where there are no others
	maxPrefix     = 256             // bytes; S3 takes 1,024 with the key
	amazon        = "https://s3.amazonaws.com"
)

// place is what an s3:// URL says.
type place struct {
	endpoint             *url.URL
	region, name, prefix string
}

func openBucket(ctx context.Context, text string, opts Options) (Store, error) {
	where, err := parsePlace(text)
	if err != nil {
		return nil, err
	}
	b := &bucket{name: where.name, prefix: where.prefix, scratch: opts.Scratch}
	if b.scratch == "" {
		b.scratch = os.TempDir()
	}
	if !opts.Look {
		staged, err := b.Stage(ctx)
		if err != nil {
			return nil,
				fmt.Errorf("%w; make the folder %s and let this user write to it, or name another for temporary files",
					err, b.scratch)
		}
		staged.Discard()
	}
	client, err := connect(where, opts.Credentials)
	if err != nil {
		return nil, err
	}
	b.core = minio.Core{Client: client}
	if opts.Look {
		return b, nil
	}
	if err := b.Ping(ctx); err != nil {
		return nil, explain(err, where)
	}
	b.learn(ctx)
	if err := try(ctx, b); err != nil {
		return nil, explain(err, where)
	}
	return b, nil
}

// parsePlace repeats nothing of the URL in its errors: a secret may have been put there by mistake.
func parsePlace(text string) (place, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Host == "" || u.Port() != "" || u.User != nil || u.Fragment != "" {
		return place{},
			errors.New("a bucket is written s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION, without " +
				"credentials: those come from the environment")
	}
	w := place{name: u.Host}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		if !isKey(prefix) || len(prefix) > maxPrefix {
			return place{},
				fmt.Errorf("the prefix in the bucket has to be at most %d bytes of a-z, 0-9, '.', '_', '-' and '/'",
					maxPrefix)
		}
		w.prefix = prefix + "/"
	}
	return w, w.parameters(u.RawQuery)
}

func (w *place) parameters(text string) error {
	query, err := url.ParseQuery(text)
	if err != nil {
		return errors.New("the parameters of the bucket's URL cannot be read")
	}
	for name, values := range query {
		if name != "endpoint" && name != "region" || len(values) != 1 {
			return errors.New("a bucket's URL has the parameters endpoint and region, once each, and no others")
		}
	}
	w.region = query.Get("region")
	w.endpoint, err = parseEndpoint(query.Get("endpoint"))
	return err
}

func parseEndpoint(text string) (*url.URL, error) {
	if text == "" {
		text = amazon
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.Trim(u.Path,
		"/") != "" {
		return nil, errors.New("the endpoint has to be https://HOST or https://HOST:PORT, without a path")
	}
	return u, nil
}

func connect(where place, given Credentials) (*minio.Client, error) {
	secure := where.endpoint.Scheme == "https"
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, fmt.Errorf("preparing connections: %w", err)
	}
	client, err := minio.New(where.endpoint.Host, &minio.Options{
		Creds: credentialsOf(given), Secure: secure, Transport: marking{transport}, Region: where.region,
		MaxRetries: attempts,
	})
	if err != nil {
		return nil, fmt.Errorf("preparing for S3: %w", err)
	}
	value, err := client.GetCreds()
	if err != nil || value.AccessKeyID == "" || value.SecretAccessKey == "" {
		return nil, errors.New("there are no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	return client, nil
}

func credentialsOf(given Credentials) *credentials.Credentials {
	if given.ID != "" {
		return credentials.NewStaticV4(given.ID, given.Secret, "")
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
		&credentials.IAM{Client: &http.Client{Timeout: machineWithin}},
	})
}

// learn finds out whether the server keeps the first object of a key by itself: not every one knows If-None-Match, and
// some pass it by in silence.
func (b *bucket) learn(ctx context.Context) {
	key, empty := path.Join(incoming, rand.Text()), strings.NewReader("")
	b.conditional = true
	first := b.putWhole(ctx, key, "", sha256.Sum256(nil), empty, 0)
	second := b.putWhole(ctx, key, "", sha256.Sum256(nil), empty, 0)
	b.conditional = first == nil && answer(second).StatusCode == http.StatusPreconditionFailed
	_ = b.Delete(ctx, key) // what is amiss shows in the trial
}

// explain tells an operator what to do about the server's answer.
func explain(err error, where place) error {
	said := answer(err)
	what := "see that " + where.endpoint.Host + " is the server and can be reached"
	switch {
	case said.Code == minio.NoSuchBucket:
		what = "make the bucket " + where.name + ", or name another"
	case said.Code == minio.AccessDenied:
		what = "let the credentials list the bucket " + where.name + ", and read, write and delete in it"
	case said.StatusCode == http.StatusForbidden, said.StatusCode == http.StatusNotFound: // as some say of an unknown key
		what = "see that the credentials, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, are those of " +
			where.endpoint.Host
	case said.StatusCode >= http.StatusMultipleChoices && said.StatusCode <= http.StatusBadRequest:
		what = "see that the URL names the bucket's region, by region=, and its endpoint"
	}
	return fmt.Errorf("%w; %s", err, what)
}
