package forward_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"quorate/proto/peerpb"
	"quorate/raftstore/testcluster"
)

// BenchmarkWrites forwards writes of concurrent callers to a leader that responds immediately. Both
// ends run in this process.
func BenchmarkWrites(b *testing.B) {
	authority := testcluster.NewAuthority(b)
	s, _ := server(b, func(context.Context, *peerpb.WriteRequest) *peerpb.WriteResponse {
		return &peerpb.WriteResponse{Outcome: peerpb.Outcome_APPLIED, Index: 1 << 20}
	})
	leader := serve(b, authority, s.Serve)
	client, _ := follower(b, authority)
	entry := []byte(strings.Repeat("x", 1024))
	for _, callers := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			jobs := make(chan struct{}, callers)
			var work sync.WaitGroup
			before := processTime(b)
			for range callers {
				work.Go(func() {
					for range jobs {
						ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
						_, err := client.Write(ctx, "leader", leader.addr(), &peerpb.WriteRequest{Entry: entry})
						cancel()
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			for range b.N {
				jobs <- struct{}{}
			}
			close(jobs)
			work.Wait()
			b.ReportMetric(float64((processTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// processTime returns the CPU time of this process, which varies less than the elapsed time on a
// busy machine.
func processTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
