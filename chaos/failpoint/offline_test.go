package failpoint_test

import (
	"os"
	"path/filepath"
	"testing"
)

// restoring ends the command that makes a data directory of a backup. Run again it either does so,
// or says that it is done.
func restoring(t *testing.T, points []string) {
	origin, l := newServer(t, "n1"), newLedger(t)
	origin.run()
	l.some(handful, origin.client)
	file := filepath.Join(t.TempDir(), "backup")
	if state, out := origin.command(nil, "backup", file); !state.Success() {
		t.Fatalf("backup: %s", out)
	}
	origin.kill()
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			s := newServer(t, "n1")
			state, out := s.command(kill(point), "restore", file, "--name", "n1")
			killedAt(t, state, out, point)
			if _, err := os.Stat(filepath.Join(s.dir, "raft")); err != nil {
				if state, out := s.command(nil, "restore", file, "--name", "n1"); !state.Success() {
					t.Fatalf("restore again: %s", out)
				}
			}
			s.run()
			l.restored(t, s)
		})
	}
}

// recovering ends the command that makes a survivor the only member. Run again it does so from what
// it has made, or from what was there.
func recovering(t *testing.T, points []string) {
	for _, point := range points {
		t.Run(point, func(t *testing.T) {
			s, l := newServer(t, "n1"), newLedger(t)
			s.run()
			l.some(handful, s.client)
			s.kill()
			state, out := s.command(kill(point), "recover", "--accept-data-loss")
			killedAt(t, state, out, point)
			s.run()
			l.restored(t, s)
			s.kill()
			if state, out := s.command(nil, "recover", "--accept-data-loss"); !state.Success() {
				t.Fatalf("recover again: %s", out)
			}
			s.run()
			l.restored(t, s)
		})
	}
}

// restored checks that a cluster made of the state of another has all that was acknowledged there,
// in versions that are later ones.
func (l *ledger) restored(t *testing.T, s *server) {
	t.Helper()
	objects, version, _, err := s.client.List(t.Context(), namespace, "")
	if err != nil {
		t.Fatal(err)
	}
	if version < l.highest {
		t.Errorf("a list has version %d after a response with %d", version, l.highest)
	}
	found := map[string]string{}
	for _, o := range objects {
		found[o.Name] = o.Data["value"]
		if o.Version < l.acked[o.Name].Version {
			t.Errorf("%s went from version %d to %d", o.Name, l.acked[o.Name].Version, o.Version)
		}
	}
	for name, acked := range l.acked {
		if maybe, doubtful := l.maybe[name]; found[name] != acked.Data["value"] && !(doubtful && found[name] == maybe) {
			t.Errorf("%s is %q, acknowledged was %q", name, found[name], acked.Data["value"])
		}
	}
}
