package applier

import (
	"context"
	"io"
	"time"

	"quorate/raftstore/lifecycle"
)

// restShare is how long the writing of a snapshot rests after each part of it, in times of what the
// part took, but at most maxRest. Without rests writers of objects would compete with it for
// processors and the disk all the time that it takes. After restFor it goes on without them, because
// a command may wait for it.
const (
	restShare = 3
	maxRest   = 250 * time.Millisecond
	restFor   = 40 * time.Second
)

// pacedWriter writes the parts of a snapshot and rests after each. It stops when the store closes.
type pacedWriter struct {
	w       io.Writer
	applier *Applier
	begun   time.Time
	since   time.Time // the end of the last rest
}

func (i fsmSnapshot) pace(w io.Writer) *pacedWriter {
	now := time.Now()
	return &pacedWriter{w: w, applier: i.applier, begun: now, since: now}
}

// Write writes a part. It returns failure.ErrClosed if the store closes.
func (p *pacedWriter) Write(part []byte) (int, error) {
	n, err := p.w.Write(part)
	if err == nil {
		err = p.rest()
	}
	p.since = time.Now()
	return n, err
}

func (p *pacedWriter) rest() error {
	life := p.applier.cfg.Lifecycle
	if begun := time.Now(); begun.Sub(p.begun) <= restFor && !p.applier.cfg.Hurries() {
		lifecycle.Pause(context.Background(), life.Closing(), min(restShare*begun.Sub(p.since), maxRest))
		p.applier.rested.Add(int64(time.Since(begun)))
	}
	return life.Check()
}
