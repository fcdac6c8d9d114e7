package nemesis

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"quorate/chaos/nodes"
)

// IdleGroup is a group of related acts for a cluster without writes.
type IdleGroup struct {
	Name  string
	About string
	Acts  []Fault
}

// IdleGroups returns all groups. Their acts are faults that are injected one at a time.
func IdleGroups() []IdleGroup {
	return []IdleGroup{
		{"idle-operator", "no client writes, and the operator's commands are given: rightly, by mistake, and again", operatorActs()},
		{"idle-restarts", "no client writes, and nodes are restarted in every way", restartActs()},
		{"idle-leaders", "no client writes, and the leader changes in every way", leaderActs()},
	}
}

// unknownNode is a name that no node has.
const unknownNode = "no-such-node"

// operatorActs returns acts without a duration. Those that affect no node must not delay any read.
func operatorActs() []Fault {
	asks := []need{operating()}
	changes := []need{growing(), operating(), atLeast(3)}
	act := func(name, about string, do func(context.Context, *Injection) error) Fault {
		return Fault{Name: name, About: about, Survivable: true, needs: asks, inject: reserveNobody, lasts: do}
	}
	join := bounds()["join-leave"]
	return []Fault{
		act("members", "the members are listed, by every node", everywhereOnce(mustSucceed, "members")),
		act("remove-unknown", "a node is removed that there is not", once("remove", unknownNode)),
		act("remove-unknown-again", "the same is said again, to every node", everywhereOnce(mayFail, "remove", unknownNode)),
		act("snapshot", "every node writes a snapshot", everywhereOnce(mustSucceed, "snapshot")),
		act("snapshot-again", "the same, when nothing is new", everywhereOnce(mayFail, "snapshot")),
		act("backup", "every node is asked for a backup", everywhereOnce(mustSucceed, "backup", "-")),
		act("token-create", "a token is made", once("token", "create", "--user", "idle")),
		act("checksum", "the states are compared, which takes an entry of the log", once("checksum")),
		act("transfer-to-self", "leadership is handed to who has it", transferTo(leads)),
		act("transfer-to-unknown", "leadership is handed to a node that there is not", once("transfer-leader", unknownNode)),
		act("transfer-to-other", "leadership is handed to a follower", transferTo(follows)),
		act("transfer-to-any", "leadership is handed to the best voter", once("transfer-leader")),
		{
			Name: "remove-again", About: "a node that joined and was killed is removed, and once more", Survivable: true, Bound: join,
			needs: changes, inject: beginChange, lasts: removeAgain,
		},
		{
			Name: "leave-again", About: "a node that joined leaves, and an operator repeats the command", Survivable: true, Bound: join,
			needs: changes, inject: beginChange, lasts: leaveAgain,
		},
	}
}

func restartActs() []Fault {
	all := bounds()
	return append(faultsNamed("kill-follower", "kill-leader", "kill-all", "stop-leader", "rolling-restart"),
		Fault{
			Name: "stop-follower", About: "a follower is stopped in order, and started again", Survivable: true, Bound: all["kill-follower"],
			needs: outlived(stopping()), inject: stopFollower,
		},
		Fault{
			Name: "stop-all", About: "all nodes are stopped in order, and started again", Bound: all["kill-all"],
			needs: []need{stopping()}, inject: stopAll,
		},
	)
}

func leaderActs() []Fault {
	acts := faultsNamed("pause-leader", "isolate-leader", "one-way-leader", "kill-leader", "stop-leader")
	for _, act := range operatorActs() {
		if act.Name == "transfer-to-other" || act.Name == "transfer-to-any" {
			acts = append(acts, act)
		}
	}
	return acts
}

// faultsNamed returns existing faults by name.
func faultsNamed(names ...string) (named []Fault) {
	for _, f := range Faults() {
		if slices.Contains(names, f.Name) {
			named = append(named, f)
		}
	}
	return named
}

// mustSucceed and mayFail are the expected results of a command.
const (
	mustSucceed = true
	mayFail     = false
)

// once runs a command on one node. The command may fail; the reads show whether it had any effect.
func once(args ...string) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		return in.runOn(ctx, in.pick(in.n.names()), mayFail, args...)
	}
}

// everywhereOnce runs a command on one node after the other.
func everywhereOnce(must bool, args ...string) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		for _, name := range in.n.names() {
			if err := in.runOn(ctx, name, must, args...); err != nil {
				return err
			}
		}
		return nil
	}
}

// runOn runs a command on a node and records if it failed. The failure of a command that must
// succeed is NotRecovered.
func (in *Injection) runOn(ctx context.Context, name string, must bool, args ...string) error {
	err := in.operateAt(ctx, name, args...)
	switch {
	case err == nil:
		in.notes("%s by %s: done", args[0], name)
	case ctx.Err() != nil:
		return ctx.Err()
	case must:
		return &NotRecovered{Fault: in.fault.Name, What: "the command is carried out", Err: err}
	default:
		in.notes("%s by %s: %s", args[0], name, strings.TrimSpace(err.Error()))
	}
	return nil
}

// leads and follows select the node to transfer leadership to.
func leads(_ *Injection, leader string) string    { return leader }
func follows(in *Injection, leader string) string { return in.pick(in.others(leader)) }

func transferTo(whom func(in *Injection, leader string) string) func(context.Context, *Injection) error {
	return func(ctx context.Context, in *Injection) error {
		leader, err := in.leader(ctx)
		if err != nil {
			return err
		}
		return in.runOn(ctx, in.pick(in.n.names()), mayFail, "transfer-leader", whom(in, leader))
	}
}

func stopFollower(ctx context.Context, in *Injection) error {
	target, err := in.reserveFollower(ctx)
	if err != nil {
		return err
	}
	return in.stopNode(ctx, target)
}

func stopAll(ctx context.Context, in *Injection) error {
	targets, err := in.reserveAll(ctx)
	if err != nil {
		return err
	}
	for _, name := range targets {
		if err := in.stopNode(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func removeAgain(ctx context.Context, in *Injection) error {
	name, err := in.join(ctx, true)
	if err != nil {
		return err
	}
	if err := in.killLeaving(ctx, name); err != nil {
		return err
	}
	if err := in.remove(ctx, name); err != nil {
		return err
	}
	for range 2 {
		if err := in.runOn(ctx, in.pick(in.others(name)), mayFail, "remove", name); err != nil {
			return err
		}
	}
	return in.forget(ctx, name)
}

// leaveTimeout limits the time in which a node that has left must stop.
const leaveTimeout = time.Minute

func leaveAgain(ctx context.Context, in *Injection) error {
	operator, has := nodes.As[nodes.Operator](in.n.Fleet)
	if !has {
		return fmt.Errorf("leave: %s", operating().what)
	}
	name, err := in.join(ctx, true)
	if err != nil {
		return err
	}
	in.change.leaving = append(in.change.leaving, name)
	for range 3 { // the last ones may find that the node has left
		bounded, cancel := context.WithTimeout(ctx, leaveTimeout)
		_, err := operator.Operate(bounded, name, "leave")
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		in.notes("leave by %s: %s", name, strings.TrimSpace(fmt.Sprint(err)))
	}
	if err := in.await(ctx, "node "+name+" has left", func(ctx context.Context) error { return in.n.absent(ctx, name) }); err != nil {
		return err
	}
	return in.forget(ctx, name)
}
