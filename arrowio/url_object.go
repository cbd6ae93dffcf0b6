package arrowio

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/s3blob"
)

// A store is one kind of object store. The credentials are those that its
// provider's own tools use; parameters of the URL cannot send them elsewhere.
type store struct {
	// parameters are those that its URLs may have.
	parameters []string
	// credentials are where they are looked for, for messages.
	credentials string
	open        func(ctx context.Context, s *source, l location, key string, transport *http.Transport) error
}

// storeOf is the store of a scheme, none for schemes of others.
func storeOf(scheme string) store {
	switch scheme {
	case "s3":
		return store{
			parameters:  []string{"region", "endpoint", "anonymous", "profile", "use_path_style"},
			credentials: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile AWS_PROFILE in ~/.aws and the machine's role; a public object wants ?anonymous=true",
			open:        openS3,
		}
	case "gs":
		return store{
			parameters:  []string{"anonymous"},
			credentials: "GOOGLE_APPLICATION_CREDENTIALS, what gcloud auth application-default login leaves and the machine's service account; a public object wants ?anonymous=true",
			open:        openGS,
		}
	case "azblob":
		return store{
			parameters:  []string{"storage_account"},
			credentials: "AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_CONNECTION_STRING, az login and the machine's identity, for the account AZURE_STORAGE_ACCOUNT or ?storage_account=NAME",
			open:        openAzure,
		}
	}
	return store{}
}

// openObject opens an object of an object store: scheme://bucket/key?parameters.
func (s *source) openObject(ctx context.Context, l location) error {
	st := storeOf(l.Scheme)
	key := strings.TrimPrefix(l.Path, "/")
	switch {
	case l.User != nil:
		return fault(l.name, "credentials do not go into the URL; they are looked for in %s", st.credentials)
	case l.Host == "":
		return fault(l.name, "the URL names no bucket; write %s://bucket/key", l.Scheme)
	case key == "" || strings.HasSuffix(key, "/"):
		return fault(l.name, "this is a bucket or a folder of one; name an object in it, as %s://bucket/key", l.Scheme)
	}
	parameters, err := url.ParseQuery(l.RawQuery)
	if err != nil {
		return fault(l.name, "the parameters of the URL are not written as name=value&name=value")
	}
	for p, values := range parameters {
		if !slices.Contains(st.parameters, p) || len(values) > 1 {
			// The parameter is not named: it may be a token.
			return fault(l.name, "the URL has a parameter that is unknown or given twice; %s URLs take %s, and credentials are looked for in %s",
				l.Scheme, strings.Join(st.parameters, ", "), st.credentials)
		}
	}
	for _, p := range []string{"anonymous", "use_path_style"} {
		if v := parameters.Get(p); v != "" && v != "true" && v != "false" {
			return fault(l.name, "the parameter %s is true or false", p)
		}
	}
	transport := newTransport()
	s.finally(transport.CloseIdleConnections)
	return st.open(ctx, s, l, key, transport)
}

// openIn opens an object of a bucket.
func (s *source) openIn(ctx context.Context, bucket *blob.Bucket, l location, key string) error {
	s.finally(func() { bucket.Close() })
	reader, err := bucket.NewReader(ctx, key, nil)
	if err != nil {
		return l.explain(ctx, err)
	}
	s.finally(func() { reader.Close() })
	s.in = remote{ctx, reader, l}
	return nil
}

// openS3 opens a bucket of Amazon's, or of whoever speaks S3 at an endpoint. The
// configuration is made here for the sake of its logger: s3blob's own writes to
// standard error.
func openS3(ctx context.Context, s *source, l location, key string, transport *http.Transport) error {
	q := l.Query()
	options := []func(*config.LoadOptions) error{config.WithLogger(logging.Nop{})}
	if region := q.Get("region"); region != "" {
		options = append(options, config.WithRegion(region))
	}
	if profile := q.Get("profile"); profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	if q.Get("anonymous") == "true" {
		options = append(options, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	settings, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return l.unopened(ctx, err)
	}
	client := s3.NewFromConfig(settings, func(o *s3.Options) {
		o.HTTPClient = &http.Client{Transport: transport, CheckRedirect: redirectS3}
		if endpoint := q.Get("endpoint"); endpoint != "" {
			o.BaseEndpoint = &endpoint
			// Few but Amazon have a host for every bucket.
			o.UsePathStyle = true
		}
		if style := q.Get("use_path_style"); style != "" {
			o.UsePathStyle = style == "true"
		}
	})
	bucket, err := s3blob.OpenBucket(ctx, client, l.Host, nil)
	if err != nil {
		return l.unopened(ctx, err)
	}
	return s.openIn(ctx, bucket, l, key)
}

// redirectS3 follows as the SDK's own client does: a 301 of S3's says that the
// region is wrong.
func redirectS3(next *http.Request, _ []*http.Request) error {
	if s := next.Response.StatusCode; s == http.StatusTemporaryRedirect || s == http.StatusPermanentRedirect {
		return nil
	}
	return http.ErrUseLastResponse
}

// azureAccount is the shape of a storage account's name.
var azureAccount = regexp.MustCompile(`^[a-z0-9]{3,24}$`).MatchString

// openAzure opens an object in a container of an Azure storage account.
func openAzure(ctx context.Context, s *source, l location, key string, _ *http.Transport) error {
	options := azureblob.NewDefaultServiceURLOptions()
	if wanted := l.Query().Get("storage_account"); wanted != "" {
		switch {
		case !azureAccount(wanted):
			return fault(l.name, "the storage account's name is 3 to 24 lower-case letters and digits")
		case options.SASToken != "" && wanted != options.AccountName:
			return fault(l.name, "AZURE_STORAGE_SAS_TOKEN is for the account AZURE_STORAGE_ACCOUNT and is not sent to another")
		}
		options.AccountName = wanted
	}
	if options.AccountName == "" {
		return fault(l.name, "no storage account is named; set AZURE_STORAGE_ACCOUNT or add ?storage_account=NAME")
	}
	service, err := azureblob.NewServiceURL(options)
	if err != nil {
		return l.unopened(ctx, err)
	}
	client, err := azureblob.NewDefaultClient(service, azureblob.ContainerName(l.Host))
	if err != nil {
		return l.unopened(ctx, err)
	}
	bucket, err := azureblob.OpenBucket(ctx, client, nil)
	if err != nil {
		return l.unopened(ctx, err)
	}
	return s.openIn(ctx, bucket, l, key)
}
