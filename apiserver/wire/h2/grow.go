package h2

// stackBytes is the stack that a request's handler needs at least.
const stackBytes = 7 << 10

// growStack makes the stack of the calling goroutine large enough for a handler while it is nearly
// empty. Otherwise the runtime would grow it in the midst of the request, and adjust each frame.
//
//go:noinline
func growStack(i int) byte {
	var room [stackBytes]byte
	return room[i]
}
