package main

import (
	"slices"
	"strings"
	"time"
)

// software is a program, or a set of manifests, that another project made.
type software struct {
	Name    string
	Version string
	// Source says how the software is obtained.
	Source string
	// Missing is why the software can't be obtained. If it is set, nothing of it runs.
	Missing string
	// Fetch is a script that obtains and builds the software in $DIR, or installs it in $BIN. It
	// runs once for each content, and its result stays in the cache. It may be empty.
	Fetch string
	Steps []step
}

// fileName returns the name of the software's folders, which no other entry has.
func (s software) fileName() string {
	return strings.ReplaceAll(strings.ToLower(s.Name+"-"+s.Version), " ", "-")
}

// step is one thing that is tried.
type step struct {
	Tried  string
	Script string
	// Gap is why the step is known to fail. A step without it must pass.
	Gap string
	// Timeout bounds the script; defaultTimeout if zero.
	Timeout time.Duration
}

// defaultTimeout bounds a step that sets no Timeout, on a busy machine.
const defaultTimeout = 2 * time.Minute

// catalog returns all software, in the order of the table.
func catalog() []software {
	return slices.Concat(
		helm(), kustomizations(), operators(), metrics(), manifests(), languages(),
	)
}
