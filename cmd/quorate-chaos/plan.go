package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"quorate/chaos"
	"quorate/chaos/nemesis"
	"quorate/chaos/nodes"
)

const (
	// allFaults and allIdle each name a group of faults.
	allFaults, allIdle = "all", "idle"
	// defaultIdle is how long phases without writes last when they are named and no time is given.
	defaultIdle = time.Minute
	// idleEvery is the number of phases of a mix between two phases without writes.
	idleEvery = 3
)

// config plans the run for a cluster.
func (o *options) config(f *fleet, log *slog.Logger) (chaos.Config, error) {
	chosen, err := o.chosen(f.Fleet)
	if err != nil {
		return chaos.Config{}, err
	}
	for _, u := range chosen.unavailable {
		log.Warn("this fault is not possible here", "fault", u.Name, "why", u.Why)
	}
	c := chaos.Config{
		Fleet: f.Fleet, Credentials: f.credentials, Seed: o.seed, Load: o.load, Mixture: o.mixture, Calm: o.calm, BoundScale: o.bounds, VisualizationDir: o.drawings, Log: log,
		Unavailable: chosen.unavailable, Judged: func(p *chaos.PhaseReport) { logPhase(p, log) },
	}
	idle := chaos.Idle(chosen.groups, cmp.Or(o.idle, defaultIdle), o.seed)
	if o.faults == noFaults {
		c.Phases, c.Until = chaos.Calm(o.duration, o.phase, o.seed), time.Now().Add(o.duration)
		return c, nil
	}
	if o.duration == 0 || len(chosen.faults) == 0 {
		c.Phases = append(chaos.Alone(chosen.faults, o.rounds, o.seed), idle...)
		return c, nil
	}
	// Phases last longer than their faults, so enough phases are planned, and the duration ends the
	// run.
	c.Phases = chaos.Interleave(chaos.Mixed(chosen.faults, o.duration, o.phase, o.seed), idle, idleEvery)
	c.Until = time.Now().Add(o.duration)
	return c, nil
}

// logPhase logs the result of a phase.
func logPhase(p *chaos.PhaseReport, log *slog.Logger) {
	log.Info("phase verified", "phase", p.Phase, "outcome", p.Outcome(), "seconds", int(p.Seconds), "injections", len(p.Injections))
	if p.NotRecovered != "" {
		log.Warn("not recovered", "phase", p.Phase, "what", p.NotRecovered)
	}
	for f := range p.Broken() {
		log.Warn("broken", "phase", p.Phase, "promise", f.Promise, "times", f.Count, "first", f.Samples[0])
	}
}

// choice holds the faults and the phases without writes of a run.
type choice struct {
	faults      []nemesis.Fault
	groups      []nemesis.IdleGroup // of actions during phases without writes
	unavailable []nemesis.Unavailable
}

// chosen returns the requested faults that these nodes support. A fault that was named and is not
// supported is an error.
func (o *options) chosen(fleet nodes.Fleet) (c choice, err error) {
	possible, unavailable := nemesis.Possible(fleet)
	groups := nemesis.IdleGroups()
	switch o.faults {
	case noFaults:
	case allFaults:
		c.faults, c.unavailable = possible, unavailable
		if o.idle > 0 {
			c.groups = groups
		}
	default:
		for _, name := range o.faultNames() {
			i := slices.IndexFunc(possible, func(f nemesis.Fault) bool { return f.Name == name })
			lacking := slices.IndexFunc(unavailable, func(u nemesis.Unavailable) bool { return u.Name == name })
			switch {
			case i >= 0:
				c.faults = append(c.faults, possible[i])
			case lacking >= 0:
				return choice{}, fmt.Errorf("--faults: %s %s", name, unavailable[lacking].Why)
			default:
				c.groups = append(c.groups, groupsNamed(groups, name)...)
			}
		}
	}
	for i := range c.groups {
		var lacking []nemesis.Unavailable
		c.groups[i].Acts, lacking = nemesis.Parted(fleet, c.groups[i].Acts)
		for _, u := range lacking {
			if !slices.Contains(c.unavailable, u) {
				c.unavailable = append(c.unavailable, u)
			}
		}
	}
	return c, nil
}

// groupsNamed returns the group of that name, or all groups.
func groupsNamed(groups []nemesis.IdleGroup, name string) (named []nemesis.IdleGroup) {
	for _, g := range groups {
		if g.Name == name || name == allIdle {
			named = append(named, g)
		}
	}
	return named
}

// known returns an error for a name that is neither a fault nor a group.
func known(names []string) error {
	for _, name := range names {
		if len(groupsNamed(nemesis.IdleGroups(), name)) > 0 {
			continue
		}
		if _, err := nemesis.Named(name); err != nil {
			return err
		}
	}
	return nil
}
