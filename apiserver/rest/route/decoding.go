package route

import (
	"errors"
	"time"

	"quorate/apiserver/access/budget"
	"quorate/apiserver/wire/status"
)

// Bounds of what bodies expand to when they are decoded. A body of 3 MiB can take 256 MiB.
const (
	// largeDecoding is the expansion from which a decoding counts as large.
	largeDecoding = 1 << 20
	// maxSmallBytes bounds the expansions of all small decodings, maxLargeBytes that of all large
	// ones. A single one may be larger, and then is alone.
	maxSmallBytes = 128 << 20
	maxLargeBytes = 192 << 20
	// decodingShare is the part of a budget that one user may have.
	decodingShare = 2
	// maxDecodingWaiters and maxDecodingWaitersPerUser bound the requests that wait for a budget,
	// maxDecodingWait how long they do.
	maxDecodingWaiters        = 256
	maxDecodingWaitersPerUser = 32
	maxDecodingWait           = 10 * time.Second
)

// Decodings bounds the memory of bodies that are decoded. Large decodings have a budget of their
// own, so that small ones do not wait for them. Requests wait for the budget, users in turn.
type Decodings struct{ small, large *budget.Queue }

// NewDecodings returns a budget of which nothing is used. It calls refused for each request that is
// refused, with the bound that was reached.
func NewDecodings(refused func(budget.Bound)) *Decodings {
	queue := func(total int64) *budget.Queue {
		return budget.NewQueue(budget.QueueConfig{
			Total: total, PerUser: total / decodingShare,
			Waiters: maxDecodingWaiters, WaitersPerUser: maxDecodingWaitersPerUser, MaxWait: maxDecodingWait, Refused: refused,
		})
	}
	return &Decodings{small: queue(maxSmallBytes), large: queue(maxLargeBytes)}
}

// Used returns the bytes reserved for decodings.
func (d *Decodings) Used() int64 { return d.small.Used() + d.large.Used() }

// Waiters returns how many requests wait for a budget.
func (d *Decodings) Waiters() int { return d.small.Waiters() + d.large.Waiters() }

// expansion is what a call has of a budget for decodings.
type expansion struct {
	queue *budget.Queue
	user  string
	bytes int64
}

// Expand reserves memory for the data that the call decodes, up to the given number of bytes in
// all. It waits until the budget has enough memory. It returns a 429 error if too many calls wait
// already or after maxDecodingWait. A waiting call holds nothing of the budget, so that waiting
// calls do not block each other.
func (c *Call) Expand(bytes int64) error {
	if c.Decodings == nil || bytes <= c.temporary().expansion.bytes {
		return nil
	}
	c.collapse()
	queue := c.Decodings.small
	if bytes > largeDecoding {
		queue = c.Decodings.large
	}
	user := c.userName()
	if err := queue.Acquire(c.R.Context(), user, bytes); err != nil {
		if errors.Is(err, budget.ErrBusy) {
			return status.NewTooManyRequests()
		}
		return err
	}
	c.temporary().expansion = expansion{queue, user, bytes}
	return nil
}

// Expanded returns what was reserved beyond so many bytes: what was decoded takes no more.
func (c *Call) Expanded(bytes int64) {
	e := &c.temporary().expansion
	if rest := e.bytes - bytes; rest > 0 {
		e.queue.Release(e.user, rest)
		e.bytes = bytes
	}
}

// collapse returns all that was reserved.
func (c *Call) collapse() {
	if c.scratch == nil {
		return
	}
	if e := &c.scratch.expansion; e.queue != nil {
		e.queue.Release(e.user, e.bytes)
		*e = expansion{}
	}
}
