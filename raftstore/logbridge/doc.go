// Package logbridge lets libraries that log through hclog or the standard logger write to slog:
// Raft and memberlist.
//
// Levels map one to one (trace to below debug). A library's info line is often noise to an
// operator, so a bridge can shift info down to debug; warnings and errors keep their level.
// Messages starting with "[WARN]" and the like, as memberlist writes them, take their level from
// it.
package logbridge
