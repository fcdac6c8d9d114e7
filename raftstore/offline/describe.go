package offline

import (
	"fmt"
	"strings"

	"github.com/hashicorp/raft"

	"quorate/raftstore/fsm"
	"quorate/raftstore/state"
)

// describe describes an entry: what it does to which object, without the content.
func describe(entry *raft.Log) Entry {
	e := Entry{Index: entry.Index, Term: entry.Term, Time: entry.AppendedAt, Bytes: len(entry.Data)}
	switch entry.Type {
	case raft.LogCommand:
		e.What = command(entry.Data)
	case raft.LogConfiguration:
		e.What = configuration(entry.Data)
	default:
		e.What = strings.ToLower(strings.TrimPrefix(entry.Type.String(), "Log"))
	}
	return e
}

func configuration(data []byte) string {
	members, err := decodeMembers(data)
	if err != nil {
		return "unknown: " + err.Error()
	}
	var names []string
	for _, s := range members.Servers {
		names = append(names, fmt.Sprintf("%s (%s)", s.ID, strings.ToLower(s.Suffrage.String())))
	}
	return "members " + strings.Join(names, ", ")
}

func command(data []byte) string {
	entry, err := fsm.Decode(data)
	if err != nil {
		return "not known to this build: " + err.Error()
	}
	switch entry.Op() {
	case fsm.OpInit:
		return "init cluster " + entry.ClusterID()
	case fsm.OpPin:
		return "pin"
	}
	p := entry.Precondition()
	switch entry.Op() {
	case fsm.OpUpdate:
		return fmt.Sprintf("update %s at version %d", describeKey(p.Key), p.Version)
	case fsm.OpDelete:
		return fmt.Sprintf("delete %s at version %d", describeKey(p.Key), p.Version)
	default:
		return "create " + describeKey(p.Key)
	}
}

func describeKey(k state.Key) string {
	resource, namespace, name := k.Split()
	if namespace == "" {
		return resource + " " + name
	}
	return resource + " " + namespace + "/" + name
}
