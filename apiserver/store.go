package apiserver

import (
	"quorate/apiserver/controllers/lifecycle"
	"quorate/apiserver/controllers/thirdparty"
	"quorate/apiserver/rest"
	"quorate/raftstore"
)

// Store is the replicated store as the server sees it; raftstore.Store is one.
type Store interface {
	rest.Store
	lifecycle.Store
	thirdparty.Store
	// Ready says why this node is not ready to serve, or nil: it has a leader and has caught up.
	Ready() error
	// Alarms returns the active alarms of this node and, as far as it knows, of others.
	Alarms() []raftstore.Alarm
}
