package apiserver

import (
	"context"
	"fmt"
)

// otherBuild returns why a member of the cluster may run another build than this node, or "". It
// asks all members.
func (c *Config) otherBuild(ctx context.Context) (why string, err error) {
	if c.Cluster == nil {
		return "", nil
	}
	members, err := c.Cluster.Members(ctx)
	if err != nil {
		return "", fmt.Errorf("ask the members for their builds: %w", err)
	}
	for _, m := range members {
		switch {
		case m.Version == nil:
			return fmt.Sprintf("all members must run the same build, and that of %s is unknown, because it does not respond", m.Name), nil
		case *m.Version != c.Build.Version:
			return fmt.Sprintf("all members must run the same build, and that of %s is %s, of this node %s", m.Name, *m.Version, c.Build.Version), nil
		}
	}
	return "", nil
}
