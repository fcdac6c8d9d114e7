package schedule

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/robfig/cron/v3"
	"go.uber.org/goleak"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
	"quorate/apiserver/objects/stored"
	"quorate/apiserver/objects/validation"
	"quorate/raftstore"
	"quorate/raftstore/backup"
	"quorate/raftstore/state"
	"quorate/raftstore/testcluster"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// times is a schedule of these times, which rise.
type times []time.Time

// Next implements cron.Schedule.
func (s times) Next(after time.Time) time.Time {
	for _, t := range s {
		if t.After(after) {
			return t
		}
	}
	return time.Time{}
}

// writer writes a backup of a state to w.
type writer func(w io.Writer, root *state.Root) error

// good is the writer of a node.
func good(w io.Writer, root *state.Root) error {
	return backup.Write(w, root, backup.Header{Time: time.Now(), Node: "n", Build: "v1"})
}

// scheduler is a Scheduler under test.
type scheduler struct {
	*Scheduler
	t        *testing.T
	dir      string
	registry *prometheus.Registry
	log      *logs
	begun    chan struct{} // gets a value when a backup begins to be written, to its file if it has one
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// logs is a log that tests read while others write to it.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

// Write implements io.Writer.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// newScheduler returns a scheduler for a node that writes with write, and is not started.
func newScheduler(t *testing.T, n *testcluster.Node, dir string, at cron.Schedule, write writer) *scheduler {
	t.Helper()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	s := &scheduler{t: t, dir: dir, registry: prometheus.NewRegistry(), log: &logs{}, begun: make(chan struct{}, 100)}
	store := n.Store
	s.Scheduler, err = New(Config{
		Node: n.Name, Schedule: at, Destination: Destination{Directory: dir}, Keep: 100, Leases: catalog.Stored("coordination.k8s.io/leases"), Store: store,
		Needed: func() (int64, error) { return 0, nil },
		Begin: func(ctx context.Context) (func(io.Writer) error, error) {
			root, err := store.View(ctx, raftstore.Quorum())
			if err != nil {
				return nil, err
			}
			return func(w io.Writer) error {
				s.begun <- struct{}{}
				return write(w, root)
			}, nil
		},
		Logger: slog.New(slog.NewTextHandler(io.MultiWriter(s.log, t.Output()), nil)), Registerer: s.registry,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start runs the scheduler until the test ends.
func (s *scheduler) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.running.Go(func() {
		if err := s.Run(ctx); err != nil {
			s.t.Errorf("Run: %v", err)
		}
	})
	s.t.Cleanup(s.stop)
}

func (s *scheduler) stop() {
	s.cancel()
	s.running.Wait()
}

// failed returns how many attempts have failed for a reason.
func (s *scheduler) failed(reason string) int {
	return int(s.value("quorate_backup_failures_total", reason))
}

// value returns the value of a metric, with this label if it has one; 0 if it is not exported.
func (s *scheduler) value(name, label string) float64 {
	s.t.Helper()
	for _, family := range s.gather() {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && (label == "" || m.GetLabel()[0].GetValue() == label) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

func (s *scheduler) exports(name string) bool {
	s.t.Helper()
	return slices.ContainsFunc(s.gather(), func(f *dto.MetricFamily) bool { return f.GetName() == name })
}

func (s *scheduler) gather() []*dto.MetricFamily {
	s.t.Helper()
	families, err := s.registry.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	return families
}

// prepare creates the namespace of the record, and a record of the given time by which all later
// scheduled times are due.
func prepare(t *testing.T, s *scheduler, recorded time.Time) {
	t.Helper()
	prepareNamespace(t, s)
	if err := s.write(t.Context(), record{}, recorded, recorded); err != nil {
		t.Fatal(err)
	}
}

func prepareNamespace(t *testing.T, s *scheduler) {
	t.Helper()
	catalog, err := schema.Load(kinds.Files, validation.Hooks())
	if err != nil {
		t.Fatal(err)
	}
	k := catalog.Stored(stored.Namespaces)
	o := k.New()
	o.SetName(RecordNamespace)
	stored.Begin(o, time.Now())
	k.Canonicalize(schema.Create, o, nil)
	object, _ := stored.Encode(o)
	if _, err := s.cfg.Store.Create(t.Context(), raftstore.Create{Key: stored.NamespaceKey(RecordNamespace), Object: object}); err != nil {
		t.Fatal(err)
	}
}

// single returns a scheduler on a cluster of one node, whose record is an hour old.
func single(t *testing.T, dir string, at cron.Schedule, write writer) *scheduler {
	t.Helper()
	c := testcluster.New(t, 1, nil)
	s := newScheduler(t, c.Leader(), dir, at, write)
	prepare(t, s, time.Now().Add(-time.Hour))
	return s
}

// recordedAt returns the scheduled time of the record.
func (s *scheduler) recordedAt() time.Time {
	s.t.Helper()
	r, err := s.readRecord(s.t.Context(), raftstore.Cached())
	if err != nil {
		s.t.Fatal(err)
	}
	return r.scheduled
}

// files returns the names in a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// verified verifies the only file of a directory and returns its header.
func verified(t *testing.T, dir string) backup.Header {
	t.Helper()
	names := files(t, dir)
	if len(names) != 1 {
		t.Fatalf("the directory has %v", names)
	}
	f, err := os.Open(filepath.Join(dir, names[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := backup.Verify(f)
	if err != nil {
		t.Fatalf("%s: %v", names[0], err)
	}
	return h
}

// second returns a time ago, to the second, as names of files have it.
func second(ago time.Duration) time.Time { return time.Now().Add(-ago).Truncate(time.Second) }
