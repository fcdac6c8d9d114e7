// Package failover lets a stock client go on with another node when its own is gone.
//
// Every node takes every request, so that all a client needs is a connection to any of them. A
// client-go configuration has one server address; what it dials may be another:
//
//	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
//	config.Dial = failover.Dial("n1:6443", "n2:6443", "n3:6443")
//	config.TLSClientConfig.ServerName = "localhost" // which every node's certificate names
//
// A name with an address record for each node does the same without any code: Go dials the
// addresses of a name one after the other. So does a balancer that passes connections on, as they
// are, to nodes whose /readyz answers.
package failover

import (
	"context"
	"errors"
	"net"
	"time"
)

// dialTimeout bounds how long one node is tried: a machine that is gone does not even refuse.
const dialTimeout = 3 * time.Second

// Dial returns what connects to the first of the addresses, host:port each, that accepts, whatever
// address it is given. It goes into rest.Config.Dial. A connection that breaks is no concern of it:
// the client dials again then.
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
