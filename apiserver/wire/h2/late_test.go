package h2

import (
	"net/http"
	"testing"
)

// TestLateDataIsCredited: the server credits data that arrives after it has ended the stream to the
// connection's window.
func TestLateDataIsCredited(t *testing.T) {
	t.Parallel()
	const size = 64 << 10
	s := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	u := newUpload(t, s)
	for sent := 0; sent < 2*defaultConnWindow; sent += size {
		id := u.open()
		u.untilTrue(func() bool { return u.ended[id] }, "the end of a stream whose body is not read, after %d bytes", sent)
		for range size / maxFrameBytes {
			u.send(id, maxFrameBytes, 0)
		}
	}
}
