package server

import (
	"testing"

	"github.com/gladflow/gladflow/pipelines/recovery"
	"github.com/gladflow/gladflow/plugin/protocol"
)

// A run hands over its tables by the names that callers ask for.
func TestTablesHaveTheProtocolsNames(t *testing.T) {
	for ours, theirs := range map[string]string{
		recovery.TableEdges:     protocol.TableEdges,
		recovery.TablePrecision: protocol.TablePrecision,
		recovery.TableMetrics:   protocol.TableMetrics,
	} {
		if ours != theirs {
			t.Errorf("a recovery calls %q what the protocol calls %q", ours, theirs)
		}
	}
}
