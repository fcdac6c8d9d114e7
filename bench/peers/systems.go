package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"quorate/bench/checkout"
	"quorate/bench/generator"
	"quorate/bench/servers"
)

// The systems, which index slices of all systems. Without -base there is no base.
const (
	quorate = iota
	peer
	base // an older build of Quorate
)

// system is one of those that are compared, with what was measured of it.
type system struct {
	name string // in messages and in the names of files
	// start starts empty servers with data below dir, and waits until they are ready.
	start    func(ctx context.Context, dir string, nodes int) (*servers.Cluster, error)
	measured []generator.Measurement
	raw      []byte // JSON lines
}

const nodeBinary = "bin/quorate"

// systemsOf returns the systems, which have not been measured yet.
func systemsOf(programs binaries, old baseBuild) []*system {
	all := []*system{
		quorate: {name: "quorate", start: starterOf(nodeBinary)},
		peer: {name: "peer", start: func(ctx context.Context, dir string, nodes int) (*servers.Cluster, error) {
			return startPeer(ctx, programs, dir, nodes)
		}},
	}
	if old.binary != "" {
		all = append(all, &system{name: "base", start: starterOf(old.binary)})
	}
	return all
}

// starterOf returns the function that starts nodes of a build of Quorate.
func starterOf(binary string) func(context.Context, string, int) (*servers.Cluster, error) {
	return func(ctx context.Context, dir string, nodes int) (*servers.Cluster, error) {
		c, err := servers.StartQuorate(ctx, binary, dir, nodes)
		if err != nil {
			return nil, err
		}
		return &c.Cluster, nil
	}
}

// baseBuild is a build of an older commit of Quorate, or zero.
type baseBuild struct {
	commit, binary string
}

// buildBase builds a commit in dir. It returns zero if commit is "".
func buildBase(ctx context.Context, dir, commit string) (b baseBuild, err error) {
	if commit == "" {
		return b, nil
	}
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	if dir, err = filepath.Abs(dir); err != nil { // the build runs in the worktree
		return b, err
	}
	old, err := checkout.Add(ctx, filepath.Join(dir, "source"), commit)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, old.Remove(ctx)) }()
	fmt.Fprintf(os.Stderr, "peers: building Quorate at %s\n", old.Commit)
	b = baseBuild{commit: old.Commit, binary: filepath.Join(dir, "quorate-"+old.Commit)}
	return b, checkout.Go(ctx, old.Dir, "build", "-o", b.binary, "./cmd/quorate")
}
