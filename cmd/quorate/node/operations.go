package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"quorate/apiserver/admin"
	"quorate/cluster"
	"quorate/raftstore"
	"quorate/raftstore/backup"
)

// maxBackups bounds concurrent backups: each keeps the objects that are replaced during the backup
// in memory.
const maxBackups = 2

// operations implements the operator's commands for the API. It is created before the cluster,
// which needs the API's address.
type operations struct {
	name, build string
	metrics     *metrics
	backups     chan struct{} // holds one value for each running backup

	cluster *cluster.Cluster
	store   *raftstore.Store
	// stop ends the node. Run sets it.
	stop func()
}

func newOperations(cfg Config, m *metrics) *operations {
	return &operations{
		name: cfg.Settings.Name, build: cfg.Build.Version, metrics: m, backups: make(chan struct{}, maxBackups),
	}
}

// Members implements admin.Cluster.
func (o *operations) Members(ctx context.Context) ([]admin.Member, error) {
	members, err := o.cluster.Members(ctx)
	if err != nil {
		return nil, err
	}
	var last uint64 // of the leader's log
	for _, m := range members {
		if m.Role == cluster.Leader && m.Report != nil {
			last = m.Report.LastIndex
		}
	}
	all := make([]admin.Member, len(members))
	for i, m := range members {
		all[i] = admin.Member{
			Name: m.Name, APIAddr: m.APIAddr, PeerAddr: m.PeerAddr, Role: string(m.Role), Alarms: []admin.Alarm{},
		}
		switch {
		case m.Report != nil:
			addReport(&all[i], m.Report, last)
		case !m.Alive:
			all[i].Alive = new(false)
		}
		for _, a := range m.Alarms {
			all[i].Alarms = append(all[i].Alarms, admin.Alarm{Name: string(a.Name), Message: a.Message, Advice: a.Name.Advice()})
		}
	}
	return all, nil
}

// addReport adds what a member responded. last is the last index of the leader's log, 0 if unknown.
func addReport(m *admin.Member, r *cluster.Report, last uint64) {
	m.Alive = new(true)
	m.AppliedIndex, m.LastIndex, m.Term = &r.AppliedIndex, &r.LastIndex, &r.Term
	m.FirstIndex, m.CommitIndex, m.SnapshotIndex = positive(r.FirstIndex), positive(r.CommitIndex), positive(r.SnapshotIndex)
	m.Version, m.DiskFreeBytes = &r.Build, r.DiskFree
	if r.LastContact >= 0 {
		m.LastContactSeconds = new(r.LastContact.Seconds())
	}
	if last > 0 {
		m.Lag = new(last - min(last, r.AppliedIndex))
	}
}

// positive returns nil for 0, the index of no entry.
func positive(index uint64) *uint64 {
	if index == 0 {
		return nil
	}
	return &index
}

// Leave implements admin.Cluster. The node stops once it has left; the shutdown finishes requests
// first, this one included.
func (o *operations) Leave(ctx context.Context) error {
	if err := o.cluster.Leave(ctx); err != nil {
		return forOperator(ctx, "", err)
	}
	o.stop()
	return nil
}

// TransferLeadership implements admin.Cluster.
func (o *operations) TransferLeadership(ctx context.Context, name string) (string, error) {
	leader, err := o.cluster.TransferLeader(ctx, name)
	return leader, forOperator(ctx, name, err)
}

// Remove implements admin.Cluster. A member that is removed while it runs loses its data directory
// for good and may lead, so the usual way for it is to leave.
func (o *operations) Remove(ctx context.Context, name string, force bool) error {
	if err := o.store.Refuse(); err != nil {
		return err // without asking the member, which may take seconds to be silent
	}
	if !force && o.cluster.Responds(ctx, name) {
		return &admin.Refused{Reason: fmt.Sprintf(
			"%s is alive, and remove is for dead members: run quorate leave on it, or give --force to remove it nevertheless", name)}
	}
	return forOperator(ctx, name, o.cluster.Remove(ctx, name))
}

// Snapshot implements admin.Cluster.
func (o *operations) Snapshot(ctx context.Context) (admin.Snapshot, error) {
	id, index, err := o.cluster.Snapshot()
	if err != nil {
		return admin.Snapshot{}, forOperator(ctx, "", err)
	}
	return admin.Snapshot{ID: id, Index: index}, nil
}

// Checksums implements admin.Cluster.
func (o *operations) Checksums(ctx context.Context) (admin.Checksums, error) {
	c, err := o.store.CompareChecksums(ctx)
	if err != nil {
		return admin.Checksums{}, err
	}
	answer := admin.Checksums{Index: c.Index, Diverged: c.Diverged()}
	for _, n := range c.Nodes {
		sum := admin.Checksum{Name: n.Name}
		if n.Err != nil {
			sum.Problem = n.Err.Error()
		} else {
			sum.Checksum = fmt.Sprintf("%016x", n.Sum)
		}
		answer.Nodes = append(answer.Nodes, sum)
	}
	return answer, nil
}

// Backup implements admin.Cluster.
func (o *operations) Backup(ctx context.Context) (func(io.Writer) error, error) {
	select {
	case o.backups <- struct{}{}:
	default:
		o.metrics.backups.WithLabelValues("refused").Inc()
		return nil, &admin.Refused{Reason: fmt.Sprintf("this node is writing %d backups already: wait for one to end, or ask another node", maxBackups)}
	}
	root, err := o.store.View(ctx, raftstore.Quorum())
	if err != nil {
		<-o.backups
		o.metrics.backups.WithLabelValues("failed").Inc()
		return nil, err
	}
	header := backup.Header{Time: time.Now(), Node: o.name, Build: o.build}
	return func(w io.Writer) error {
		defer func() { <-o.backups }()
		result := "written"
		err := backup.Write(w, root, header)
		if err != nil {
			result = "failed"
		}
		o.metrics.backups.WithLabelValues(result).Inc()
		return err
	}, nil
}

// forOperator translates an error about a member into one that the API returns: whether to try
// again, or why it is impossible.
func forOperator(ctx context.Context, name string, err error) error {
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case errors.Is(err, raftstore.ErrUnavailable):
		return err
	case errors.Is(err, cluster.ErrUnknownMember):
		return &admin.Refused{Reason: fmt.Sprintf("no member is called %q", name)}
	case errors.Is(err, cluster.ErrUnavailable):
		return fmt.Errorf("%w: %w", raftstore.ErrUnavailable, err)
	}
	return &admin.Refused{Reason: err.Error()}
}
