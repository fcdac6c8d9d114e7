package nemesis

import (
	"context"
	"fmt"
	"slices"

	"quorate/chaos/nodes"
)

// Fault is a kind of harm.
type Fault struct {
	Name  string // in kebab-case
	About string // one line, for those who read a report
	// Survivable says that writes have to go on while it lasts, after an election if it takes one.
	Survivable bool
	// Bound is how long it may keep the cluster from serving.
	Bound Bound

	needs []need
	// strike does the harm and returns. It takes down with s how to undo it.
	strike func(ctx context.Context, s *Strike) error
	// lasts is what goes on while the harm lasts, and ends by itself or with ctx; nil where nothing
	// does.
	lasts func(ctx context.Context, s *Strike) error
}

// need is what a fault takes of a fleet.
type need struct {
	what string
	met  func(nodes.Fleet) bool
}

// Unavailable is a fault that a fleet can't be hurt with.
type Unavailable struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Faults are all faults, family by family.
func Faults() []Fault {
	return bounded(slices.Concat(
		processFaults(), networkFaults(), diskFaults(), damageFaults(), clockFaults(), membershipFaults(), snapshotFaults(), momentFaults(),
	))
}

// Possible parts all faults into those that the fleet can be hurt with and those that it can't.
func Possible(fleet nodes.Fleet) (possible []Fault, unavailable []Unavailable) {
	return Parted(fleet, Faults())
}

// Parted is Possible for some faults.
func Parted(fleet nodes.Fleet, faults []Fault) (possible []Fault, unavailable []Unavailable) {
	for _, f := range faults {
		if why := f.lacking(fleet); why != "" {
			unavailable = append(unavailable, Unavailable{f.Name, why})
			continue
		}
		possible = append(possible, f)
	}
	return possible, unavailable
}

// Named returns faults by their names.
func Named(names ...string) (faults []Fault, err error) {
	all := Faults()
	for _, name := range names {
		i := slices.IndexFunc(all, func(f Fault) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no fault %q", name)
		}
		faults = append(faults, all[i])
	}
	return faults, nil
}

// lacking is the first thing that the fault needs and the fleet doesn't have, or "".
func (f Fault) lacking(fleet nodes.Fleet) string {
	for _, n := range f.needs {
		if !n.met(fleet) {
			return n.what
		}
	}
	return ""
}

// capability is the need of one of the interfaces of package nodes.
func capability[T any](what string) need {
	return need{what, func(fleet nodes.Fleet) bool {
		_, has := nodes.As[T](fleet)
		return has
	}}
}

func stopping() need  { return capability[nodes.Stopper]("needs a way to stop nodes in order") }
func pausing() need   { return capability[nodes.Pauser]("needs a way to pause nodes") }
func cutting() need   { return capability[nodes.Network]("needs a network whose links can be cut") }
func wiping() need    { return capability[nodes.Wiper]("needs a way to delete a node's data") }
func observing() need { return capability[nodes.Running]("needs a way to see whether a node runs") }
func growing() need   { return capability[nodes.Grower]("needs a way to add nodes") }
func clocksSet() need { return capability[nodes.Clocks]("needs nodes whose clocks can be set") }
func operating() need {
	return capability[nodes.Operator]("needs a way to run the operator's commands")
}
func failpoints() need { return capability[nodes.Failpoints]("needs a binary with failpoints") }

// shaping is the need of a network that does more than cut.
func shaping() need {
	return need{"needs a network that can be slow or lossy", func(fleet nodes.Fleet) bool {
		network, has := nodes.As[nodes.Network](fleet)
		return has && network.Precise()
	}}
}

// atLeast is the need of so many nodes.
func atLeast(count int) need {
	return need{fmt.Sprintf("needs %d nodes", count), func(fleet nodes.Fleet) bool { return len(fleet.Nodes()) >= count }}
}

// outlived are the needs of a fault that takes a node away, and that the others survive: two of
// three still are a majority.
func outlived(more ...need) []need { return append([]need{atLeast(3)}, more...) }
