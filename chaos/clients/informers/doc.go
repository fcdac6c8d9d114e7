// Package informers tests stock shared informers on a cluster whose leaders are killed: a crowd of
// them, each a client of its own, must see every change once and in order, and none may ever have
// to list again.
package informers
