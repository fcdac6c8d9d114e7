package validation

import (
	"slices"
	"testing"

	"quorate/apiserver/kinds"
	"quorate/apiserver/objects/schema"
)

func load(t testing.TB, hooks schema.Hooks) *schema.Catalog {
	t.Helper()
	cat, err := schema.Load(kinds.Files, hooks)
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// mutant is a hook with a fault.
type mutant struct {
	table, name string
	how         string
}

const (
	silent = "does nothing"
	loud   = "always finds something"
	holds  = "always holds"
)

// laboratory creates the hooks with the current mutant's fault. All mutants share one catalog,
// because loading one is slow.
type laboratory struct {
	atWork mutant
	called map[string]bool // tables and names of the hooks that ran
	all    []mutant
}

// is records the call of a hook and reports whether the hook has the current fault.
func (l *laboratory) is(table, name, how string) bool {
	if l.called != nil {
		l.called[table+" "+name] = true
	}
	return l.atWork == mutant{table, name, how}
}

func (l *laboratory) hooks() schema.Hooks {
	h := Hooks()
	for name, f := range h.Validators {
		l.all = append(l.all, mutant{"validator", name, silent}, mutant{"validator", name, loud})
		h.Validators[name] = func(c *schema.Context, v *schema.Value) {
			if l.is("validator", name, loud) {
				c.Invalid("", "mutant")
			} else if !l.is("validator", name, silent) {
				f(c, v)
			}
		}
	}
	for name, f := range h.Comparisons {
		l.all = append(l.all, mutant{"comparison", name, silent}, mutant{"comparison", name, loud})
		h.Comparisons[name] = func(c *schema.Context, v, old *schema.Value) {
			if l.is("comparison", name, loud) {
				c.Invalid("", "mutant")
			} else if !l.is("comparison", name, silent) {
				f(c, v, old)
			}
		}
	}
	for name, f := range h.Conditions {
		l.all = append(l.all, mutant{"condition", name, silent}, mutant{"condition", name, holds})
		h.Conditions[name] = func(c *schema.Context, v *schema.Value) bool {
			return l.is("condition", name, holds) || !l.is("condition", name, silent) && f(c, v)
		}
	}
	for name, f := range h.Defaulters {
		l.all = append(l.all, mutant{"defaulter", name, silent})
		h.Defaulters[name] = func(c *schema.Context, v *schema.Value) {
			if !l.is("defaulter", name, silent) {
				f(c, v)
			}
		}
	}
	for name, f := range h.Steps {
		l.all = append(l.all, mutant{"step", name, silent})
		h.Steps[name] = func(c *schema.Context) {
			if !l.is("step", name, silent) {
				f(c)
			}
		}
	}
	for name, f := range h.Converters {
		l.all = append(l.all, mutant{"converter", name, silent})
		h.Converters[name] = func(from, to *schema.Object) {
			if !l.is("converter", name, silent) {
				f(from, to)
			}
		}
	}
	return h
}

// TestRowsDetectBrokenHooks breaks one hook after the other and checks that some row fails: a row
// with errors if a validator reports nothing, a valid row if a validator always reports an error.
func TestRowsDetectBrokenHooks(t *testing.T) {
	var l laboratory
	cat := load(t, l.hooks())
	callers := map[string][]*row{}
	for _, f := range rowFamilies() {
		for i := range f.rows {
			l.called = map[string]bool{}
			f.rows[i].run(cat)
			for hook := range l.called {
				callers[hook] = append(callers[hook], &f.rows[i])
			}
		}
	}
	l.called = nil
	for _, l.atWork = range l.all {
		rows := callers[l.atWork.table+" "+l.atWork.name]
		if !slices.ContainsFunc(rows, func(r *row) bool { return r.run(cat) != "" }) {
			t.Errorf("no row notices that %s %q %s", l.atWork.table, l.atWork.name, l.atWork.how)
		}
	}
}
