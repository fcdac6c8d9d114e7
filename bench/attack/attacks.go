package main

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"

	"quorate/bench/solo"
)

// held is how long an attack goes on.
const held = 10 * time.Second

func attacks() []attack {
	return []attack{
		{"names", "40 connections with 64 names of header fields of 62 KB each", longNames},
		{"yaml", "24 YAML bodies of 3 MB at a time, by a user who may create them", bodies(mallory, "application/yaml", "x: [", "a,", "a]", 24)},
		{"yaml-eve", "the same, by a user without rights", bodies(eve, "application/yaml", "x: [", "a,", "a]", 24)},
		{"json", "8 JSON bodies of 3 MB of empty finalizers at a time", bodies(mallory, "application/json", `{"metadata":{"finalizers":[`, `"",`, `""]}}`, 8)},
		{"unread", "2,000 streams with a window of zero for /openapi/proto", unread},
		{"announced", "85 bodies of 3 MiB announced and not sent", announced},
		{"selectors", "300 watches with 500 terms in 60 KB each", selectors(300, 500, 60)},
		{"terms", "300 watches with 20,000 terms in 64 KB each", selectors(300, 20_000, 0)},
		{"gossip", "48 connections with messages of 20 MiB to the gossip port, and 2,000 junk packets a second", gossip},
		{"refusals", "8 connections with requests without a credential", refusals},
		{"peers", "300 idle connections to the peer port, renewed when closed", peers},
	}
}

// await waits until the attack has gone on for long enough, or ctx ends.
func await(ctx context.Context) {
	select {
	case <-time.After(held):
	case <-ctx.Done():
	}
}

// onAll runs fn with each of n raw clients at a time, then waits, and returns what all got.
func onAll(ctx context.Context, t target, n int, user string, window uint32, fn func(r *raw) error) (string, error) {
	clients := make([]*raw, n)
	for i := range clients {
		var err error
		if clients[i], err = dialRaw(t.server, user, window); err != nil {
			return "", err
		}
		defer clients[i].conn.Close()
	}
	var all sync.WaitGroup
	for _, r := range clients {
		all.Go(func() {
			if err := fn(r); err != nil {
				r.count("closed")
			}
		})
	}
	await(ctx)
	codes := map[string]int{}
	for _, r := range clients {
		r.addTo(codes)
		_ = r.conn.Close() // ends what fn still does
	}
	all.Wait()
	return solo.Listed(codes), nil
}

func longNames(ctx context.Context, t target) (string, error) {
	return onAll(ctx, t, 40, eve, 1<<20, func(r *raw) error {
		for i := range 64 {
			name := fmt.Sprintf("x%d-%s", i, strings.Repeat("a", 62<<10))
			if err := r.get("/version", hpack.HeaderField{Name: name, Value: "v"}); err != nil {
				return err
			}
		}
		return nil
	})
}

// bodies returns an attack that creates objects from bodies of head, many items and tail, n at a
// time.
func bodies(user, media, head, item, tail string, n int) func(context.Context, target) (string, error) {
	const size = 3_000_000
	return func(ctx context.Context, t target) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, held)
		defer cancel()
		body := head + strings.Repeat(item, (size-len(head))/len(item)) + tail
		codes := map[string]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				c := solo.NewClient(t.server, solo.Token(user))
				defer c.Close()
				for ctx.Err() == nil {
					code, err := c.Do(ctx, http.MethodPost, configMaps, body, "Content-Type", media)
					if ctx.Err() != nil {
						return
					}
					what := fmt.Sprint(code)
					if err != nil {
						what = "broken off"
					}
					mu.Lock()
					codes[what]++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		return solo.Listed(codes), nil
	}
}

func unread(ctx context.Context, t target) (string, error) {
	return onAll(ctx, t, 2, mallory, 0, func(r *raw) error {
		for range 1000 {
			if err := r.get("/openapi/proto"); err != nil {
				return err
			}
		}
		return nil
	})
}

func announced(ctx context.Context, t target) (string, error) {
	length := []hpack.HeaderField{{Name: "content-length", Value: fmt.Sprint(3 << 20)}, {Name: "content-type", Value: "application/json"}}
	return onAll(ctx, t, 85, mallory, 1<<20, func(r *raw) error { return r.send(http.MethodPost, configMaps, false, length) })
}

// selectors returns an attack of watches, each with a selector of its own that all objects match.
func selectors(watches, terms, nameBytes int) func(context.Context, target) (string, error) {
	return func(ctx context.Context, t target) (string, error) {
		return onAll(ctx, t, 1, mallory, 1<<30, func(r *raw) error {
			for i := range watches {
				var b strings.Builder
				for j := range terms {
					if j > 0 {
						b.WriteByte(',')
					}
					if nameBytes == 0 {
						fmt.Fprintf(&b, "%x", j%4096) // as many terms as possible
						continue
					}
					fmt.Fprintf(&b, "!%0*d.example.com/%05d-%05d-%030d", nameBytes-7, 0, i, j, 0)
				}
				selector := strings.ReplaceAll(url.QueryEscape(b.String()), "%21", "!")
				if nameBytes == 0 {
					selector = b.String()[:min(b.Len(), 62<<10)]
				}
				if err := r.get(configMaps + "?watch=1&labelSelector=" + selector); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func gossip(ctx context.Context, t target) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, held)
	defer cancel()
	udp, err := net.Dial("udp", t.gossip)
	if err != nil {
		return "", err
	}
	defer udp.Close()
	const conns, message = 48, 20 << 20
	header := append([]byte{10}, binary.BigEndian.AppendUint32(nil, message)...) // an encrypted message
	chunk := make([]byte, 256<<10)
	var mu sync.Mutex
	var taken, opened int64
	var all sync.WaitGroup
	for range conns {
		all.Go(func() {
			for ctx.Err() == nil {
				n := send(ctx, t.gossip, header, chunk, message)
				mu.Lock()
				taken, opened = taken+n, opened+1
				mu.Unlock()
			}
		})
	}
	tick := time.NewTicker(time.Second / 100)
	defer tick.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		for range 20 {
			_, _ = udp.Write([]byte(strings.Repeat(string(rune(i%128)), 1+i%60))) // it may be refused
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	all.Wait()
	return fmt.Sprintf("%d connections closed after %d KiB on average", opened, taken/max(opened, 1)>>10), nil
}

// send opens a connection, sends header and then chunks up to a size, and returns how much it could
// send.
func send(ctx context.Context, address string, header, chunk []byte, size int64) (sent int64) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return 0
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	for next := header; sent < size; next = chunk {
		n, err := conn.Write(next)
		sent += int64(n)
		if err != nil {
			return sent
		}
	}
	return sent
}

func refusals(ctx context.Context, t target) (string, error) {
	return onAll(ctx, t, 8, "", 1<<20, func(r *raw) error {
		const pipelined = 500
		for sent := 0; ; {
			for ; sent < r.answered()+pipelined; sent++ {
				if err := r.get("/api/v1/nodes"); err != nil {
					return err
				}
			}
			select {
			case <-r.done:
				return errors.New("closed")
			case <-time.After(time.Millisecond):
			}
		}
	})
}

func peers(ctx context.Context, t target) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, held)
	defer cancel()
	const conns = 300
	var mu sync.Mutex
	opened, served := 0, 0
	var all sync.WaitGroup
	for range conns {
		all.Go(func() {
			for ctx.Err() == nil {
				conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", t.peer)
				if err != nil {
					continue
				}
				mu.Lock()
				opened++
				mu.Unlock()
				stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
				_, _ = conn.Read(make([]byte, 1)) // until the node closes it
				stop()
				_ = conn.Close()
			}
		})
	}
	// A handshake without the cluster's certificate is refused, but it is answered.
	for ctx.Err() == nil {
		d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}}
		if conn, err := d.DialContext(ctx, "tcp", t.peer); err == nil {
			served++
			_ = conn.Close()
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	all.Wait()
	return fmt.Sprintf("%d connections; %d handshakes beside them", opened, served), nil
}
