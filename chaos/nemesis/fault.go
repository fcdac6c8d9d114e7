package nemesis

import (
	"context"
	"fmt"
	"slices"

	"quorate/chaos/nodes"
)

// Fault is a kind of fault.
type Fault struct {
	Name  string // in kebab-case
	About string // one-line description for reports
	// Survivable means that writes must continue while the fault lasts, if necessary after an
	// election.
	Survivable bool
	// Bound limits how long the cluster may refuse service because of the fault.
	Bound Bound

	needs []need
	// inject causes the fault and returns. It records in s how to undo it.
	inject func(ctx context.Context, in *Injection) error
	// lasts runs while the fault lasts, and returns by itself or when ctx ends; nil if there is
	// nothing to run.
	lasts func(ctx context.Context, in *Injection) error
}

// need is a requirement of a fault on a fleet.
type need struct {
	what string
	met  func(nodes.Fleet) bool
}

// Unavailable is a fault that is not possible with a fleet.
type Unavailable struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Faults returns all faults by family.
func Faults() []Fault {
	return bounded(slices.Concat(
		processFaults(), networkFaults(), diskFaults(), damageFaults(), clockFaults(), membershipFaults(), snapshotFaults(), momentFaults(),
	))
}

// Possible divides all faults into those that are possible with the fleet and those that are not.
func Possible(fleet nodes.Fleet) (possible []Fault, unavailable []Unavailable) {
	return Parted(fleet, Faults())
}

// Parted is Possible for the given faults.
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

// Named returns the faults with the given names.
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

// lacking returns the first requirement of the fault that the fleet does not meet, or "".
func (f Fault) lacking(fleet nodes.Fleet) string {
	for _, n := range f.needs {
		if !n.met(fleet) {
			return n.what
		}
	}
	return ""
}

// capability returns the requirement that the fleet implements one of the interfaces of package
// nodes.
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

// shaping returns the requirement of a network whose rules are precise.
func shaping() need {
	return need{"needs a network that can be slow or lossy", func(fleet nodes.Fleet) bool {
		network, has := nodes.As[nodes.Network](fleet)
		return has && network.Precise()
	}}
}

// atLeast returns the requirement of a number of nodes.
func atLeast(count int) need {
	return need{fmt.Sprintf("needs %d nodes", count), func(fleet nodes.Fleet) bool { return len(fleet.Nodes()) >= count }}
}

// outlived returns the requirements of a fault that takes away one node and that the others
// survive, for which there must be three nodes.
func outlived(more ...need) []need { return append([]need{atLeast(3)}, more...) }
