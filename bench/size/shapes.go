package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"quorate/bench/measure"
	"quorate/bench/servers"
	"quorate/bench/solo"
)

const (
	shaped     = "/api/v1/namespaces/shaped"
	smallBytes = 64
	// largestBytes is the value of the largest ConfigMap.
	largestBytes = 1_000_000
	// deleteTimeout bounds the deletion of a shape.
	deleteTimeout = 10 * time.Minute
	// deletePoll is the time between two looks whether all is deleted.
	deletePoll = 20 * time.Millisecond
)

// shape is a kind of state that can be large.
type shape struct {
	name   string
	count  int    // of its objects
	list   string // where they are listed
	limit  int    // of a page
	create func(i int) string
	// remove are the paths to delete.
	remove func(count int) []string
}

func shapes() []shape {
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	each := func(collection, format string) func(count int) []string {
		return func(count int) (all []string) {
			for i := range count {
				all = append(all, collection+"/"+fmt.Sprintf(format, i))
			}
			return all
		}
	}
	whole := func(int) []string { return []string{shaped} }
	return []shape{
		{"namespaces", 20_000, "/api/v1/namespaces", 500, func(i int) string {
			return fmt.Sprintf(`{"metadata":{"name":"shape-%d"}}`, i)
		}, each("/api/v1/namespaces", "shape-%d")},
		{"kinds", 1000, definitions, 50, definition, each(definitions, "shapes%d.shape.example.com")},
		{"objects of one namespace", 1_000_000, shaped + "/configmaps", 500, func(i int) string {
			return object(fmt.Sprintf("object-%d", i), smallBytes)
		}, whole},
		{"objects of 1 MB", 640, shaped + "/configmaps", 10, func(i int) string {
			return object(fmt.Sprintf("object-%d", i), largestBytes)
		}, whole},
	}
}

// definition returns a CustomResourceDefinition.
func definition(i int) string {
	return fmt.Sprintf(`{"metadata":{"name":"shapes%d.shape.example.com"},"spec":{"group":"shape.example.com","scope":"Namespaced",
		"names":{"plural":"shapes%d","kind":"Shape%d"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
		{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer","minimum":0},"name":{"type":"string"}}}}}}}]}}`, i, i, i)
}

// measureShapes prints the table of the costs of each shape.
func (o *options) measureShapes(ctx context.Context, dir string, out *os.File) error {
	empty, err := o.emptyStart(ctx, dir)
	if err != nil {
		return err
	}
	t := measure.NewTable("Processor time for each object, by the shape of the state", fmt.Sprintf("go run ./bench/size -shapes -part %g", o.part),
		"shape", "number", "create, µs", "list, µs", "list in pages, µs", "from SIGKILL to ready, s", "start, µs", "delete, µs", "all deleted after, s", "memory, MiB")
	for _, s := range shapes() {
		all := max(int(o.part*float64(s.count)), 16)
		for _, count := range []int{all / 16, all / 4, all} {
			if err := o.measureShape(ctx, dir, s, count, empty, t); err != nil {
				return fmt.Errorf("%d %s: %w", count, s.name, err)
			}
		}
	}
	return t.Print(out)
}

// emptyStart returns the processor time until a node without objects is ready.
func (o *options) emptyStart(ctx context.Context, dir string) (time.Duration, error) {
	node, err := o.start(ctx, dir, "empty")
	if err != nil {
		return 0, err
	}
	if _, err := node.Restart(ctx, 0); err != nil {
		return 0, errors.Join(err, node.Stop())
	}
	used, err := measure.CPUTime(node.PIDs())
	return used, errors.Join(err, node.Stop())
}

// measureShape adds the row of one shape of one size, on a node of its own.
func (o *options) measureShape(ctx context.Context, dir string, s shape, count int, empty time.Duration, t *measure.Table) (err error) {
	node, err := o.start(ctx, dir, fmt.Sprintf("%.4s-%d", s.name, count)+fmt.Sprint(s.limit))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Stop()) }()
	client, err := node.Client(0)
	if err != nil {
		return err
	}
	defer client.Close()
	if code, err := client.Do(ctx, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"shaped"}}`); err != nil || code >= 300 {
		return fmt.Errorf("create a namespace: code %d: %w", code, err)
	}
	created, err := measure.Run(ctx, node.PIDs(), workers, count, func(ctx context.Context, i int) (int, error) {
		return client.Do(ctx, http.MethodPost, s.list, s.create(i))
	})
	if err != nil {
		return err
	}
	m := &shapeOf{shape: s, repeat: o.repeat, node: node, client: client, count: count}
	listed, err := m.repeated(func() error { return discard(ctx, client, s.list) })
	if err != nil {
		return err
	}
	paged, err := m.repeated(func() error { return pages(ctx, client, s.list, s.limit) })
	if err != nil {
		return err
	}
	memory, _, err := solo.Memory(node.PIDs()[0])
	if err != nil {
		return err
	}
	ready, err := node.Restart(ctx, 0)
	if err != nil {
		return err
	}
	started, err := measure.CPUTime(node.PIDs()) // of the new process
	if err != nil {
		return err
	}
	begun := time.Now()
	deleted, err := m.perObject(func() error { return m.delete(ctx) })
	t.Add(s.name, count, created.CPU, listed, paged, ready.Seconds(), float64((started-empty).Microseconds())/float64(count), deleted,
		time.Since(begun).Seconds(), float64(memory)/mib)
	return err
}

// shapeOf is a node with a shape.
type shapeOf struct {
	shape
	node   *servers.Quorate
	client *solo.Client
	count  int
	repeat time.Duration
}

// repeated is perObject of work that is repeated for a while: processor time has a unit of 10 ms.
func (m *shapeOf) repeated(work func() error) (float64, error) {
	times := 0
	took, err := m.perObject(func() error {
		for begun := time.Now(); times == 0 || time.Since(begun) < m.repeat; times++ {
			if err := work(); err != nil {
				return err
			}
		}
		return nil
	})
	return took / float64(times), err
}

// perObject returns the processor time that the node uses during some work, for each object, in µs.
func (m *shapeOf) perObject(work func() error) (float64, error) {
	before, err := measure.CPUTime(m.node.PIDs())
	if err != nil {
		return 0, err
	}
	if err := work(); err != nil {
		return 0, err
	}
	after, err := measure.CPUTime(m.node.PIDs())
	return float64((after - before).Microseconds()) / float64(m.count), err
}

// delete deletes the shape, and returns when nothing of it is left.
func (m *shapeOf) delete(ctx context.Context) error {
	paths := m.remove(m.count)
	if _, err := measure.Run(ctx, m.node.PIDs(), workers, len(paths), func(ctx context.Context, i int) (int, error) {
		return m.client.Do(ctx, http.MethodDelete, paths[i], "")
	}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deleteTimeout)
	defer cancel()
	for _, path := range paths {
		for {
			code, err := m.client.Do(ctx, http.MethodGet, path, "")
			if err != nil {
				return err
			}
			if code == http.StatusNotFound {
				break
			}
			if err := measure.Sleep(ctx, deletePoll); err != nil {
				return err
			}
		}
	}
	return nil
}
