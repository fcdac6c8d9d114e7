// Package budget bounds an amount that all clients of a node use together, such as the bytes of
// bodies, connections or streams, and how much of it one user and one address may have, so that
// nobody can take all of it.
//
//	pool := budget.New(budget.Config{Total: 256 << 20, PerUser: 64 << 20, PerAddress: 128 << 20})
//	holding := pool.Hold(user.Name, budget.AddressOf(r.RemoteAddr))
//	defer holding.Release()
//	if bound, ok := holding.Take(n); !ok { ... } // bound says what was reached
//
// A pool counts only users and addresses that have something of it at the moment, so it has at most
// as many of each as there are holdings, and needs no cleaning. Take and Release cost a constant
// time. The package has no goroutines.
package budget
