package security

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/tap"
)

// early refuses a call without its token when its headers have arrived: of a unary
// call, all of the message would be taken before the interceptors are called.
func (t *tokens) early(open func(method string) bool) grpc.ServerOption {
	return grpc.InTapHandle(func(ctx context.Context, call *tap.Info) (context.Context, error) {
		if open(call.FullMethodName) {
			return ctx, nil
		}
		return ctx, t.check(ctx)
	})
}
