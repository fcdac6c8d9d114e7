package direct

import "time"

const (
	// pingInterval is the silence of a stream after which the client sends a ping, and pingTimeout
	// the time that the server has to respond.
	pingInterval = 5 * time.Second
	pingTimeout  = 5 * time.Second
	// callSilence is the time without a response to any call after which a connection is given up:
	// its packets may be lost, and TCP repeats them ever less often.
	callSilence = 5 * time.Second
	// silence is the time without a frame after which the server takes the client of a stream for
	// dead.
	silence = 4 * pingInterval
	// idleTimeout is the time without a call after which the server closes a connection for calls.
	idleTimeout = 5 * time.Minute
	// bodyTimeout bounds the time between the first and the last byte of a frame.
	bodyTimeout = 30 * time.Second
	// writeTimeout bounds the write of a frame.
	writeTimeout = 10 * time.Second
	// openTimeout bounds the wait for the first frame of a stream.
	openTimeout = 5 * time.Second
	// fallbackTime is how long a peer without the protocol is served by gRPC before it is tried
	// again. It may have been upgraded meanwhile.
	fallbackTime = time.Minute
)
