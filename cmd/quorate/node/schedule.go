package node

import (
	"context"
	"fmt"

	"quorate/cmd/quorate/schedule"
)

// leases is the resource of the record of scheduled backups.
const leases = "coordination.k8s.io/leases"

// openSchedule creates the scheduler of backups, if there are any. It comes after the other
// components, which it uses.
func (n *Node) openSchedule() error {
	s := &n.cfg.Settings
	if s.Backup.Schedule == "" {
		return nil
	}
	times, err := schedule.Parse(s.Backup.Schedule)
	if err != nil {
		return fmt.Errorf("--backup-schedule: %w", err)
	}
	kind := n.api.Catalog().Stored(leases)
	if kind == nil {
		return fmt.Errorf("--backup-schedule: the API has no %s", leases)
	}
	to, err := schedule.ParseDestination(s.Backup.Dir)
	if err != nil {
		return fmt.Errorf("--backup-dir: %w", err)
	}
	n.schedule, err = schedule.New(schedule.Config{
		Node: s.Name, Schedule: times, Destination: to, Keep: s.Backup.Keep, KeepAge: s.Backup.KeepAge, Rate: s.Backup.Rate,
		Needed: n.neededForData, Leases: kind, Store: n.store, Begin: n.operations.Backup, Logger: n.logger, Registerer: n.registry,
	})
	return err
}

// neededForData returns how many bytes of the disk of the backups the data directory needs: none if
// it is on another one.
func (n *Node) neededForData() (int64, error) {
	data, err := device(n.cfg.Settings.DataDir)
	if err != nil {
		return 0, err
	}
	backups, err := device(n.cfg.Settings.Backup.Dir)
	if err != nil || backups != data {
		return 0, err
	}
	return n.store.DiskNeeded(), nil
}

// writeBackups runs the scheduled backups until ctx ends.
func (n *Node) writeBackups(ctx context.Context) error {
	if n.schedule == nil {
		return nil
	}
	return n.schedule.Run(ctx)
}
