package failover_test

import (
	"context"
	"fmt"
	"net"

	"quorate/chaos/clients/internal/failover"
)

// The first of two nodes is gone, so that the connection leads to the second. In use the function
// is the Dial of a rest.Config, and localhost its TLSClientConfig.ServerName.
func ExampleDial() {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	gone.Close()
	node, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer node.Close()

	dial := failover.Dial(gone.Addr().String(), node.Addr().String())
	conn, err := dial(context.Background(), "tcp", "n1:6443")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	fmt.Println(conn.RemoteAddr().String() == node.Addr().String())
	// Output: true
}
