package thirdparty

import (
	"context"
	"errors"
	"time"

	"quorate/chaos/nodes"
)

const (
	// NodeCount is the number of nodes of each cluster.
	NodeCount = 3
	// StartTimeout bounds the start of a cluster on a busy machine.
	StartTimeout = 2 * time.Minute
)

// StartCluster starts NodeCount nodes with their data in a new folder. The caller must close them.
func StartCluster(ctx context.Context, binary, dir string, flags []string) (*nodes.Processes, error) {
	fleet, err := nodes.NewProcesses(nodes.ProcessesConfig{Binary: binary, Dir: dir, Count: NodeCount, Flags: flags})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	if _, err := fleet.StartAll(ctx); err != nil {
		return nil, errors.Join(err, fleet.Close(context.WithoutCancel(ctx)))
	}
	return fleet, nil
}
