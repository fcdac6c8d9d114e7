// Package failover lets a stock client continue with another node after its node has failed.
//
// Every node accepts every request, so a client needs a connection to any one of them. A client-go
// configuration has one server address, but its Dial function may connect to another:
//
//	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
//	...
//	config.Dial = failover.Dial("n1:6443", "n2:6443", "n3:6443")
//	config.TLSClientConfig.ServerName = "localhost" // which every node's certificate names
//
// Two alternatives need no code: a host name with an address record for each node, because Go dials
// the addresses of a name one after the other, and a load balancer that forwards TCP connections to
// nodes whose /readyz succeeds.
package failover

import (
	"context"
	"errors"
	"net"
	"time"
)

// dialTimeout bounds the attempt to connect to one node: a machine that is down does not refuse
// connections.
const dialTimeout = 3 * time.Second

// Dial returns a function for rest.Config.Dial. The function ignores its address argument and
// connects to the first of the given addresses, each host:port, that accepts a connection. If none
// does, it returns the errors of all attempts. When a connection breaks later, the client has to
// dial again.
func Dial(addresses ...string) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var errs []error
		for _, address := range addresses {
			conn, err := dialer.DialContext(ctx, network, address)
			if err == nil {
				return conn, nil
			}
			errs = append(errs, err)
		}
		return nil, errors.Join(errs...)
	}
}
