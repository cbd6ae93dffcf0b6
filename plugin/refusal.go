package plugin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gladflow/gladflow/plugin/protocol"
)

// checkDir says what is wrong with Config.Dir. Starting the process would fail as if
// the binary were missing.
func (c Config) checkDir() error {
	if c.Dir == "" {
		return nil
	}
	info, err := os.Stat(c.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("plugin: there is no folder %s; make it, or correct Config.Dir", c.Dir)
	case err != nil:
		return fmt.Errorf("plugin: Config.Dir cannot be used: %w", err)
	case !info.IsDir():
		return fmt.Errorf("plugin: %s is no folder; correct Config.Dir", c.Dir)
	}
	// Asks for the right to enter it.
	if _, err := os.Stat(c.Dir + string(filepath.Separator) + "."); err != nil {
		return fmt.Errorf("plugin: Config.Dir cannot be used: %w", err)
	}
	return nil
}

// wrongSettings is the exit code of a gladflow binary whose arguments cannot be used.
const wrongSettings = 2

// A settingError is that of a binary which will refuse the same settings again.
type settingError struct{ err error }

func (e *settingError) Error() string { return e.err.Error() }
func (e *settingError) Unwrap() error { return e.err }

// refusal is why a gladflow binary has ended instead of serving, as the last line of
// its log says it: its arguments are wrong, most often. It is empty for what is no
// gladflow binary.
func (t *tail) refusal() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.b), []byte("\n"))
	var last struct {
		Level   string `json:"@level"`
		Module  string `json:"@module"`
		Message string `json:"@message"`
	}
	if json.Unmarshal(lines[len(lines)-1], &last) != nil || last.Level != "error" || !strings.HasPrefix(last.Module, protocol.Name) {
		return ""
	}
	return last.Message
}
