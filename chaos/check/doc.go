// Package check judges a recorded history. All is a pure function from what clients and watchers were told to a Verdict: how often each
// promise of design.md §5 was broken, with samples; none means that it held.
//
// The watchers together tell a timeline: every change by version, each caused by one write, also by those whose clients weren't told.
// Since versions are the order in which things happened, most is then a comparison: each watcher, each list and each final state with
// the timeline. Whether quorum operations are linearizable is decided by a sweep through time (sweep.go), which looks for a moment for
// each of them, so that changes happen in the order of their versions and each answer fits the state of its moment. Porcupine confirms
// those moments by its own model of a key (model.go); where the timeline isn't sure it searches for an order by itself.
//
// Times are of one clock. An operation has its effect between Invoked and Answered, ends included, or, if its client wasn't told, at any
// time after Invoked; an event has happened when it Arrived. Nothing else is taken for granted, and what can't be judged is said.
package check
