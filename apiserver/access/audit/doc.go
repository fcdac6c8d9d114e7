// Package audit records who did what, as events in the form of audit.k8s.io/v1, one JSON object on
// each line, so that existing tools read them.
//
//   - Policy decides by the first of its rules that matches how much is recorded of a request, and
//     at which stages. ReadPolicy reads it from a file in the form of audit.k8s.io/v1 Policy.
//   - Log begins a Trail for each request of which something is recorded; the trail emits an event
//     at each stage, to sinks that must not block.
//
// Invariants:
//
//   - The bodies of Secrets, of OAuth clients and tokens, of token reviews and of requested tokens
//     are recorded at no level: their requests are recorded as Metadata, and of a failure without
//     the message, which may quote the body.
//   - An event has a bounded size: MaxObjectBytes for each body, and cut fields.
//   - Requests without a known user, which need no credentials, are recorded at a bounded rate, so
//     that strangers cannot displace events about users.
//
// Run, the only goroutine, reports how many events that rate left out. The format is described in
// docs/audit.md.
package audit
