package protocol

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
)

// MessageTooLarge is the sentence about a message of size bytes, such as a batch
// of samples, of which a service takes limit at most; size is 0 if unknown.
func MessageTooLarge(size, limit int64) string {
	const mega = 1 << 20
	what := "a message"
	if size > 0 {
		what = fmt.Sprintf("a message of %.1f MiB", float64(size)/mega)
	}
	return fmt.Sprintf("%s is larger than the limit of %.1f MiB; send samples in batches of 1 to 4 MB (Python: write_table(table, max_chunksize=rows); Go: BatchBytes), or raise message_bytes (gladflow serve --max-message-size)",
		what, float64(limit)/mega)
}

// asLimit makes gRPC's own error about a message that is too large, which no service
// can word, one of the service's.
func (f *Fault) asLimit() {
	const prefix = "grpc: received message larger than max ("
	if sizes, ok := strings.CutPrefix(f.Message, prefix); ok && f.StatusCode() == codes.ResourceExhausted {
		var size, limit int64
		if _, err := fmt.Sscanf(sizes, "%d vs. %d)", &size, &limit); err == nil {
			f.Reason, f.Message = ReasonLimit, MessageTooLarge(size, limit)
		}
	}
}
