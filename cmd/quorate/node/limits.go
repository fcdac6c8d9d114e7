package node

import (
	"quorate/apiserver"
	"quorate/cmd/quorate/settings"
)

// limits returns the bounds that the flags ask for.
func limits(api settings.API) apiserver.Limits {
	l := api.Limits
	failures := l.AuthFailureRate
	if failures == 0 {
		failures = -1 // no bound, while 0 is the default
	}
	return apiserver.Limits{
		Reads: api.MaxRequests, Writes: api.MaxRequests, Watches: l.Watches, Connections: l.Connections,
		Shares: apiserver.Shares{
			ConnectionsPerAddress: l.ConnectionsPerAddress,
			WatchesPerUser:        l.WatchesPerUser, WatchesPerAddress: l.WatchesPerAddress,
			RequestsPerUser: l.RequestsPerUser, RequestRate: l.RequestRate, AuthFailureRate: failures,
		},
	}
}
