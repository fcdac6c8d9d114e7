package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	// streamsPerConnection is the number of streams that a node allows on a connection.
	streamsPerConnection = 250
	// openers is the number of watches that are opened at a time.
	openers = 32
	// readBytes is the buffer of a watch, which discards what it reads.
	readBytes = 512
)

// watches are open watches of a node.
type watches struct {
	clients []*solo.Client
	stop    context.CancelFunc
	work    sync.WaitGroup
	// arrived receives the number of a watch that has received an event, and when.
	arrived chan arrival
	ended   atomic.Int64 // watches that have ended
}

type arrival struct {
	watch int
	at    time.Time
}

// open opens watches, spread over connections. The caller must call close.
func open(ctx context.Context, c *servers.Cluster, connections, count int, path func(i int) string) (*watches, error) {
	ctx, stop := context.WithCancel(ctx)
	w := &watches{stop: stop, arrived: make(chan arrival, 1<<16)}
	for range connections {
		client, err := c.Client(0)
		if err != nil {
			stop()
			return nil, err
		}
		w.clients = append(w.clients, client)
	}
	var opening sync.WaitGroup
	var next atomic.Int64
	var failure atomic.Pointer[error]
	for range openers {
		opening.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && failure.Load() == nil; i = int(next.Add(1)) - 1 {
				if err := w.follow(ctx, w.clients[i%connections], i, path(i)); err != nil {
					failure.Store(&err)
				}
			}
		})
	}
	opening.Wait()
	if err := failure.Load(); err != nil {
		w.close()
		return nil, *err
	}
	return w, nil
}

// follow opens a watch, and reads it until it ends.
func (w *watches) follow(ctx context.Context, client *solo.Client, i int, path string) error {
	resp, err := client.Open(ctx, watching(path))
	if err != nil {
		return fmt.Errorf("watch %d: %w", i, err)
	}
	w.work.Go(func() {
		defer resp.Body.Close()
		b := make([]byte, readBytes)
		for {
			n, err := resp.Body.Read(b)
			if err != nil {
				w.ended.Add(1)
				return
			}
			if n > 0 && b[n-1] == '\n' { // the end of an event
				select {
				case w.arrived <- arrival{i, time.Now()}:
				case <-ctx.Done():
				}
			}
		}
	})
	return nil
}

// watching returns the path of a watch of a collection, which does not end within an hour.
func watching(path string) string {
	mark := "?"
	if strings.Contains(path, "?") {
		mark = "&"
	}
	return path + mark + "watch=1&timeoutSeconds=3600"
}

// close ends the watches.
func (w *watches) close() {
	w.stop()
	w.work.Wait()
	for _, c := range w.clients {
		c.Close()
	}
}

// create creates an object.
func create(ctx context.Context, c *solo.Client, path, body string) error {
	code, err := c.Do(ctx, http.MethodPost, path, body)
	if err == nil && code/100 != 2 {
		err = fmt.Errorf("POST %s: code %d", path, code)
	}
	return err
}
