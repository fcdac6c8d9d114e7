package testcluster

import (
	"context"
	"net"
	"sync"
	"testing"
)

// Idlers opens n connections from an IP address to a host:port. Each sends first and then stays
// silent; when the other side closes one, Idlers opens another. It returns once it has tried to
// open all n. The connections remain until the test calls stop.
func Idlers(t testing.TB, n int, from, to string, first []byte) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	var running, opened sync.WaitGroup
	opened.Add(n)
	for range n {
		running.Go(func() {
			once := sync.OnceFunc(opened.Done)
			for ctx.Err() == nil {
				conn, err := dialer.DialContext(ctx, "tcp", to)
				once()
				if err == nil {
					idle(ctx, conn, first)
				}
			}
		})
	}
	opened.Wait()
	return func() {
		cancel()
		running.Wait()
	}
}

// idle sends first and returns when the other side has closed the connection, or ctx has ended.
func idle(ctx context.Context, conn net.Conn, first []byte) {
	defer conn.Close()
	abort := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer abort()
	_, err := conn.Write(first)
	for buf := make([]byte, 4096); err == nil; {
		_, err = conn.Read(buf)
	}
}
