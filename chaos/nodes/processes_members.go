package nodes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"quorate/chaos/disk"
)

// Add implements Grower.
func (p *Processes) Add(ctx context.Context, voter bool) (Node, error) {
	if err := ctx.Err(); err != nil {
		return Node{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.newProcess(voter)
	if err != nil {
		return Node{}, err
	}
	if err := p.start(one); err != nil {
		return Node{}, errors.Join(fmt.Errorf("start node %s: %w", one.node.Name, err), p.discard(one))
	}
	p.nodes = append(p.nodes, one)
	return one.node, nil
}

// Forget implements Grower. The node's log file remains.
func (p *Processes) Forget(ctx context.Context, name string) error {
	if err := p.Kill(ctx, name); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(name)
	if err != nil {
		return err
	}
	if one.current.runs() {
		return fmt.Errorf("forget node %s: it was started meanwhile", name)
	}
	p.nodes = slices.DeleteFunc(p.nodes, func(other *process) bool { return other == one })
	if err := p.discard(one); err != nil {
		return fmt.Errorf("forget node %s: %w", name, err)
	}
	return nil
}

// discard removes the data, disk and host of a node that has ended.
func (p *Processes) discard(one *process) error {
	var errs []error
	if one.host != nil {
		errs = append(errs, p.network.Remove(one.node.Name))
	}
	data := p.DataDir(one.node.Name)
	if one.disk != nil {
		errs = append(errs, one.disk.Close(), os.RemoveAll(data+".disk"))
	}
	return errors.Join(append(errs, os.RemoveAll(data))...)
}

// Wipe implements Wiper. If the node has its own disk, a later power cut does not restore the data.
func (p *Processes) Wipe(_ context.Context, name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(name)
	if err != nil {
		return err
	}
	if one.current.runs() {
		return fmt.Errorf("wipe node %s: it runs", name)
	}
	if _, err := disk.Empty(p.DataDir(name)); err != nil {
		return fmt.Errorf("wipe node %s: %w", name, err)
	}
	if err := syncDir(p.DataDir(name)); err != nil {
		return fmt.Errorf("wipe node %s: %w", name, err)
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Disk implements Disks. It returns nil if the node does not have its own disk.
func (p *Processes) Disk(name string) *disk.Disk {
	p.mu.Lock()
	defer p.mu.Unlock()
	one, err := p.find(name)
	if err != nil {
		return nil
	}
	return one.disk
}
