package security

import (
	"context"
	"net"
	"strconv"

	"github.com/gladflow/gladflow/plugin/server/internal/setting"
)

// An Address is a host:port to listen on.
type Address struct {
	// Text is how it was given.
	Text string
	// Bind is the same with its name resolved: bound as it was checked, since a
	// second look-up might find another.
	Bind string
	// Local says that nobody outside this machine can reach it.
	Local bool
}

// ParseAddress reads a setting that is an address. Its errors are *setting.Error.
func ParseAddress(ctx context.Context, f setting.Field, text string) (Address, error) {
	example := "127.0.0.1:8815 or unix:/path"
	if f == setting.MetricsAddress {
		example = "127.0.0.1:9090"
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, setting.Errorf(f, "%q is no address; write it as %s", text, example)
	}
	if port == "" {
		return Address{}, setting.Errorf(f, "%q is no address: the port is missing; write it as %s", text, example)
	}
	// Not the names of ports: few know which port they listen on then.
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return Address{}, setting.Errorf(f, "%q is no address: the port is %q and must be a number, 0 to 65535, where 0 takes a free one", text, port)
	}
	if host == "" {
		return Address{Text: text, Bind: text}, nil
	}
	found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil || len(found) == 0 {
		return Address{}, setting.Errorf(f, "there is no host %q; write the address as %s", host, example)
	}
	first, local := found[0], true
	for _, at := range found {
		local = local && at.IP.IsLoopback()
		if first.IP.To4() == nil && at.IP.To4() != nil {
			first = at // as package net prefers it
		}
	}
	return Address{Text: text, Bind: net.JoinHostPort(first.String(), port), Local: local}, nil
}
