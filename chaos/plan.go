package chaos

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"quorate/chaos/nemesis"
)

// Phase is a part of a run with its own history: clients work in a namespace while faults are
// injected, and then their records are judged.
type Phase struct {
	Name   string
	Seed   uint64 // seed of its random choices
	Faults []nemesis.Fault
	// Rounds is the number of times that each of the faults is injected, one after the other; 0
	// mixes them for the duration Lasting.
	Rounds  int
	Lasting time.Duration
	// Idle is the duration of a phase without writes, in which all kinds of reads continue. Each
	// fault is injected once, and random ones until the time has passed.
	Idle time.Duration
}

// planned returns the names of the planned faults.
func (p *Phase) planned() (names []string) {
	for _, f := range p.Faults {
		names = append(names, f.Name)
	}
	return names
}

// Alone plans one phase for each fault.
func Alone(faults []nemesis.Fault, rounds int, seed uint64) []Phase {
	phases := make([]Phase, 0, len(faults))
	for _, f := range faults {
		phases = append(phases, Phase{Name: f.Name, Seed: seedOf(seed, f.Name), Faults: []nemesis.Fault{f}, Rounds: rounds})
	}
	return phases
}

// Calm plans phases without faults, each of a given duration, to fill the total time.
func Calm(total, each time.Duration, seed uint64) []Phase {
	phases := Mixed(nil, total, each, seed)
	for i := range phases {
		phases[i].Name = fmt.Sprintf("no fault %d", i+1)
	}
	return phases
}

// Mixed plans phases with overlapping faults, each of a given duration, to fill the total time.
func Mixed(faults []nemesis.Fault, total, each time.Duration, seed uint64) []Phase {
	var phases []Phase
	for planned := time.Duration(0); planned < total; planned += each {
		name := fmt.Sprintf("mixed %d", len(phases)+1)
		phases = append(phases, Phase{Name: name, Seed: seedOf(seed, name), Faults: faults, Lasting: min(each, total-planned)})
	}
	return phases
}

// Idle plans a phase without writes for each group of acts, each of at least a given duration.
func Idle(groups []nemesis.IdleGroup, lasting time.Duration, seed uint64) []Phase {
	phases := make([]Phase, 0, len(groups))
	for _, g := range groups {
		phases = append(phases, Phase{Name: g.Name, Seed: seedOf(seed, g.Name), Faults: g.Acts, Idle: lasting})
	}
	return phases
}

// Interleave inserts the idle phases in turn, one after every few others.
func Interleave(phases, idle []Phase, every int) (all []Phase) {
	for i, phase := range phases {
		all = append(all, phase)
		if n := (i + 1) / every; len(idle) > 0 && (i+1)%every == 0 {
			next := idle[(n-1)%len(idle)]
			next.Name = fmt.Sprintf("%s %d", next.Name, n)
			next.Seed = seedOf(next.Seed, next.Name)
			all = append(all, next)
		}
	}
	return all
}

// seedOf returns the seed of a phase. It does not depend on other phases, so that a phase of a run
// can be repeated alone.
func seedOf(seed uint64, name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64())).Uint64()
}
