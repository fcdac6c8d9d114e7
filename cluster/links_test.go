package cluster

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"quorate/proto/peerpb"
)

// TestLinksRedialSoon: a member that was down is dialled about once a second, however long it was
// down. With gRPC's own pauses the eighth attempt would come after 40 s.
func TestLinksRedialSoon(t *testing.T) {
	t.Parallel()
	var dials atomic.Int64
	enough := make(chan struct{})
	l := newLinks(func(_, addr string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
		options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
				if dials.Add(1) == 8 {
					close(enough)
				}
				return nil, errors.New("connection refused")
			}))
		return grpc.NewClient("passthrough:///"+addr, options...)
	})
	defer l.close()
	client, err := l.membership("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	go client.Describe(ctx, &peerpb.DescribeRequest{}, grpc.WaitForReady(true)) // ends with ctx
	select {
	case <-enough:
	case <-ctx.Done():
		t.Errorf("%d attempts in 20 s", dials.Load())
	}
}
