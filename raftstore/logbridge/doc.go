// Package logbridge connects the loggers of Raft and memberlist, hclog and the standard logger, to
// slog.
//
// Levels map one to one, with trace below debug. The info lines of a library rarely help an
// operator, so a bridge can lower them to debug; warnings and errors keep their level. A line of
// the standard logger has the level that it names in brackets, such as "[WARN]", or info.
package logbridge
