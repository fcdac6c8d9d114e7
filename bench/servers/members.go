package servers

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Roles returns the roles of the members by name, as a node knows them.
func (c *Cluster) Roles(ctx context.Context, node int) (map[string]string, error) {
	content, err := c.Get(ctx, node, "/cluster/v1/members")
	if err != nil {
		return nil, err
	}
	var list struct {
		Members []struct{ Name, Role string } `json:"members"`
	}
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	roles := make(map[string]string)
	for _, m := range list.Members {
		roles[m.Name] = m.Role
	}
	return roles, nil
}

// Leader returns the number of the node that leads.
func (c *Cluster) Leader(ctx context.Context) (int, error) {
	roles, err := c.Roles(ctx, 0)
	if err != nil {
		return 0, err
	}
	for i, p := range c.Processes {
		if roles[p.Name] == "leader" {
			return i, nil
		}
	}
	return 0, fmt.Errorf("no node leads: %v", roles)
}

// Metrics returns the metrics of a node, each as the sum over its labels.
func (c *Cluster) Metrics(ctx context.Context, node int) (map[string]float64, error) {
	return c.metrics(ctx, node, func(series string) string {
		name, _, _ := strings.Cut(series, "{")
		return name
	})
}

// Series returns the metrics of a node, by name and labels as they are shown.
func (c *Cluster) Series(ctx context.Context, node int) (map[string]float64, error) {
	return c.metrics(ctx, node, func(series string) string { return series })
}

func (c *Cluster) metrics(ctx context.Context, node int, key func(series string) string) (map[string]float64, error) {
	content, err := c.Get(ctx, node, "/metrics")
	if err != nil {
		return nil, err
	}
	sums := make(map[string]float64)
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || fields[0] == "#" {
			continue
		}
		value, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			return nil, fmt.Errorf("read metrics: %w", err)
		}
		sums[key(fields[0])] += value
	}
	return sums, nil
}
