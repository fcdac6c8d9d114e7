package check

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/history"
)

// Service is a service that a cluster or a node provides to clients.
type Service string

// The services.
const (
	Writes      Service = "writes"
	QuorumReads Service = "quorum reads"
	CachedReads Service = "cached reads"
)

// minOutage is the length below which an outage is ignored: on a busy machine any request may take
// that long.
const minOutage = 500 * time.Millisecond

// Outage is a period in which requests were made and none succeeded.
type Outage struct {
	Service Service       `json:"service"`
	Node    string        `json:"node,omitempty"` // that was asked; "" for writes, which any node may serve
	From    time.Duration `json:"from"`
	To      time.Duration `json:"to"`
}

// Length returns the length of the outage.
func (o Outage) Length() time.Duration { return o.To - o.From }

// String describes the service and the node.
func (o Outage) String() string {
	if o.Node == "" {
		return string(o.Service)
	}
	return fmt.Sprintf("%s on %s", o.Service, o.Node)
}

// Refusal is the longest outage of a service, with the permitted length.
type Refusal struct {
	Service Service       `json:"service"`
	Node    string        `json:"node,omitempty"`
	Longest time.Duration `json:"longest"`
	Allowed time.Duration `json:"allowed"`
}

// attempt is one request for a service.
type attempt struct {
	invoked, answered time.Duration
	served            bool
}

type server struct {
	service Service
	node    string
}

// served compares every outage with the permitted length. It returns all outages, and the longest
// one of each service of each node.
func served(
	r *history.Record, ops []*history.Op, allowed func(Outage) time.Duration, found findings,
) (longest []Refusal, every []Outage) {
	if allowed == nil {
		return nil, nil
	}
	all := attempts(r, ops)
	servers := make([]server, 0, len(all))
	for s := range all {
		servers = append(servers, s)
	}
	slices.SortFunc(servers, func(a, b server) int {
		return cmp.Or(-cmp.Compare(a.service, b.service), cmp.Compare(a.node, b.node))
	})
	for _, s := range servers {
		worst := Refusal{Service: s.service, Node: s.node}
		worst.Allowed = allowed(Outage{Service: s.service, Node: s.node})
		for _, o := range s.outages(all[s]) {
			most := allowed(o)
			every = append(every, o)
			if o.Length() > most {
				found.add(Served, "%s were refused for %v, from %v to %v; %v is allowed",
					o, o.Length().Round(time.Millisecond), o.From.Round(time.Millisecond), o.To.Round(time.Millisecond), most)
			}
			if o.Length() > worst.Longest {
				worst.Longest, worst.Allowed = o.Length(), most
			}
		}
		longest = append(longest, worst)
	}
	return longest, every
}

// attempts returns all requests by the server that should have served them. A write that came too
// late was neither served nor refused.
func attempts(r *history.Record, ops []*history.Op) map[server][]attempt {
	all := map[server][]attempt{}
	add := func(kind history.Kind, node string, a attempt) {
		s := server{CachedReads, node}
		switch {
		case kind.IsWrite():
			s = server{Writes, ""}
		case isQuorumRead(kind):
			s.service = QuorumReads
		}
		all[s] = append(all[s], a)
	}
	for _, op := range ops {
		if answered(op) || op.Outcome == client.Unknown {
			add(op.Kind, op.Node, attempt{op.Invoked, op.Answered, answered(op)})
		}
	}
	for _, f := range r.Failures {
		add(f.Kind, f.Node, attempt{f.Invoked, f.Answered, false})
	}
	return all
}

// outages returns the periods between two successful responses. An outage begins with the first
// failed request, or with the next successful one.
func (s server) outages(attempts []attempt) (outages []Outage) {
	slices.SortFunc(attempts, func(a, b attempt) int { return cmp.Compare(a.answered, b.answered) })
	var last time.Duration // when a request was served
	end := func(at time.Duration) {
		if at-last < minOutage {
			return
		}
		from := at
		for _, a := range attempts {
			if a.answered > last && a.invoked < at {
				from = min(from, max(a.invoked, last))
			}
		}
		if at-from >= minOutage {
			outages = append(outages, Outage{s.service, s.node, from, at})
		}
	}
	for _, a := range attempts {
		if a.served {
			end(a.answered)
			last = a.answered
		}
	}
	if n := len(attempts); n > 0 && !attempts[n-1].served {
		end(attempts[n-1].answered)
	}
	return outages
}
