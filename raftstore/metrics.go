package raftstore

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"
)

// registerGauges registers the metrics that are read from the store at each scrape; each part of
// the store has metrics of its own. Raft must run.
func (s *Store) registerGauges(reg prometheus.Registerer) {
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_applied_index",
			Help: "Index of the last entry applied.",
		}, func() float64 { return float64(s.Applied()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_commit_index",
			Help: "Index of the last entry known to be committed.",
		}, func() float64 { return float64(s.raft.CommitIndex()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_last_index",
			Help: "Index of the last entry in the log.",
		}, func() float64 { return float64(s.raft.LastIndex()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_term",
			Help: "Term that this node is in.",
		}, func() float64 { return float64(s.raft.CurrentTerm()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_leader",
			Help: "1 while this node leads.",
		}, func() float64 { return indicator(s.IsLeader()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_ready",
			Help: "1 while this node is ready to serve.",
		}, func() float64 { return indicator(s.Ready() == nil) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_voters",
			Help: "Voters in the latest configuration.",
		}, func() float64 { return float64(s.members.Voters()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_proposals",
			Help: "Proposals whose outcome Raft has not reported yet.",
		}, func() float64 { return float64(s.writer.Proposals()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_apply_waiting",
			Help: "Requests waiting for this node to apply an entry.",
		}, func() float64 { return float64(s.applied.Waiting()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_disk_free_bytes",
			Help: "Free space on the disk of the data directory.",
		}, func() float64 {
			if free, known := s.space.Free(); known {
				return float64(free)
			}
			return math.NaN()
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_objects",
			Help: "Objects stored.",
		}, func() float64 { return float64(s.root().Len()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "quorate_raftstore_object_bytes",
			Help: "Memory used by the objects.",
		}, func() float64 { return float64(s.root().Bytes()) }),
	)
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
