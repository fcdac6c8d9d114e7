package applier

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"quorate/raftstore/failure"
	"quorate/raftstore/lifecycle"
)

const partTime = 10 * time.Millisecond

// slow is a writer that takes a time for each part.
type slow struct {
	time  time.Duration
	bytes int
}

func (s *slow) Write(part []byte) (int, error) {
	time.Sleep(s.time)
	s.bytes += len(part)
	return len(part), nil
}

// failing is a writer without space.
type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// TestSnapshotsRestBetweenParts checks that the writing of a snapshot takes no more than its share
// of the time, unless it must hurry.
func TestSnapshotsRestBetweenParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hurries := false
		part := make([]byte, 100)
		out := &slow{time: partTime}
		snapshot := snapshotFor(lifecycle.New(), &hurries)
		paced := snapshot.pace(out)
		for _, step := range []struct {
			hurries bool
			want    time.Duration
		}{{false, (1 + restShare) * partTime}, {false, (1 + restShare) * partTime}, {true, partTime}, {false, (1 + restShare) * partTime}} {
			hurries = step.hurries
			begun := time.Now()
			if n, err := paced.Write(part); n != len(part) || err != nil {
				t.Fatalf("wrote %d bytes, %v", n, err)
			}
			if took := time.Since(begun); took != step.want {
				t.Errorf("in a hurry %t: took %s, want %s", step.hurries, took, step.want)
			}
		}
		if out.bytes != 4*len(part) {
			t.Errorf("%d bytes arrived", out.bytes)
		}
		if rested := snapshot.applier.Rested(); rested != 3*restShare*partTime {
			t.Errorf("rested %s, want %s", rested, 3*restShare*partTime)
		}
	})
}

// TestSnapshotsStopWithTheStore checks that a store that closes does not wait for the rests of a
// snapshot.
func TestSnapshotsStopWithTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life := lifecycle.New()
		paced := snapshotFor(life, new(bool)).pace(&slow{time: partTime})
		begun := time.Now()
		time.AfterFunc(2*partTime, func() { life.BeginClose(func() {}) })
		if _, err := paced.Write(make([]byte, 100)); !errors.Is(err, failure.ErrClosed) {
			t.Errorf("got %v, want %v", err, failure.ErrClosed)
		}
		if took := time.Since(begun); took != 2*partTime {
			t.Errorf("took %s, want %s", took, 2*partTime)
		}
	})
}

// TestSnapshotsStopInAHurry checks that a store that closes does not wait for a snapshot without
// rests either.
func TestSnapshotsStopInAHurry(t *testing.T) {
	life, hurries := lifecycle.New(), true
	paced := snapshotFor(life, &hurries).pace(&slow{})
	life.BeginClose(func() {})
	if _, err := paced.Write(make([]byte, 100)); !errors.Is(err, failure.ErrClosed) {
		t.Errorf("got %v, want %v", err, failure.ErrClosed)
	}
}

// TestSnapshotsRestForALimitedTime checks that a part that took long, maybe because the process was
// suspended, is followed by a short rest, and that a snapshot that has taken long no longer rests.
func TestSnapshotsRestForALimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		paced := snapshotFor(lifecycle.New(), new(bool)).pace(&slow{time: restFor - time.Second})
		for _, want := range []time.Duration{restFor - time.Second + maxRest, restFor - time.Second} {
			begun := time.Now()
			if _, err := paced.Write(make([]byte, 100)); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took != want {
				t.Errorf("took %s, want %s", took, want)
			}
		}
	})
}

// TestSnapshotsReportErrorsAtOnce checks that an error of the disk is neither lost nor delayed.
func TestSnapshotsReportErrorsAtOnce(t *testing.T) {
	full := errors.New("no space")
	if _, err := snapshotFor(lifecycle.New(), new(bool)).pace(failing{full}).Write(make([]byte, 100)); !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
}

func snapshotFor(life *lifecycle.Lifecycle, hurries *bool) fsmSnapshot {
	return fsmSnapshot{applier: &Applier{cfg: Config{Lifecycle: life, Hurries: func() bool { return *hurries }}}}
}
