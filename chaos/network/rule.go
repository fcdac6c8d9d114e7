package network

import (
	"fmt"
	"time"
)

// Clients is the name of the host of all clients: this process's own namespace.
const Clients = "clients"

// Link is a direction between two hosts.
type Link struct{ From, To string }

func (l Link) String() string { return l.From + ">" + l.To }

// Rule determines what happens to the packets on a link. The zero Rule is a good link.
type Rule struct {
	Drop      bool
	Delay     time.Duration
	Jitter    time.Duration // added to Delay, at random up to this; packets keep their order
	Loss      float64       // the part of packets that is lost: 0 to 1
	Reorder   float64       // the part of packets that overtakes others by Delay, or by a few milliseconds without one
	Duplicate float64       // the part of packets that arrives twice
	Rate      int64         // bytes a second; 0: unlimited
}

// Validate returns an error for a rule that no link can follow.
func (r Rule) Validate() error {
	for name, part := range map[string]float64{"loss": r.Loss, "reorder": r.Reorder, "duplicate": r.Duplicate} {
		if !(part >= 0 && part <= 1) {
			return fmt.Errorf("%s %v is no part of packets: want 0 to 1", name, part)
		}
	}
	if r.Delay < 0 || r.Jitter < 0 || r.Rate < 0 {
		return fmt.Errorf("delay %v, jitter %v and rate %d must not be negative", r.Delay, r.Jitter, r.Rate)
	}
	return nil
}
