package forward

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/proto/peerpb"
)

// The test itself calls take, so no goroutine removes writes from the queue.
func TestBoundsInBytes(t *testing.T) {
	q := newQueue("leader", nil, newMetrics(prometheus.NewRegistry()))
	entry := bytes.Repeat([]byte("x"), maxMessageBytes/2)
	add := func(size int) error {
		req := &peerpb.WriteRequest{Entry: entry[:size]}
		return q.enqueue(&write{req: req, size: size, done: make(chan answer, 1)})
	}
	for range maxBytes / len(entry) {
		if err := add(len(entry)); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(1); !errors.Is(err, errFull) {
		t.Errorf("a byte too many: %v", err)
	}
	for left := maxBytes / len(entry); left > 0; left -= 2 {
		if got := len(q.take().GetWrites()); got != 2 {
			t.Errorf("%d writes in a message", got)
		}
	}
	if q.take() != nil {
		t.Error("a message of nothing")
	}
	if err := add(1); !errors.Is(err, errFull) {
		t.Errorf("a byte too many, with all sent: %v", err)
	}
	q.deliver([]*peerpb.WriteResponse{{Id: 1}})
	for range 2 {
		if err := add(len(entry) / 2); err != nil {
			t.Errorf("with room again: %v", err)
		}
	}
	if got := len(q.take().GetWrites()); got != 2 {
		t.Errorf("%d writes in a message", got)
	}
	q.failAll(errLast)
	big := maxMessageBytes + maxMessageBytes/2
	entry = make([]byte, big)
	for range 2 {
		if err := add(big); err != nil {
			t.Fatal(err)
		}
		if got := len(q.take().GetWrites()); got != 1 {
			t.Errorf("%d writes in a message of a great one", got)
		}
	}
}

// A caller that stops waiting removes its write from the queue, and no other.
func TestAbandonedWriteLeavesQueue(t *testing.T) {
	q := newQueue("leader", nil, newMetrics(prometheus.NewRegistry()))
	var queued []*write
	for _, entry := range []string{"a", "b", "c"} {
		w := &write{req: &peerpb.WriteRequest{Entry: []byte(entry)}, size: 1, done: make(chan answer, 1)}
		if err := q.enqueue(w); err != nil {
			t.Fatal(err)
		}
		queued = append(queued, w)
	}
	if _, err := q.abandon(queued[1], context.Canceled); !errors.Is(err, ErrNotSent) || !errors.Is(err, context.Canceled) {
		t.Errorf("left the queue: %v", err)
	}
	batch := q.take().GetWrites()
	if len(batch) != 2 || string(batch[0].GetEntry()) != "a" || string(batch[1].GetEntry()) != "c" || q.bytes != 2 {
		t.Errorf("sent %v, %d bytes", batch, q.bytes)
	}
	if _, err := q.abandon(queued[0], context.Canceled); err == nil || errors.Is(err, ErrNotSent) {
		t.Errorf("left when it was sent: %v", err)
	}
	q.deliver([]*peerpb.WriteResponse{{Id: batch[1].GetId(), Index: 7}})
	if resp, err := q.abandon(queued[2], context.Canceled); err != nil || resp.GetIndex() != 7 {
		t.Errorf("left when it was answered: %v, %v", resp, err)
	}
}
