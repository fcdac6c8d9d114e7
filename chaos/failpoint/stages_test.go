package failpoint_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quorate/chaos/client"
	"quorate/chaos/failpoint"
)

// underLoad writes through all nodes until the leader, or a follower, has ended at a point. It
// returns that node.
func (c *trio) underLoad(l *ledger, point string, leads bool) *server {
	terms := fmt.Sprintf("%d*off->%s", handful, failpoint.Kill)
	target := c.leader()
	if !leads {
		target = c.followers(target)[0]
	}
	target.arm(point, terms)
	l.write(func() bool {
		if now := c.leading(); leads && now != nil && now != target && !target.gone() { // it leads no longer
			if target.arm(point, ""); !target.gone() { // it didn't end meanwhile
				target = now
				target.arm(point, terms)
			}
		}
		return target.gone()
	}, clients(c.nodes...)...)
	return target
}

// serving ends the node that leads while others write and read through it.
func serving(t *testing.T, points []string) {
	c, l := newTrio(t), newLedger(t)
	c.each(t, l, append(points, stages()[failpoint.Writing]...), func(point string) *server { return c.underLoad(l, point, true) })
}

// forwarding ends a node that follows.
func forwarding(t *testing.T, points []string) {
	c, l := newTrio(t, "--timeout-scale", "1"), newLedger(t) // who follows is to go on following, also on a slow machine
	c.each(t, l, append(points, "logBeforeSync", "logAfterSync", "applyBeforePublish", "answerBefore"), func(point string) *server {
		return c.underLoad(l, point, false)
	})
}

// transferring ends the node that hands leadership over.
func transferring(t *testing.T, points []string) {
	c, l := newTrio(t, "--timeout-scale", "1"), newLedger(t) // the leader must lead until the transfer
	c.each(t, l, points, func(point string) *server {
		leader := c.leader()
		l.some(handful, clients(c.nodes...)...)
		leader.arm(point, failpoint.Kill)
		leader.command(nil, "transfer-leader") // which fails, as the node ends
		return leader
	})
}

// rejoining ends a node that finds its log overruled.
func rejoining(t *testing.T, points []string) {
	// With longer timeouts there is time for a write that nobody else gets.
	c, l := newTrio(t, "--log-age", minLogAge.String(), "--timeout-scale", "1"), newLedger(t)
	rounds := 0
	c.each(t, l, points, func(point string) *server {
		rounds++
		l.some(handful, clients(c.nodes...)...)
		if strings.HasSuffix(point, "Reset") {
			return c.leftBehind(l, point, time.Duration(rounds)*2*minLogAge)
		}
		return c.overruled(l, point)
	})
}

// overruled has a leader alone write to its log what the others never see, and then find out.
func (c *trio) overruled(l *ledger, point string) *server {
	leader := c.leader()
	others := c.followers(leader)
	for _, n := range others { // both at once: soon the leader notices, and takes no more
		if err := n.process.cmd.Process.Kill(); err != nil {
			c.t.Fatal(err)
		}
	}
	o := client.Object{Name: "overruled-" + strings.ToLower(point)}
	for range handful { // until one was proposed before that
		l.store(c.t.Context(), leader.client, &o, "by "+leader.name)
		if _, doubtful := l.maybe[o.Name]; doubtful {
			break
		}
	}
	for _, n := range others {
		n.kill() // waits until it is gone
	}
	leader.kill()
	for _, n := range others {
		n.start(nil)
	}
	for _, n := range others {
		if !n.awaitReady() {
			c.t.Fatalf("%s ended", n.name)
		}
	}
	l.some(handful, clients(others...)...)
	leader.start(kill(point))
	return leader
}

// leftBehind has a node miss more than the others keep in their logs, so that it is sent a
// snapshot.
func (c *trio) leftBehind(l *ledger, point string, clock time.Duration) *server {
	behind := c.followers(c.leader())[0]
	behind.kill()
	others := c.followers(behind)
	missed := 0.0 // an index that it does not have
	for _, n := range others {
		_, last := n.logSpan()
		missed = max(missed, last+1)
	}
	l.some(trimmed, clients(others...)...)
	for _, n := range others {
		n.moveClock(clock)
	}
	for _, n := range others {
		await(c.t, n.name+" to keep less than "+behind.name+" misses", func() bool {
			n.command(nil, "snapshot") // there may be nothing new to take one of
			l.some(handful, clients(others...)...)
			first, _ := n.logSpan()
			return first > missed
		})
	}
	behind.start(kill(point))
	await(c.t, behind.name+" to be sent a snapshot", behind.gone)
	return behind
}

// changing ends the node that leads while another one is removed, and comes back as a new one.
func changing(t *testing.T, points []string) {
	c, l := newTrio(t), newLedger(t)
	for _, point := range points {
		if !t.Run(point, func(t *testing.T) {
			c, l := c.in(t), l.in(t)
			c.change(point)
			c.verify(l)
		}) {
			return // the nodes may be in any state
		}
	}
	c.in(t).agree()
}

// change ends whoever leads at a point, on the way to a member that was replaced.
func (c *trio) change(point string) {
	c.t.Helper()
	leaver := c.followers(c.leader())[0]
	leaver.kill()
	var armed []*server
	var dead *server
	await(c.t, "a leader to be killed at "+point, func() bool {
		if i := slices.IndexFunc(armed, (*server).gone); i >= 0 {
			dead = armed[i]
			return true
		}
		if leader := c.leading(); leader != nil {
			leader.arm(point, failpoint.Kill)
			armed = append(armed, leader)
			c.replace(leaver, leader)
		}
		return false
	})
	dead.awaitKilled(point)
	dead.run()
	for _, n := range armed {
		n.arm(point, "")
	}
	await(c.t, leaver.name+" to be replaced", func() bool {
		if leader := c.leading(); leader != nil {
			c.replace(leaver, leader)
		}
		return !leaver.gone() && leaver.client.Ready(c.t.Context())
	})
	c.awaitReady()
	c.awaitVoters()
}

// replace has an operator remove a member that is gone, and then starts a node with an empty data
// directory under its name.
func (c *trio) replace(leaver, leader *server) {
	if !leaver.gone() {
		return
	}
	switch roles := c.members(); {
	case roles[leaver.name] != "":
		leader.command(nil, "remove", leaver.name) // which fails when the leader ends
	case len(roles) > 0:
		leaver.renew() // which the cluster refuses until all have heard that the name is free
	}
}
