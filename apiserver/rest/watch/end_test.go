package watch

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"quorate/apiserver/objects/schema"
	"quorate/raftstore"
	"quorate/raftstore/history"
	"quorate/raftstore/state"
)

// line is a client that reads events at once.
type line struct {
	header http.Header
	out    io.Writer
}

func (l *line) Header() http.Header         { return l.header }
func (l *line) WriteHeader(int)             {}
func (l *line) Write(p []byte) (int, error) { return l.out.Write(p) }
func (l *line) FlushError() error           { return nil }

// served is a running stream.
type served struct {
	streams *Streams
	hub     *history.Hub
	out     strings.Builder
	done    chan error
	cancel  context.CancelFunc
}

// serve begins a stream at version 7 of a history at version 9, or where start returns if it is not
// nil.
func serve(t *testing.T, opts Options, start func(ctx context.Context) (Start, error)) *served {
	t.Helper()
	hub, err := history.New(history.Config{})
	if err != nil {
		t.Fatal(err)
	}
	hub.Append(9, nil)
	s := &served{streams: New(atMost(10), prometheus.NewRegistry()), hub: hub, done: make(chan error, 1)}
	if start == nil {
		start = func(context.Context) (Start, error) {
			return Start{After: 7, Changes: hub.Watch(state.ResourcePrefix("pods"), 7)}, nil
		}
	}
	opts.Kind = &schema.Kind{Identity: schema.Identity{Kind: "Pod", APIVersion: "v1"}}
	opts.Header, opts.Start, opts.Faults = func() error { return nil }, start, faults(func(err error) { t.Errorf("internal error: %v", err) })
	ctx, cancel := context.WithCancel(t.Context())
	s.cancel = cancel
	go func() { s.done <- s.streams.serve(ctx, &line{header: http.Header{}, out: &s.out}, opts) }()
	return s
}

// end waits for the end of the stream and returns the type of each event, with those of three marks
// that the event contains.
func (s *served) end(t *testing.T) []string {
	t.Helper()
	if err := <-s.done; err != nil {
		t.Fatal(err)
	}
	s.cancel()
	var events []string
	for event := range strings.Lines(s.out.String()) {
		_, rest, _ := strings.Cut(event, `{"type":"`)
		word, object, _ := strings.Cut(rest, `"`)
		for _, mark := range []string{`"resourceVersion":"9"`, `"code":429`, `"retryAfterSeconds":1`} {
			if strings.Contains(object, mark) {
				word += " " + mark
			}
		}
		events = append(events, word)
	}
	return events
}

const (
	lastBookmark = `BOOKMARK "resourceVersion":"9"`
	askLater     = `ERROR "code":429 "retryAfterSeconds":1`
)

// greeted returns the events after the bookmark with which an idle stream begins.
func greeted(events ...string) []string { return append([]string{lastBookmark}, events...) }

// TestEnd: a stream that takes bookmarks never ends without an event, whatever ends it, so that
// client-go caches continue from the version that they have.
func TestEnd(t *testing.T) {
	t.Parallel()
	marked := Options{Bookmarks: true, Timeout: time.Hour}
	waits := func(ctx context.Context) (Start, error) {
		<-ctx.Done()
		return Start{}, ctx.Err()
	}
	drain := func(t *testing.T, s *served) {
		if err := s.streams.Drain(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, tc := range []struct {
		name  string
		opts  Options
		start func(ctx context.Context) (Start, error)
		end   func(t *testing.T, s *served)
		want  []string
	}{
		{"D25 server stops", marked, nil, drain, greeted(lastBookmark)},
		{"D39 server stops, without bookmarks", Options{Timeout: time.Hour}, nil, drain, nil},
		{"D39 history closes", marked, nil, func(_ *testing.T, s *served) { s.hub.Close() }, greeted(lastBookmark)},
		{"D25 D28 time is up", Options{Bookmarks: true, Timeout: time.Second}, nil, func(*testing.T, *served) {}, greeted(lastBookmark)},
		{"D46 client goes", marked, nil, func(_ *testing.T, s *served) { s.cancel() }, greeted()},
		{"D39 server stops before it began", marked, waits, drain, []string{askLater}},
		{"D39 store closes before it began", marked, func(context.Context) (Start, error) { return Start{}, raftstore.ErrClosed },
			func(*testing.T, *served) {}, []string{askLater}},
		{"D39 no leader before it began", marked, func(context.Context) (Start, error) { return Start{}, raftstore.ErrUnavailable },
			func(*testing.T, *served) {}, []string{askLater}},
		{"D28 time is up before it began", Options{Bookmarks: true, Timeout: time.Second}, waits, func(*testing.T, *served) {}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, tc.opts, tc.start)
				synctest.Wait()
				tc.end(t, s)
				if got := s.end(t); !slices.Equal(got, tc.want) {
					t.Errorf("events %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// TestDrainDuringStart: a stream that is drained before its first change sends a bookmark (D25).
func TestDrainDuringStart(t *testing.T) {
	t.Parallel()
	var s *served
	ready := make(chan struct{})
	s = serve(t, Options{Bookmarks: true, Timeout: time.Hour}, func(ctx context.Context) (Start, error) {
		<-ready
		go func() { _ = s.streams.Drain(context.Background()) }()
		<-ctx.Done()
		return Start{After: 7, Changes: s.hub.Watch(state.ResourcePrefix("pods"), 7)}, nil
	})
	close(ready)
	if got := s.end(t); !slices.Equal(got, []string{lastBookmark}) {
		t.Errorf("events %q", got)
	}
}

// TestBookmarkEachMinute: a stream without changes sends a bookmark at once and another one each
// minute (D25, D46).
func TestBookmarkEachMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, Options{Bookmarks: true, Timeout: 10*time.Minute + time.Second}, nil)
		if got := s.end(t); len(got) != 12 || slices.ContainsFunc(got, func(e string) bool { return e != lastBookmark }) {
			t.Errorf("events %q", got)
		}
		s = serve(t, Options{Bookmarks: true, Timeout: time.Hour}, nil)
		synctest.Wait()
		s.cancel() // so that no last bookmark follows
		if got := s.end(t); !slices.Equal(got, []string{lastBookmark}) {
			t.Errorf("events %q of a stream that was cut off at once", got)
		}
		s = serve(t, Options{Timeout: 10 * time.Minute}, nil)
		if got := s.end(t); got != nil {
			t.Errorf("events %q though no bookmarks were asked for", got)
		}
	})
}

// TestEndWithTheCredential: a stream ends when the credential of its sender expires or is
// withdrawn, as it ends at its timeout.
func TestEndWithTheCredential(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name      string
		bookmarks bool
		timeout   time.Duration
		expires   time.Duration // 0: never
		withdrawn time.Duration // 0: never
		ends      time.Duration
		want      []string
	}{
		{"expires", true, time.Hour, 10 * time.Second, 0, 10 * time.Second, greeted(lastBookmark)},
		{"expires, without bookmarks", false, time.Hour, 10 * time.Second, 0, 10 * time.Second, nil},
		{"expires after the timeout", true, 5 * time.Second, 10 * time.Second, 0, 5 * time.Second, greeted(lastBookmark)},
		{"withdrawn", true, time.Hour, 0, 7 * time.Second, 7 * time.Second, greeted(lastBookmark)},
		{"withdrawn, without bookmarks", false, time.Hour, 0, 7 * time.Second, 7 * time.Second, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				opts := Options{Bookmarks: tc.bookmarks, Timeout: tc.timeout}
				if tc.expires > 0 {
					opts.Credential.Expires = began.Add(tc.expires)
				}
				if tc.withdrawn > 0 {
					var cancel context.CancelFunc
					opts.Credential.Withdrawn, cancel = context.WithTimeout(context.Background(), tc.withdrawn)
					defer cancel()
				}
				s := serve(t, opts, nil)
				got := s.end(t)
				if took := time.Since(began); took != tc.ends || !slices.Equal(got, tc.want) {
					t.Errorf("events %q after %s, want %q after %s", got, took, tc.want, tc.ends)
				}
			})
		})
	}
}
