package applier

import (
	"io"
	"time"

	"quorate/raftstore/failure"
)

// restShare is how long the writing of a snapshot rests after each part of it, in times of what the
// part took. Without rests writers of objects would compete with it for processors and the disk all
// the time that it takes.
const restShare = 3

// pacedWriter writes the parts of a snapshot and rests after each. It stops when the store closes.
type pacedWriter struct {
	w       io.Writer
	closing <-chan struct{}
	hurries func() bool // then there are no rests
	since   time.Time   // the end of the last rest
}

func (i fsmSnapshot) pace(w io.Writer) *pacedWriter {
	return &pacedWriter{w: w, closing: i.cfg.Lifecycle.Closing(), hurries: i.cfg.Hurries, since: time.Now()}
}

// Write writes a part. It returns failure.ErrClosed if the store closes.
func (p *pacedWriter) Write(part []byte) (int, error) {
	n, err := p.w.Write(part)
	if err == nil && !p.hurries() {
		err = p.rest()
	}
	p.since = time.Now()
	return n, err
}

func (p *pacedWriter) rest() error {
	timer := time.NewTimer(restShare * time.Since(p.since))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.closing:
		return failure.ErrClosed
	}
}
