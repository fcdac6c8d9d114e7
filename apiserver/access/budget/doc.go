// Package budget bounds an amount that all clients of a node use together, such as bytes of bodies,
// connections or streams. It also bounds the part that one user or one address may use, so that no
// client can use all of it. A Pool refuses what exceeds a bound; a Queue lets it wait.
//
//	pool := budget.New(budget.Config{Total: 256 << 20, PerUser: 64 << 20, PerAddress: 128 << 20})
//	holding := pool.Hold(user.Name, addresskey.Of(r.RemoteAddr))
//	defer holding.Release()
//	if bound, ok := holding.Take(n); !ok { ... } // bound says which bound was reached
//
// A pool counts only the users and addresses that use some of it at the moment, so it has at most
// as many counters of each as there are holdings, and needs no cleanup. Its Take and Release take
// constant time. The package has no goroutines.
package budget
