package apiserver

import (
	"quorate/apiserver/admin"
	"quorate/apiserver/controllers/custom"
	"quorate/apiserver/controllers/lifecycle"
	"quorate/apiserver/rates"
	"quorate/apiserver/rest"
	"quorate/raftstore"
)

// Store is the replicated store as the server sees it; raftstore.Store is one.
type Store interface {
	rest.Store
	lifecycle.Store
	custom.Store
	admin.Log
	rates.Store
	// Ready returns nil if this node has a leader and has caught up, and otherwise why it is not
	// ready.
	Ready() error
	// Alarms returns the active alarms of this node and, as far as it knows, of others.
	Alarms() []raftstore.Alarm
}
