package plugin

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"

	"github.com/hashicorp/go-plugin"
)

// ChecksumOf finds a file in a list of SHA-256 sums, as sha256sum writes it and as
// every release has it (SHA256SUMS), and returns its sum for Config.Checksum. The
// binaries of a release stand there as gladflow_0.2.0_linux_amd64. A list that is no
// such list, or has two sums for the name, is an error.
//
// The list must come from where nobody else can write: over HTTPS from the release,
// or from the host's own repository.
func ChecksumOf(sums io.Reader, name string) (string, error) {
	const most = 1 << 20
	text, err := io.ReadAll(io.LimitReader(sums, most+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("plugin: the list of checksums cannot be read: %w", err)
	case len(text) > most:
		return "", fmt.Errorf("plugin: the list of checksums has more than %d bytes; give the file SHA256SUMS of a release", most)
	}
	var found string
	var names []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, most+1)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if line == "" {
			continue
		}
		parts := sumLine.FindStringSubmatch(line)
		if parts == nil {
			return "", fmt.Errorf("plugin: line %d of the list of checksums is %q and no line of sha256sum; give the file SHA256SUMS of a release", n, shorten(line))
		}
		sum := strings.ToLower(parts[1])
		names = append(names, parts[2])
		switch {
		case parts[2] != name:
		case found != "" && found != sum:
			return "", fmt.Errorf("plugin: the list of checksums has two for %s; fetch it again", name)
		default:
			found = sum
		}
	}
	if len(names) == 0 {
		return "", errors.New("plugin: the list of checksums is empty; give the file SHA256SUMS of a release")
	}
	if found == "" {
		return "", fmt.Errorf("plugin: the list of checksums has none for %q; it has those of %s", name, shorten(strings.Join(names, ", ")))
	}
	return found, nil
}

var sumLine = regexp.MustCompile(`^([0-9a-fA-F]{64}) [ *](\S.*)$`)

// checksum is Config.Checksum in bytes; nil for none.
func (c Config) checksum() ([]byte, error) {
	if c.Checksum == "" {
		return nil, nil
	}
	sum, err := hex.DecodeString(c.Checksum)
	if err != nil || len(sum) != sha256.Size {
		return nil, fmt.Errorf("plugin: Config.Checksum %q is no SHA-256 in hex; give its 64 digits, as sha256sum prints them", c.Checksum)
	}
	return sum, nil
}

// command is that of the binary at path, which was checked; done closes what it was
// checked through, and is called when it has been started.
//
// On Linux it starts the file that was checked even if there is another one at path
// by then. Elsewhere, or without /proc, it starts what is at path.
func (c Config) command(ctx context.Context, path string) (cmd *exec.Cmd, done func(), err error) {
	want, err := c.checksum()
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.CommandContext(ctx, path, c.Args...)
	cmd.Env = append(hostEnvironment(), c.Env...)
	cmd.Dir = c.Dir
	if want == nil {
		return cmd, func() {}, nil
	}
	// Not to wait for a pipe.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, &settingError{fmt.Errorf("plugin: %s is no regular file, so it cannot be checked and started; give the path of the binary", path)}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("plugin: %s cannot be read to check it: %w", path, err)
	}
	got := sha256.New()
	if _, err := io.Copy(got, file); err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("plugin: %s cannot be read to check it: %w", path, err)
	}
	if sum := got.Sum(nil); !bytes.Equal(sum, want) {
		file.Close()
		return nil, nil, fmt.Errorf("plugin: the SHA-256 of %s is not Config.Checksum %s but %x; fetch the build that was meant, or compare with sha256sum: %w",
			path, c.Checksum, sum, plugin.ErrChecksumsDoNotMatch)
	}
	if _, err := os.Stat("/proc/self/fd"); err == nil && runtime.GOOS == "linux" {
		cmd.Path = "/proc/self/fd/3" // of the child
		cmd.ExtraFiles = []*os.File{file}
	}
	return cmd, func() { file.Close() }, nil
}
