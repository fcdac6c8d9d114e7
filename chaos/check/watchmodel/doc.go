// Package watchmodel judges watches of every shape against a model of what they must deliver.
//
// Judge is a pure function from a Record to a Verdict. It works in three steps:
//
//  1. It builds the event log of each resource from the reference watches, which select nothing and
//     run against every node. The log is checked against itself (each reference tells the same),
//     by replaying it (each event must have the type that the object's state requires), and against
//     the writes (each acknowledged write is in the log with the version its client got, and each
//     event of a namespace of the run has a write that explains it).
//  2. It replays the log for each judged watch: the selection is evaluated on the object before and
//     after each change, by this package's own matcher, which gives the exact sequence of types,
//     versions and contents that the watch must deliver.
//  3. It compares that sequence with what arrived, up to the last event or bookmark of each stream,
//     and at the end of the run up to the last write.
//
// The log is only as complete as the references. What lies beyond the version that they cover
// together is not judged, and counted as such.
package watchmodel
