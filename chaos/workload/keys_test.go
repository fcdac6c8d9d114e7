package workload

import (
	"fmt"
	"testing"
)

// TestEveryKeyIsFoughtFor checks that several clients, if there are several, use each key, for any
// number of clients and keys.
func TestEveryKeyIsFoughtFor(t *testing.T) {
	for _, c := range []struct{ clients, keys, fighters int }{{240, 120, rivals}, {240, 1000, rivals}, {60, 7, rivals}, {1, 1, 1}, {1, 50, 1}, {2, 500, 2}} {
		t.Run(fmt.Sprintf("%d of %d", c.clients, c.keys), func(t *testing.T) {
			l := &Load{Config: Config{Clients: c.clients}}
			for i := range c.keys {
				l.slots = append(l.slots, &slot{index: i})
			}
			fighters := map[int]int{}
			for i := range c.clients {
				for _, b := range l.beliefs(i) {
					fighters[b.index]++
				}
			}
			for i := range c.keys {
				if fighters[i] < c.fighters {
					t.Errorf("key %d has %d clients, want %d at least", i, fighters[i], c.fighters)
				}
			}
		})
	}
}
