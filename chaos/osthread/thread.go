package osthread

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// ErrClosed is what a closed thread answers.
var ErrClosed = errors.New("the thread has ended")

// Thread is one thread of this process.
type Thread struct {
	calls   chan call
	closing chan struct{}
	ended   chan struct{}
}

type call struct {
	do     func() error
	result chan error
}

// New starts a thread. It is the caller's to close.
func New() *Thread {
	t := &Thread{calls: make(chan call), closing: make(chan struct{}), ended: make(chan struct{})}
	go t.run() // ended by Close, which waits for it
	return t
}

// run never unlocks the thread it is on, so that the thread ends with it.
func (t *Thread) run() {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		// The main thread never ends. Sitting on it makes another goroutine get another one.
		go t.run()
		<-t.ended
		runtime.UnlockOSThread()
		return
	}
	defer close(t.ended)
	for {
		select {
		case c := <-t.calls:
			c.result <- c.do()
		case <-t.closing:
			return
		}
	}
}

// Do runs a function on the thread, one at a time, and returns its error.
func (t *Thread) Do(do func() error) error {
	c := call{do: do, result: make(chan error, 1)}
	select {
	case t.calls <- c:
		return <-c.result
	case <-t.ended:
		return ErrClosed
	}
}

// Close ends the thread after the function in progress, and returns when no function runs on it. It
// must be called once.
func (t *Thread) Close() {
	close(t.closing)
	<-t.ended
}
