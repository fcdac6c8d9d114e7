package main

import (
	"cmp"
	"runtime/debug"
	"strings"

	"quorate/cmd/quorate/node"
)

// The states of the source tree: what was built is the commit, or it is not.
const (
	treeClean = "clean"
	treeDirty = "dirty"
)

// whichBuild returns the build that runs, from the Makefile's stamps and otherwise from what the Go
// tool recorded. info may be nil.
func whichBuild(stamped node.Build, info *debug.BuildInfo) node.Build {
	b := stamped
	if info != nil {
		noted := map[string]string{}
		for _, s := range info.Settings {
			noted[s.Key] = s.Value
		}
		if version := info.Main.Version; b.Version == "" && strings.HasPrefix(version, "v") {
			b.Version = version
		}
		b.Commit = cmp.Or(b.Commit, noted["vcs.revision"])
		b.Date = cmp.Or(b.Date, noted["vcs.time"])
		b.TreeState = cmp.Or(b.TreeState, map[string]string{"true": treeDirty, "false": treeClean}[noted["vcs.modified"]])
	}
	b.Version, b.Commit = cmp.Or(b.Version, "v0.0.0-devel"), cmp.Or(b.Commit, "unknown")
	return b
}
