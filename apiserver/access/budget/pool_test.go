package budget_test

import (
	"fmt"
	"sync"
	"testing"

	"quorate/apiserver/access/budget"
	"quorate/raftstore/addresskey"
)

func TestBounds(t *testing.T) {
	t.Parallel()
	var refused []budget.Bound
	p := budget.New(budget.Config{Total: 100, PerUser: 40, PerAddress: 60, Refused: func(b budget.Bound) {
		refused = append(refused, b)
	}})
	take := func(h *budget.Holding, n int64, want budget.Bound) {
		t.Helper()
		before := h.Amount()
		bound, ok := h.Take(n)
		if ok != (want == "") || bound != want {
			t.Fatalf("took %d: %v by %q, want %q", n, ok, bound, want)
		}
		if ok {
			before += n
		}
		if h.Amount() != before {
			t.Fatalf("the holding has %d, want %d", h.Amount(), before)
		}
	}
	ann, annAgain := p.Hold("ann", "10.0.0.1"), p.Hold("ann", "10.0.0.2")
	bob, eve, nobody := p.Hold("bob", "10.0.0.1"), p.Hold("eve", "10.0.0.3"), p.Hold("", "")
	take(&ann, 30, "")
	take(&annAgain, 11, budget.User)
	take(&annAgain, 10, "")
	take(&bob, 31, budget.Address)
	if used := p.UsedBy("bob"); used != 0 {
		t.Errorf("bob has %d after a refusal", used)
	}
	take(&bob, 30, "")
	take(&eve, 31, budget.Total)
	take(&eve, 30, "")
	take(&nobody, 1, budget.Total)
	if p.Used() != 100 || p.Users() != 3 || p.Addresses() != 3 || p.UsedBy("ann") != 40 {
		t.Errorf("used %d by %d users of %d addresses, %d by ann", p.Used(), p.Users(), p.Addresses(), p.UsedBy("ann"))
	}
	ann.Return(20)
	take(&nobody, 20, "")
	for _, h := range []*budget.Holding{&ann, &annAgain, &bob, &eve, &nobody} {
		h.Release()
		h.Release()
	}
	if p.Used() != 0 || p.Users() != 0 || p.Addresses() != 0 {
		t.Errorf("used %d by %d users of %d addresses when all is released", p.Used(), p.Users(), p.Addresses())
	}
	want := []budget.Bound{budget.User, budget.Address, budget.Total, budget.Total}
	if fmt.Sprint(refused) != fmt.Sprint(want) {
		t.Errorf("counted %v, want %v", refused, want)
	}
}

func TestNoBounds(t *testing.T) {
	t.Parallel()
	p := budget.New(budget.Config{})
	h := p.Hold("ann", "10.0.0.1")
	if _, ok := h.Take(1 << 40); !ok {
		t.Error("refused without a bound")
	}
	h.Release()
	var zero budget.Holding
	zero.Release()
	if p.Used() != 0 || p.Users() != 0 {
		t.Errorf("used %d by %d users", p.Used(), p.Users())
	}
}

// TestConcurrentTakes: never more than the bounds is taken, and nothing is left over.
func TestConcurrentTakes(t *testing.T) {
	t.Parallel()
	const perUser, users, rounds = 10, 4, 2000
	p := budget.New(budget.Config{Total: 35, PerUser: perUser, PerAddress: 20})
	var wg sync.WaitGroup
	for i := range 4 * users {
		wg.Go(func() {
			user := fmt.Sprint(i % users)
			for range rounds {
				h := p.Hold(user, fmt.Sprint("10.0.0.", i%2))
				if _, ok := h.Take(3); ok {
					if used := p.UsedBy(user); used > perUser {
						t.Errorf("%d taken by one user", used)
					}
					h.Take(2)
				}
				h.Release()
			}
		})
	}
	wg.Wait()
	if p.Used() != 0 || p.Users() != 0 || p.Addresses() != 0 {
		t.Errorf("used %d by %d users of %d addresses when all is released", p.Used(), p.Users(), p.Addresses())
	}
}

func TestReturnOfMoreThanTaken(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	h := budget.New(budget.Config{}).Hold("ann", "")
	h.Return(1)
}

func BenchmarkTake(b *testing.B) {
	p := budget.New(budget.Config{Total: 1 << 30, PerUser: 1 << 28, PerAddress: 1 << 29})
	b.ReportAllocs()
	for b.Loop() {
		h := p.Hold("system:serviceaccount:default:builder", addresskey.Of("192.0.2.7:4711"))
		h.Take(512)
		h.Release()
	}
}
