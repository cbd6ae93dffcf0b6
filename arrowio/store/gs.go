package store

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// GS opens objects of Google Cloud Storage, gs://bucket/key.
func GS() Store {
	return (&objects{
		scheme:      "gs",
		parameters:  []string{"anonymous"},
		credentials: "GOOGLE_APPLICATION_CREDENTIALS, what gcloud auth application-default login leaves and the machine's service account; a public object wants ?anonymous=true",
		missing:     []string{"oauth2:"},
		open:        openGS,
	}).store()
}

// openGS opens an object of Google Cloud Storage, by its JSON API. gocloud's
// driver would do, but brings gRPC's whole service mesh: 28 MB, and as much time
// at every start as all else together. It also keeps credentials for the life of
// the process that end with the context of the first URL.
func openGS(ctx context.Context, b *body, l location, key string, transport *http.Transport) error {
	client := &http.Client{Transport: transport, CheckRedirect: checkRedirect}
	server := "https://storage.googleapis.com"
	// The variable of Google's own clients for a server on this machine.
	if emulator := os.Getenv("STORAGE_EMULATOR_HOST"); emulator != "" {
		server = "http://" + strings.TrimPrefix(emulator, "http://")
	} else if l.Query().Get("anonymous") != "true" {
		// Tokens are asked for over the same connections.
		ctx := context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: transport})
		found, err := google.FindDefaultCredentials(ctx, "https://www.googleapis.com/auth/devstorage.read_only")
		if err != nil {
			return l.explain(ctx, &noCredentials{err})
		}
		client.Transport = &oauth2.Transport{Base: transport, Source: found.TokenSource}
	}
	object := server + "/storage/v1/b/" + url.PathEscape(l.Host) + "/o/" + url.PathEscape(key) + "?alt=media"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, object, nil)
	if err != nil {
		return l.explain(ctx, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return l.explain(ctx, err)
	}
	b.finally(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		return l.explain(ctx, answer(response.StatusCode))
	}
	b.Reader = remote{ctx, response.Body, l}
	return nil
}
