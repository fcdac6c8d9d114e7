// Package watchmodel judges watches of every shape against a model of what they must deliver.
//
// Judge is a pure function from a Record to a Verdict. It works in three steps:
//
//  1. It builds the event log of each resource from the reference watches, which select
//     everything. It checks the log for consistency (all references report the same events), by
//     replaying it (each event must have the type that the object's state requires), and against
//     the writes (each acknowledged write is in the log with the version that its client received,
//     and a write explains each event in a namespace of the run).
//  2. It replays the log for each judged watch. This package's own matcher evaluates the selection
//     on the object before and after each change, which gives the exact sequence of types,
//     versions and contents that the watch must deliver.
//  3. It compares that sequence with the events that arrived, up to the last event or bookmark of
//     each stream, and at the end of the run up to the last write.
//
// The log has no gap up to the version until which at least one reference was always watching.
// Judge counts events beyond that version instead of judging them.
package watchmodel
