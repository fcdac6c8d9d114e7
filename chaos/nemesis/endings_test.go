package nemesis_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
)

// TestEndings checks that a node may end by itself if an injection explains it and the log gives a
// reason, even if it runs again after healing.
func TestEndings(t *testing.T) {
	const dump = "level=INFO msg=start\npanic: it broke\n\ngoroutine 1 [running]:\nmain.main()"
	for name, c := range map[string]struct {
		fault    string
		at       string // the call during which a node ends
		of       func(target string) string
		how, log string
		finding  bool
		want     string // the line of its log
	}{
		"a node that loses its data may be refused":           {"delete-data", "start", same, "exit status 1", "quorate: the name is taken", false, ""},
		"a node may be killed at a failpoint":                 {"kill-in-start", "start", same, "signal: killed", "", false, ""},
		"a node that loses its data must not panic":           {"delete-data", "start", same, "exit status 2", dump, true, "panic: it broke"},
		"the stack of a panic is longer than the tail":        {"delete-data", "start", same, "exit status 2", "main.main()", true, "main.main()"},
		"a node that was only killed must not end":            {"kill-follower", "start", same, "exit status 1", "quorate: no", true, "quorate: no"},
		"a node without an injected fault must not end":       {"delete-data", "wipe", next, "exit status 1", "quorate: no", true, "quorate: no"},
		"a node without an injected fault must not be killed": {"kill-in-start", "start", next, "signal: killed", "", true, ""},
		"a node that is restarted in order must not end":      {"rolling-restart", "stop n2", next, "exit status 1", "quorate: no", true, "quorate: no"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, size)
				var told *nodes.Ending
				f.fail = func(call string) error {
					if words := strings.Fields(call); told == nil && strings.HasPrefix(call, c.at) {
						told = &nodes.Ending{Node: c.of(words[1]), How: c.how, Tail: c.log}
						f.ended = append(f.ended, *told)
					}
					return nil
				}
				n := hurting(f, 1)
				if err := n.InjectAndRecover(t.Context(), named(t, c.fault)); err != nil {
					t.Fatal(err)
				}
				ended := n.Ended()
				switch {
				case told == nil:
					t.Fatal("no node ended")
				case !c.finding && len(ended) > 0:
					t.Errorf("held against the cluster: %+v", ended)
				case c.finding && (len(ended) != 1 || ended[0] != nemesis.Ended{Node: told.Node, How: c.how, Line: c.want}):
					t.Errorf("found: %+v", ended)
				}
			})
		})
	}
}

func same(name string) string { return name }

// next returns another node.
func next(name string) string { return map[string]string{"n1": "n2", "n2": "n3", "n3": "n1"}[name] }
