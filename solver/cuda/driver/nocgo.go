//go:build cuda && !cgo

package driver

// A build with the tag cuda goes through cgo. That this name is unknown says so.
var _ = set_CGO_ENABLED_1_to_build_with_the_tag_cuda
