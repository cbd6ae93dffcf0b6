package store

import (
	"context"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/blob/s3blob"
)

// S3 opens objects of Amazon S3, or of whoever speaks it at an endpoint,
// s3://bucket/key.
func S3() Store {
	return (&objects{
		scheme:      "s3",
		parameters:  []string{"region", "endpoint", "anonymous", "profile", "use_path_style"},
		credentials: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the profile AWS_PROFILE in ~/.aws and the machine's role; a public object wants ?anonymous=true",
		missing:     []string{"get credentials", "get identity"},
		advice:      s3Advice,
		open:        openS3,
	}).store()
}

// s3Advice recognises a region that is missing by the client's words, for which
// it has no type.
func s3Advice(err error) string {
	text := err.Error()
	for _, words := range []string{"region must be set", "Missing Region", "Invalid region"} {
		if strings.Contains(text, words) {
			return "the region of the bucket is not known, or there is none of that name; add ?region=NAME or set AWS_REGION"
		}
	}
	return ""
}

// openS3 opens a bucket of Amazon's, or of whoever speaks S3 at an endpoint. The
// configuration is made here for the sake of its logger: s3blob's own writes to
// standard error.
func openS3(ctx context.Context, b *body, l location, key string, transport *http.Transport) error {
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
	return b.openIn(ctx, bucket, l, key)
}

// redirectS3 follows as the SDK's own client does: a 301 of S3's says that the
// region is wrong.
func redirectS3(next *http.Request, _ []*http.Request) error {
	if s := next.Response.StatusCode; s == http.StatusTemporaryRedirect || s == http.StatusPermanentRedirect {
		return nil
	}
	return http.ErrUseLastResponse
}
