package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	// users are who lists and who gets meanwhile: each user has his share of a node.
	users = `reflector-token,reflector,1,"system:masters"
other-token,other,2,"system:masters"
`
	reflected = "/api/v1/namespaces/reflected/configmaps"
	// reflectorsPerConnection is how many reflectors share a connection, as those of one process do.
	reflectorsPerConnection = 10
	// reflectTimeout bounds the time until all reflectors are live.
	reflectTimeout = 10 * time.Minute
	// retryDelay is what a reflector waits after a 429, as Retry-After asks.
	retryDelay = time.Second
	// aloneTime is how long the other client gets objects before the reflectors list.
	aloneTime = 5 * time.Second
)

// reflect measures reflectors that list the same objects at once.
func (o *options) reflect(ctx context.Context, dir string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, reflectTimeout)
	defer cancel()
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte(users), 0o600); err != nil {
		return err
	}
	q, err := o.start(ctx, dir, "node", 1, "--token-file", tokens)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.Stop()) }()
	client := solo.NewClient(q.Endpoints[0], solo.Token("other"))
	defer client.Close()
	if err := o.fill(ctx, q, client); err != nil {
		return err
	}
	if err := measure.Sleep(ctx, settleTime); err != nil {
		return err
	}
	pid := q.PIDs()[0]
	if err := solo.ResetPeak(pid); err != nil {
		return err
	}
	before, _, err := solo.Memory(pid)
	if err != nil {
		return err
	}
	alone, err := getting(ctx, client, func() error { return measure.Sleep(ctx, aloneTime) })
	if err != nil {
		return err
	}
	r := newReflectors(q.Endpoints[0], o.reflectors)
	defer r.close()
	used, err := measure.CPUTime(q.PIDs())
	if err != nil {
		return err
	}
	during, err := getting(ctx, client, func() error { return r.run(ctx, client) })
	if err != nil {
		return err
	}
	usedThen, err := measure.CPUTime(q.PIDs())
	if err != nil {
		return err
	}
	_, peak, err := solo.Memory(pid)
	if err != nil {
		return err
	}
	const mib = 1 << 20
	t := measure.NewTable(fmt.Sprintf("%d reflectors list %d objects at once", o.reflectors, o.objects),
		fmt.Sprintf("go run ./bench/watchers -reflectors %d -objects %d", o.reflectors, o.objects), "what", "value")
	t.Add("sent, MiB", float64(r.received.Load())/mib)
	t.Add("requests that got 429 and came again", r.refused.Load())
	t.Add("all have listed after, s", r.listed.Seconds())
	t.Add("all are live after, s", r.live.Seconds())
	t.Add("processor time, s", (usedThen - used).Seconds())
	t.Add("processor time of a list of 1,000 objects, µs", float64((usedThen-used).Microseconds())/float64(o.reflectors)/float64(o.objects)*1000)
	t.Add("memory before, MiB", float64(before)/mib)
	t.Add("peak of memory, MiB", float64(peak)/mib)
	t.Add("a get before, p50 ms", measure.Percentile(alone, 50))
	t.Add("a get before, p99 ms", measure.Percentile(alone, 99))
	t.Add("a get during, p50 ms", measure.Percentile(during, 50))
	t.Add("a get during, p99 ms", measure.Percentile(during, 99))
	return t.Print(os.Stdout)
}

// fill creates the objects.
func (o *options) fill(ctx context.Context, q *servers.Quorate, client *solo.Client) error {
	if err := create(ctx, client, "/api/v1/namespaces", `{"metadata":{"name":"reflected"}}`); err != nil {
		return err
	}
	_, err := measure.Run(ctx, q.PIDs(), 4*creators, o.objects, func(ctx context.Context, i int) (int, error) {
		return client.Do(ctx, http.MethodPost, reflected, configMap(fmt.Sprintf("object-%d", i), ""))
	})
	return err
}

// getting gets one object at a time while work runs, and returns how long each get took.
func getting(ctx context.Context, client *solo.Client, work func() error) (took []time.Duration, err error) {
	done := make(chan error, 1)
	go func() { done <- work() }()
	for {
		select {
		case err := <-done:
			return took, err
		default:
		}
		begun := time.Now()
		code, err := client.Do(ctx, http.MethodGet, reflected+"/object-0", "")
		if err == nil && code != http.StatusOK {
			err = fmt.Errorf("code %d", code)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("get an object: %w", err), <-done)
		}
		took = append(took, time.Since(begun))
	}
}

// reflectors list a collection and watch it from there.
type reflectors struct {
	clients      []*solo.Client
	count        int
	received     atomic.Int64 // bytes of lists
	refused      atomic.Int64 // requests that got 429, and were sent again
	listed, live time.Duration
}

func newReflectors(server string, count int) *reflectors {
	r := &reflectors{count: count}
	for range (count + reflectorsPerConnection - 1) / reflectorsPerConnection {
		r.clients = append(r.clients, solo.NewClient(server, solo.Token("reflector")))
	}
	return r
}

func (r *reflectors) close() {
	for _, c := range r.clients {
		c.Close()
	}
}

// run returns when all reflectors have received the event of an object that is created once all
// have listed.
func (r *reflectors) run(ctx context.Context, client *solo.Client) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begun := time.Now()
	var listing, watching sync.WaitGroup
	errs := make(chan error, r.count)
	listing.Add(r.count)
	for i := range r.count {
		watching.Go(func() {
			errs <- r.reflect(ctx, r.clients[i/reflectorsPerConnection], listing.Done)
		})
	}
	listing.Wait()
	r.listed = time.Since(begun)
	if err := create(ctx, client, reflected, configMap("last", "")); err != nil {
		cancel()
		watching.Wait()
		return err
	}
	watching.Wait()
	r.live = time.Since(begun)
	var all error
	for range r.count {
		all = errors.Join(all, <-errs)
	}
	return all
}

// reflect lists, calls listed, and waits for an event.
func (r *reflectors) reflect(ctx context.Context, client *solo.Client, listed func()) error {
	version, err := r.list(ctx, client)
	listed()
	if err != nil {
		return err
	}
	resp, err := r.open(ctx, client, watching(reflected+"?resourceVersion="+version))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.ReadFull(resp.Body, make([]byte, 1))
	return err
}

// open sends a GET, again and again while the answer is 429, as clients do.
func (r *reflectors) open(ctx context.Context, client *solo.Client, path string) (*http.Response, error) {
	for {
		resp, err := client.Open(ctx, path)
		if refused, ok := errors.AsType[*solo.CodeError](err); !ok || refused.Code != http.StatusTooManyRequests {
			return resp, err
		}
		r.refused.Add(1)
		if err := measure.Sleep(ctx, retryDelay); err != nil {
			return nil, err
		}
	}
}

// list reads a list and returns its version, which is at its beginning.
func (r *reflectors) list(ctx context.Context, client *solo.Client) (version string, err error) {
	resp, err := r.open(ctx, client, reflected+"?resourceVersion=0")
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	head := make([]byte, readBytes)
	if _, err := io.ReadFull(resp.Body, head); err != nil {
		return "", err
	}
	n, err := io.Copy(io.Discard, resp.Body)
	r.received.Add(n + readBytes)
	if err != nil {
		return "", err
	}
	version, ok := versionOf(head)
	if !ok {
		return "", fmt.Errorf("a list begins with %s", head)
	}
	return version, nil
}

// versionOf returns the first resourceVersion in JSON.
func versionOf(content []byte) (string, bool) {
	_, rest, found := bytes.Cut(content, []byte(`"resourceVersion":"`))
	version, _, ended := bytes.Cut(rest, []byte(`"`))
	return string(version), found && ended
}
