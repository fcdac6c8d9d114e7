package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"pgregory.net/rapid"
)

const most = 8 << 20

func newAnswers() *Answers { return NewAnswers(prometheus.NewRegistry()) }

// trickle is a body that never ends: it returns some bytes every second, until its context ends.
type trickle struct{ ctx context.Context }

func (r trickle) Read(p []byte) (int, error) {
	select {
	case <-time.After(time.Second):
		return min(len(p), 1<<20), nil
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	}
}

// Many answers that are as long as may be, of webhooks that send them slowly and say nothing about
// their length, take no more than the bound together, and those of one webhook no more than its
// part. The answer of another webhook is read meanwhile.
func TestAnswersOfHostileWebhooksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAnswers()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var calls sync.WaitGroup
		for i := range 256 {
			calls.Go(func() {
				got, err := a.read(ctx, fmt.Sprintf("hostile%d", i%3), trickle{ctx}, -1, usualBytes, most)
				got.Release()
				if err == nil {
					t.Error("an endless answer was read")
				}
			})
		}
		for range 20 {
			time.Sleep(time.Second / 2)
			if n := a.queue.Used(); n > 3*maxWebhookBytes || n > maxAnswersBytes {
				t.Fatalf("%d bytes are held", n)
			}
			got, err := a.read(ctx, "honest", strings.NewReader(strings.Repeat("x", 1<<20)), -1, usualBytes, most)
			if err != nil || len(got.Data) != 1<<20 {
				t.Fatal(err)
			}
			got.Release()
		}
		calls.Wait()
		if n := a.queue.Used(); n != 0 {
			t.Errorf("%d bytes are held", n)
		}
		var m dto.Metric
		if err := a.refused.WithLabelValues(string(growth)).Write(&m); err != nil || m.GetCounter().GetValue() == 0 {
			t.Errorf("no refusal is counted: %v", err)
		}
	})
}

// An answer whose length is known waits until there is memory for it.
func TestAnswerWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAnswers()
		var held []*Answer
		for range maxWebhookBytes/most - 1 {
			got, err := a.read(t.Context(), "w", strings.NewReader(strings.Repeat("x", most)), most, 0, most)
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, got)
		}
		var waiting sync.WaitGroup
		waiting.Go(func() {
			got, err := a.read(t.Context(), "w", strings.NewReader(strings.Repeat("x", most)), most, 0, most)
			if err != nil {
				t.Error(err)
			}
			got.Release()
		})
		synctest.Wait()
		if n := a.queue.Waiters(); n != 1 {
			t.Errorf("%d wait", n)
		}
		ended, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.read(ended, "w", strings.NewReader(""), most, 0, most); !errors.Is(err, ErrMemory) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		for _, h := range held {
			h.Release()
		}
		waiting.Wait()
	})
}

// chunks is a body that is returned in pieces of any length.
type chunks struct {
	text string
	rand *rand.Rand
}

func (r *chunks) Read(p []byte) (int, error) {
	if r.text == "" {
		return 0, io.EOF
	}
	n := min(len(p), len(r.text), 1+r.rand.IntN(1<<16))
	copy(p, r.text[:n])
	r.text = r.text[n:]
	return n, nil
}

// An answer is read whole whatever its length is said to be, holds at least as much memory as it
// takes, and nothing after its release.
func TestAnswersAreReadWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := newAnswers()
		text := strings.Repeat("answer ", rapid.IntRange(0, 40_000).Draw(t, "words"))
		length := int64(-1)
		if rapid.Bool().Draw(t, "length is known") {
			length = int64(len(text))
		}
		usual := rapid.Int64Range(0, 1<<17).Draw(t, "usual")
		bound := rapid.Int64Range(1, 1<<19).Draw(t, "bound")
		got, err := a.read(t.Context(), "w", &chunks{text, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))}, length, usual, bound)
		switch {
		case int64(len(text)) > bound:
			if !errors.Is(err, ErrTooLong) {
				t.Fatalf("%d bytes of at most %d: %v", len(text), bound, err)
			}
		case err != nil || string(got.Data) != text || got.held < int64(cap(got.Data)):
			t.Fatalf("%d bytes, %d held: %v", len(got.Data), got.held, err)
		}
		got.Release()
		if n := a.queue.Used(); n != 0 {
			t.Fatalf("%d bytes are held", n)
		}
	})
}
