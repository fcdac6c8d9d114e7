package network_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"syscall"
	"testing"
	"time"

	"quorate/chaos/network"
)

// BenchmarkRoundTrip compares small HTTPS requests to a host on the virtual network with requests
// over loopback: the time of one request, and the CPU time of this process, which runs the client,
// the server and the network.
func BenchmarkRoundTrip(b *testing.B) { roundTrips(b, 1) }

// BenchmarkManyClients is the same with many clients at a time, who leave the processor no rest.
func BenchmarkManyClients(b *testing.B) { roundTrips(b, 128) }

func roundTrips(b *testing.B, clients int) {
	measure := func(b *testing.B, l net.Listener) {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Write(make([]byte, 1024)) // a client that is gone is no concern of the server's
		}))
		server.Listener.Close()
		server.Listener = l
		server.StartTLS()
		defer server.Close()
		client := server.Client()
		client.Transport.(*http.Transport).TLSClientConfig.ServerName = "127.0.0.1" // that its certificate is for
		client.Transport.(*http.Transport).MaxIdleConnsPerHost = clients
		left := make(chan struct{})
		var working sync.WaitGroup
		for range clients {
			working.Go(func() {
				for range left {
					answer, err := client.Get(server.URL)
					if err == nil {
						_, err = io.Copy(io.Discard, answer.Body)
						answer.Body.Close()
					}
					if err != nil {
						b.Error(err)
					}
				}
			})
		}
		before := cpu(b)
		for b.Loop() {
			left <- struct{}{}
		}
		close(left)
		working.Wait()
		b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "µs-cpu/op")
	}
	compare(b, measure)
}

// BenchmarkThroughput compares one connection that sends as fast as it can.
func BenchmarkThroughput(b *testing.B) {
	measure := func(b *testing.B, l net.Listener) {
		var receiver sync.WaitGroup
		defer receiver.Wait()
		receiver.Go(func() { // ends with the connection
			conn, err := l.Accept()
			if err == nil {
				_, err = io.Copy(io.Discard, conn)
				conn.Close()
			}
			if err != nil {
				b.Error(err)
			}
		})
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		chunk := make([]byte, 64<<10)
		b.SetBytes(int64(len(chunk)))
		before := cpu(b)
		for b.Loop() {
			if _, err := conn.Write(chunk); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64((cpu(b)-before).Microseconds())/float64(b.N), "µs-cpu/op")
	}
	compare(b, measure)
}

func compare(b *testing.B, measure func(*testing.B, net.Listener)) {
	b.Run("loopback", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		measure(b, l)
	})
	b.Run("network", func(b *testing.B) {
		_, host, _ := start(b)
		measure(b, listen(b, host))
	})
}

// cpu is the processor time of this process so far.
func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkDelay measures by how much the round trip of a byte exceeds the delays of its two links.
func BenchmarkDelay(b *testing.B) {
	const delay = 2500 * time.Microsecond
	n, host, _ := start(b)
	there, back := network.Link{From: network.Clients, To: "a"}, network.Link{From: "a", To: network.Clients}
	if err := n.Shape(map[network.Link]network.Rule{there: {Delay: delay}, back: {Delay: delay}}); err != nil {
		b.Fatal(err)
	}
	l := listen(b, host)
	var echo sync.WaitGroup
	defer echo.Wait()
	echo.Go(func() {
		if conn, err := l.Accept(); err == nil { // it ends with its client
			_, _ = io.Copy(conn, conn)
			conn.Close()
		}
	})
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	var one [1]byte
	for b.Loop() {
		if _, err := conn.Write(one[:]); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, one[:]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((b.Elapsed()/time.Duration(b.N) - 2*delay).Microseconds()), "µs-late/op")
}
