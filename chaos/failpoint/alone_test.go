package failpoint_test

import (
	"fmt"
	"testing"
	"time"

	"quorate/chaos/failpoint"
)

const (
	// handful is how many writes show that a node serves.
	handful = 20
	// trimmed is how many entries a log has before some are trimmed: Raft keeps 128.
	trimmed = 300
	// minLogAge is the smallest --log-age that a node accepts.
	minLogAge = time.Minute
)

// lives says how nodes come to the points of each stage.
var lives = map[failpoint.Stage]func(t *testing.T, points []string){
	failpoint.Founding:     founding,
	failpoint.Starting:     starting,
	failpoint.Writing:      writing,
	failpoint.Snapshotting: snapshotting,
	failpoint.Forwarding:   forwarding,
	failpoint.Serving:      serving,
	failpoint.Transferring: transferring,
	failpoint.Rejoining:    rejoining,
	failpoint.Changing:     changing,
	failpoint.Restoring:    restoring,
	failpoint.Recovering:   recovering,
}

// TestKilledAtEachPoint ends a node at each point, starts it again, and finds everything that was
// acknowledged.
func TestKilledAtEachPoint(t *testing.T) {
	binary(t)
	for stage, points := range stages() {
		if stage == failpoint.Breaking {
			continue
		}
		t.Run(string(stage), func(t *testing.T) {
			t.Parallel()
			life := lives[stage]
			if life == nil {
				t.Fatalf("nothing is known of how to get to %s", points)
			}
			life(t, points)
		})
	}
}

// stages groups the names of all points.
func stages() map[failpoint.Stage][]string {
	points := map[failpoint.Stage][]string{}
	for _, p := range failpoint.Points() {
		points[p.Stage] = append(points[p.Stage], p.Name)
	}
	return points
}

func kill(point string) map[string]string { return map[string]string{point: failpoint.Kill} }

// founding ends the first start of a node: also at points to which every start comes, or every
// write.
func founding(t *testing.T, points []string) {
	for _, point := range append(points, "memberFileBeforeRename", "memberFileAfterRename", "startAfterLog", "startBeforeRaft", "startAfterRaft",
		"termBeforeSync", "termAfterSync", "leaderBefore", "leaderAfter", "logBeforeSync", "logAfterSync", "applyBefore", "applyAfter") {
		t.Run(point, func(t *testing.T) { found(t, point) })
	}
}

func found(t *testing.T, point string) {
	s, l := newServer(t, "n1"), newLedger(t)
	s.start(kill(point))
	s.awaitKilled(point)
	s.run()
	l.some(handful, s.client)
	s.kill()
	s.run()
	l.verify(s.client)
}

// starting ends a node while it starts on a snapshot and a log.
func starting(t *testing.T, points []string) {
	s, l := newServer(t, "n1"), newLedger(t)
	s.run()
	l.some(handful, s.client)
	s.snapshot()
	for _, point := range points {
		if !t.Run(point, func(t *testing.T) {
			s, l := s.in(t), l.in(t)
			l.some(handful, s.client)
			s.kill()
			s.start(kill(point))
			s.awaitKilled(point)
			s.run()
			l.verify(s.client)
		}) {
			return // the nodes may be in any state
		}
	}
}

// writing ends a node under load.
func writing(t *testing.T, points []string) {
	s, l := newServer(t, "n1"), newLedger(t)
	s.run()
	for _, point := range points {
		if !t.Run(point, func(t *testing.T) {
			s, l := s.in(t), l.in(t)
			l.some(handful, s.client)
			s.arm(point, fmt.Sprintf("%d*off->%s", handful, failpoint.Kill))
			l.write(s.gone, s.client)
			s.awaitKilled(point)
			s.run()
			l.verify(s.client)
		}) {
			return // the nodes may be in any state
		}
	}
}

// snapshotting ends a node under load while it writes a snapshot. Its clock jumps, so that the log
// before it is old enough to go.
func snapshotting(t *testing.T, points []string) {
	s, l := newServer(t, "n1", "--log-age", minLogAge.String()), newLedger(t)
	s.run()
	for i, point := range points {
		if !t.Run(point, func(t *testing.T) {
			s, l := s.in(t), l.in(t)
			l.some(trimmed, s.client)
			s.moveClock(time.Duration(i+1) * 2 * minLogAge)
			s.arm(point, failpoint.Kill)
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				for !s.gone() {
					s.command(nil, "snapshot") // which fails when the node ends
				}
			}()
			l.write(s.gone, s.client)
			<-asked
			s.awaitKilled(point)
			s.run()
			l.verify(s.client)
		}) {
			return // the nodes may be in any state
		}
	}
}

// snapshot has the node write one.
func (s *server) snapshot() {
	s.t.Helper()
	if state, out := s.command(nil, "snapshot"); !state.Success() {
		s.t.Fatalf("snapshot: %s", out)
	}
}

// in is the server as a subtest sees it.
func (s *server) in(t *testing.T) *server { s.t = t; return s }

// in is the ledger as a subtest sees it.
func (l *ledger) in(t *testing.T) *ledger { l.t = t; return l }
