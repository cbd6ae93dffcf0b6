package store

import (
	"context"
	"errors"
	"net/http"
	"regexp"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"gocloud.dev/blob/azureblob"
)

// Azure opens objects of Azure Blob Storage, azblob://container/key.
func Azure() Store {
	return (&objects{
		scheme:      "azblob",
		parameters:  []string{"storage_account"},
		credentials: "AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN, AZURE_STORAGE_CONNECTION_STRING, az login and the machine's identity, for the account AZURE_STORAGE_ACCOUNT or ?storage_account=NAME",
		missing:     []string{"DefaultAzureCredential"},
		answer:      azureAnswer,
		open:        openAzure,
	}).store()
}

// azureAnswer reads the error of Azure's client, which has no methods for it.
func azureAnswer(err error) (status int, code string) {
	var answer *azcore.ResponseError
	if errors.As(err, &answer) {
		return answer.StatusCode, answer.ErrorCode
	}
	return 0, ""
}

// azureAccount is the shape of a storage account's name.
var azureAccount = regexp.MustCompile(`^[a-z0-9]{3,24}$`).MatchString

// openAzure opens an object in a container of an Azure storage account.
func openAzure(ctx context.Context, b *body, l location, key string, _ *http.Transport) error {
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
	return b.openIn(ctx, bucket, l, key)
}
