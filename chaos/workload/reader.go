package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"quorate/chaos/client"
)

// Reader reads keys of all writers by quorum from any node, and now and then the whole list.
type Reader struct {
	Namespace     string
	Targets       []Target
	History       *History
	Writers, Keys int
	Rand          *rand.Rand
}

// listEvery is how many single reads go between two lists.
const listEvery = 50

// Run reads until ctx is done.
func (r *Reader) Run(ctx context.Context) {
	for n := 1; ctx.Err() == nil; n++ {
		target := r.Targets[r.Rand.IntN(len(r.Targets))]
		if n%listEvery == 0 {
			r.list(ctx, target)
			continue
		}
		name := fmt.Sprintf("w%d-%d", r.Rand.IntN(r.Writers), r.Rand.IntN(r.Keys))
		if _, outcome := readKey(ctx, target, r.Namespace, name, r.History); outcome != client.OK {
			pause(ctx, retryPause)
		}
	}
}

func (r *Reader) list(ctx context.Context, target Target) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	op := Op{Kind: List, Node: target.Name, Invoked: time.Now()}
	_, version, outcome, err := target.Client.List(ctx, r.Namespace, "")
	op.Answered, op.Version = time.Now(), version
	switch outcome {
	case client.OK:
		r.History.add(op)
	case client.Unavailable:
		r.History.addUnavailable()
	case client.Conflict, client.Refused, client.NotFound:
		r.History.addRefused(fmt.Sprintf("list: %v", err))
	}
}
