package budget_test

import (
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"quorate/apiserver/access/budget"
)

// TestPoolFollowsTheModel: a pool allows what the sums over all holdings allow, also after refusals
// and for privileged holdings, and counts nothing that it refused.
func TestPoolFollowsTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cfg := budget.Config{Total: 12, PerUser: 6, PerAddress: 8, Reserve: 3}
		refusals := 0
		cfg.Refused = func(budget.Bound) { refusals++ }
		pool := budget.New(cfg)
		type model struct {
			budget.Holding
			user, address string
			privileged    bool
			amount, extra int64 // extra is of the reserve
		}
		var holdings []*model
		sum := func(of func(m *model) int64) (n int64) {
			for _, m := range holdings {
				n += of(m)
			}
			return n
		}
		wantRefusals := 0
		which := func(t *rapid.T) *model {
			if len(holdings) == 0 {
				t.Skip()
			}
			return holdings[rapid.IntRange(0, len(holdings)-1).Draw(t, "which")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"hold": func(t *rapid.T) {
				m := &model{
					user:       rapid.SampledFrom([]string{"", "ann", "bob"}).Draw(t, "user"),
					address:    rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "address"),
					privileged: rapid.Bool().Draw(t, "privileged"),
				}
				m.Holding = pool.Hold(m.user, m.address)
				if m.privileged {
					m.Holding = pool.HoldPrivileged(m.user, m.address)
				}
				holdings = append(holdings, m)
			},
			"take": func(t *rapid.T) {
				m := which(t)
				n := rapid.Int64Range(1, 4).Draw(t, "n")
				all := sum(func(m *model) int64 { return m.amount })
				ofUser := sum(func(o *model) int64 {
					if o.user != m.user {
						return 0
					}
					return o.amount
				})
				ofAddress := sum(func(o *model) int64 {
					if o.address != m.address {
						return 0
					}
					return o.amount
				})
				fits := all+n <= cfg.Total && (m.user == "" || ofUser+n <= cfg.PerUser) &&
					(m.address == "" || ofAddress+n <= cfg.PerAddress)
				reserved := m.privileged && sum(func(m *model) int64 { return m.extra })+n <= cfg.Reserve
				_, ok := m.Take(n)
				switch {
				case ok != (fits || reserved):
					t.Fatalf("%d of %q at %q: %v, but it fits %v, or the reserve %v", n, m.user, m.address, ok, fits, reserved)
				case fits:
					m.amount += n
				case reserved:
					m.extra += n
				default:
					wantRefusals++
				}
			},
			"return": func(t *rapid.T) {
				m := which(t)
				n := rapid.Int64Range(0, m.amount+m.extra).Draw(t, "n")
				m.Return(n)
				fromReserve := min(n, m.extra)
				m.extra -= fromReserve
				m.amount -= n - fromReserve
			},
			"release": func(t *rapid.T) {
				m := which(t)
				m.Release()
				m.amount, m.extra = 0, 0
			},
			"": func(t *rapid.T) {
				used := sum(func(m *model) int64 { return m.amount + m.extra })
				if pool.Used() != used || refusals != wantRefusals {
					t.Fatalf("used %d, want %d; %d refusals, want %d", pool.Used(), used, refusals, wantRefusals)
				}
				for _, m := range holdings {
					if m.Amount() != m.amount+m.extra {
						t.Fatalf("a holding has %d, want %d and %d", m.Amount(), m.amount, m.extra)
					}
				}
			},
		})
	})
}

// TestReserveAtOnce: privileged holdings that begin and end at the same moment leave nothing
// behind.
func TestReserveAtOnce(t *testing.T) {
	t.Parallel()
	pool := budget.New(budget.Config{Total: 4, PerUser: 2, Reserve: 2})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 1000 {
				h := pool.HoldPrivileged(fmt.Sprint(i%3), "")
				h.Take(1)
				if used := pool.Used(); used > 6 {
					t.Errorf("%d used, with the reserve", used)
				}
				h.Release()
			}
		})
	}
	wg.Wait()
	if pool.Used() != 0 || pool.Users() != 0 {
		t.Errorf("used %d by %d users when all is released", pool.Used(), pool.Users())
	}
}
