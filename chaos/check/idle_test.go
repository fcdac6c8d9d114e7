package check_test

import (
	"testing"
	"time"

	"quorate/chaos/check"
	"quorate/chaos/history"
)

// TestIdle checks that a read of an idle cluster that fails or is slow is a finding unless an
// excuse explains it, and that a wrong response always is.
func TestIdle(t *testing.T) {
	read := func(seconds int, change func(*history.IdleRead)) history.IdleRead {
		r := history.IdleRead{Kind: "get", Node: "n1", Invoked: time.Second, Answered: time.Duration(1+seconds) * time.Second}
		if change != nil {
			change(&r)
		}
		return r
	}
	fails := func(r *history.IdleRead) { r.Problem = "503" }
	wrong := func(r *history.IdleRead) { r.Problem, r.Wrong = "an object is missing", true }
	for name, c := range map[string]struct {
		read    history.IdleRead
		excused bool
		promise check.Promise // that it breaks; "" for none
		counted int           // as excused
	}{
		"answered":                   {read(1, nil), false, "", 0},
		"answered, and also excused": {read(1, nil), true, "", 0},
		"failed":                     {read(6, fails), false, check.IdleReads, 0},
		"failed with an excuse":      {read(6, fails), true, "", 1},
		"slow":                       {read(11, nil), false, check.IdleReads, 0},
		"slow with an excuse":        {read(11, nil), true, "", 1},
		"wrong":                      {read(1, wrong), false, check.IdleAnswers, 0},
		"wrong, whatever was done":   {read(1, wrong), true, check.IdleAnswers, 0},
	} {
		t.Run(name, func(t *testing.T) {
			v, counts := check.Idle([]history.IdleRead{read(0, nil), c.read}, func(history.IdleRead) bool { return c.excused })
			if v.OK() != (c.promise == "") || c.promise != "" && count(v, c.promise) != 1 {
				t.Errorf("want %q broken: %s", c.promise, found(v))
			}
			if counts.Reads != 2 || counts.Excused != c.counted {
				t.Errorf("%+v", counts)
			}
		})
	}
	if v, _ := check.Idle(nil, nil); v.OK() {
		t.Error("nobody read, and that is called right")
	}
}
