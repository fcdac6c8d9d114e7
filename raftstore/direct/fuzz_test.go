package direct

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"quorate/proto/peerpb"
)

// Whatever a peer sends, the server neither panics nor allocates more than it was sent.
func FuzzCalls(f *testing.F) {
	call := append(make([]byte, 16), byte(len(peerpb.Store_ReadIndex_FullMethodName)))
	call = append(call, peerpb.Store_ReadIndex_FullMethodName...)
	f.Add(frameOf(kindCall, call))
	f.Add(frameOf(kindCall, call[:10]))
	f.Add(frameOf(kindPing, nil))
	f.Add([]byte{255, 255, 255, 255, byte(kindCall)})
	f.Fuzz(func(t *testing.T, sent []byte) {
		server := newServer(service{readIndex: echo, writes: func(stream peerpb.Store_WritesServer) error {
			_, err := stream.Recv()
			return err
		}})
		for _, serve := range []func(context.Context, *framed){server.serveCalls, server.serveStream} {
			client, conn := net.Pipe()
			done := make(chan struct{})
			go func() {
				serve(context.Background(), newFramed(conn))
				conn.Close()
				close(done)
			}()
			go io.Copy(io.Discard, client) // ends with the connection
			_, _ = client.Write(sent)      // fails when the server has closed the connection
			client.Close()
			<-done
		}
	})
}

func frameOf(k kind, content []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(content)+1))
	return append(append(b, byte(k)), content...)
}
