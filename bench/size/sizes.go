package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"

	"quorate/bench/measure"
	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	configMaps = "/api/v1/namespaces/default/configmaps"
	// workers is the number of requests at a time.
	workers = 32
	mib     = 1 << 20
)

// growing is a node that gets more and more objects.
type growing struct {
	*options
	node   *servers.Quorate
	client *solo.Client
	count  int   // objects
	json   int   // bytes of one
	empty  int64 // bytes of memory without objects
}

// measureSizes prints the table of the costs at each number of objects.
func (o *options) measureSizes(ctx context.Context, dir string, out *os.File) (err error) {
	sizes, err := o.sizes()
	if err != nil {
		return err
	}
	g := &growing{options: o}
	if g.node, err = o.start(ctx, dir, "node"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.node.Stop()) }()
	if g.client, err = g.node.Client(0); err != nil {
		return err
	}
	defer g.client.Close()
	if g.empty, err = g.memory(ctx); err != nil {
		return err
	}
	command := fmt.Sprintf("go run ./bench/size -objects %s -value %d", o.objects, o.value)
	costs := measure.NewTable(fmt.Sprintf("One node with objects of %d bytes", o.value), command, "objects", "create, µs", "quorum get, µs", "after a snapshot, µs",
		"memory, MiB", "bytes per object beside its JSON", "after a restart, MiB", "from SIGKILL to ready, s", "disk, MiB")
	snapshots := measure.NewTable(fmt.Sprintf("A snapshot beside %d writes in a second", o.writes), command, "objects",
		"snapshot, s", "MiB", "p99 without, ms", "p99 with, ms", "ratio", "extra memory, MiB", "extra memory, %")
	for _, size := range sizes {
		if err := g.measureAt(ctx, size, costs, snapshots); err != nil {
			return fmt.Errorf("at %d objects: %w", size, err)
		}
	}
	return errors.Join(costs.Print(out), snapshots.Print(out))
}

// measureAt adds the rows of a number of objects.
func (g *growing) measureAt(ctx context.Context, size int, costs, snapshots *measure.Table) error {
	measured := min(g.operations, (size-g.count+1)/2)
	if _, err := g.create(ctx, size-measured); err != nil {
		return err
	}
	created, err := g.create(ctx, size)
	if err != nil {
		return err
	}
	if err := g.readJSON(ctx); err != nil {
		return err
	}
	got, err := g.get(ctx, size)
	if err != nil {
		return err
	}
	memory, err := g.memory(ctx)
	if err != nil {
		return err
	}
	disk, err := g.node.DiskBytes(0)
	if err != nil {
		return err
	}
	ready, err := g.node.Restart(ctx, 0)
	if err != nil {
		return err
	}
	restarted, err := g.memory(ctx)
	if err != nil {
		return err
	}
	if err := g.snapshot(ctx, snapshots); err != nil {
		return err
	}
	gotLater, err := g.get(ctx, size)
	if err != nil {
		return err
	}
	costs.Add(size, created.CPU, got.CPU, gotLater.CPU, float64(memory)/mib, float64(memory-g.empty)/float64(size)-float64(g.json),
		float64(restarted)/mib, ready.Seconds(), float64(disk)/mib)
	return nil
}

// create creates objects until there are so many.
func (g *growing) create(ctx context.Context, size int) (measure.Result, error) {
	first := g.count
	g.count = size
	return measure.Run(ctx, g.node.PIDs(), workers, size-first, func(ctx context.Context, i int) (int, error) {
		return g.client.Do(ctx, http.MethodPost, configMaps, object(fmt.Sprintf("object-%d", first+i), g.value))
	})
}

// get reads objects at random.
func (g *growing) get(ctx context.Context, size int) (measure.Result, error) {
	return measure.Run(ctx, g.node.PIDs(), workers, g.operations, func(ctx context.Context, _ int) (int, error) {
		return g.client.Do(ctx, http.MethodGet, fmt.Sprintf("%s/object-%d", configMaps, rand.IntN(size)), "")
	})
}

// object returns a ConfigMap with a value of so many bytes, which do not compress well.
func object(name string, bytes int) string {
	var value strings.Builder
	for value.Len() < bytes {
		value.WriteString(strconv.FormatUint(rand.Uint64(), 36))
	}
	return fmt.Sprintf(`{"metadata":{"name":%q},"data":{"value":%q}}`, name, value.String()[:bytes])
}

// readJSON sets the size of an object.
func (g *growing) readJSON(ctx context.Context) error {
	resp, err := g.client.Open(ctx, configMaps+"/object-0")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	g.json = len(content)
	return err
}

func (g *growing) memory(ctx context.Context) (int64, error) {
	if err := measure.Sleep(ctx, g.settle); err != nil {
		return 0, err
	}
	now, _, err := solo.Memory(g.node.PIDs()[0])
	return now, err
}
