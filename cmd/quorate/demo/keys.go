package demo

import (
	"errors"
	"slices"

	"quorate/apiserver/admin"
)

// Keys that a terminal in raw mode sends instead of signals.
const (
	ctrlC = 3
	ctrlD = 4
)

// keysHelp describes the keys.
const keysHelp = "1-7 kill that node, or start it again   l kill the leader   r restart all that are down   a add a node   q quit"

// press carries out a key, and returns whether it ends the demo.
func (d *demo) press(key byte) (quit bool, err error) {
	switch {
	case key == 'q' || key == ctrlC || key == ctrlD:
		return true, nil
	case key == 'l':
		return false, d.killLeader()
	case key == 'r':
		return false, d.restart()
	case key == 'a':
		return false, d.add()
	case key >= '1' && int(key-'1') < len(d.nodes.all):
		return false, d.toggle(d.nodes.all[key-'1'])
	}
	return false, nil
}

// toggle kills a node that runs, and starts one that does not.
func (d *demo) toggle(one *node) error {
	switch {
	case one.process == nil:
		return d.start(one, "started again")
	case one.killed:
		return nil // its exit is still to come
	}
	d.event("%s killed by SIGKILL", one.name)
	return d.nodes.kill(one)
}

func (d *demo) killLeader() error {
	leader := admin.QuorumOf(d.members).Leader
	i := slices.IndexFunc(d.nodes.all, func(one *node) bool { return one.name == leader })
	if i < 0 || d.nodes.all[i].process == nil {
		d.event("no leader is known: try again when one is elected")
		return nil
	}
	return d.toggle(d.nodes.all[i])
}

func (d *demo) restart() (err error) {
	for _, one := range d.nodes.all {
		if one.process == nil {
			err = errors.Join(err, d.toggle(one))
		}
	}
	return err
}

// add starts a further node, which joins as a non-voter and becomes a voter once it has caught up.
func (d *demo) add() error {
	if len(d.nodes.all) == maxNodes {
		d.event("a demo has at most %d nodes", maxNodes)
		return nil
	}
	if err := d.nodes.name(false); err != nil {
		return err
	}
	return d.start(d.nodes.all[len(d.nodes.all)-1], "added")
}

// start starts a node, and announces it with the verb.
func (d *demo) start(one *node, verb string) error {
	if err := d.nodes.start(one); err != nil {
		return err
	}
	d.event("%s %s, process %d, https://%s", one.name, verb, one.process.Pid, one.api)
	return nil
}
