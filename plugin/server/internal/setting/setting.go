// Package setting has the error of a setting of server.ListenConfig that cannot
// be used.
package setting

import (
	"fmt"
	"slices"
)

// A Field is a field of server.ListenConfig, or of the Config in it.
type Field string

// The fields that errors name.
const (
	Address         Field = "Address"
	CertFile        Field = "CertFile"
	KeyFile         Field = "KeyFile"
	ClientCAFile    Field = "ClientCAFile"
	TokenFile       Field = "TokenFile"
	Insecure        Field = "Insecure"
	MetricsAddress  Field = "MetricsAddress"
	MetricsInsecure Field = "MetricsInsecure"
	Files           Field = "Files"

	MaxConnections        Field = "MaxConnections"
	MaxConnectionsPerPeer Field = "MaxConnectionsPerPeer"

	MaxConnectionsPerCaller Field = "MaxConnectionsPerCaller"

	MemoryBytes  Field = "Limits.MemoryBytes"
	MessageBytes Field = "Limits.MessageBytes"
)

// An Error says which setting cannot be used. The user can put it right, so
// commands exit with code 2.
type Error struct {
	// Setting is the name of the field, such as CertFile.
	Setting string

	format string
	args   []any // a Field among them is named as the reader knows it
}

// Errorf makes an Error. A Field among args is printed as the name that Reason
// gives it.
func Errorf(f Field, format string, args ...any) *Error {
	return &Error{Setting: string(f), format: format, args: args}
}

// Error implements error; settings are called by their fields.
func (e *Error) Error() string {
	return e.Setting + ": " + e.Reason(func(field string) string { return field })
}

// Reason is one sentence that says what is wrong and what to do. Other settings
// that it mentions are called what name returns for their fields.
func (e *Error) Reason(name func(field string) string) string {
	args := slices.Clone(e.args)
	for i, a := range args {
		if f, ok := a.(Field); ok {
			args[i] = name(string(f))
		}
	}
	return fmt.Sprintf(e.format, args...)
}
