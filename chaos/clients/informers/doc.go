// Package informers tests stock shared informers on a cluster whose leaders are killed. It runs
// many informers, each with its own client. Every informer must see each change once and in order,
// and none may have to list again.
package informers
