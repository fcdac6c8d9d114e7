package watch

import (
	"context"
	"errors"
	"net/http"
)

// errPlanned is what fake clients panic with. It ends their stream, as in package h2.
var errPlanned = errors.New("planned")

// resumable is the part of a fake enqueuer that runs Follow of its stream, as package
// h2 does.
type resumable struct{ run func() }

func (r *resumable) runs(run func()) { r.run = run }

// Resume implements enqueuer.
func (r *resumable) Resume() { go r.run() }

// faults is a function as Faults.
type faults func(err error)

func (f faults) InternalError(err error) { f(err) }

// serve runs a stream until its end.
func (s *Streams) serve(ctx context.Context, w http.ResponseWriter, opts Options) error {
	st, err := s.Begin(ctx, w, opts)
	if st == nil {
		return err
	}
	done := make(chan struct{})
	run := func() {
		defer func() {
			reason := recover()
			if err, ok := reason.(error); ok && errors.Is(err, errPlanned) {
				close(done)
			} else if reason != nil {
				panic(reason)
			}
		}()
		if st.Follow() {
			close(done)
		}
	}
	if e, ok := enqueuerOf(w).(interface{ runs(run func()) }); ok {
		e.runs(run)
	}
	go run()
	<-done
	return nil
}
