// Package audit records who did what, as events in the format of audit.k8s.io/v1, one JSON object
// per line, so that existing tools can read them.
//
//   - A Policy determines, by its first matching rule, how much of a request is recorded, and at
//     which stages. ReadPolicy reads it from a file in the format of audit.k8s.io/v1 Policy.
//   - A Log begins a Trail for each request of which something is recorded. The trail emits an
//     event at each stage, to sinks that must not block.
//
// Invariants:
//
//   - The bodies of Secrets, of OAuth clients and tokens, of token reviews and of requested tokens
//     are never recorded. The log records such requests at the level Metadata, and their failures
//     without the message, which may quote the body.
//   - An event has a bounded size: MaxObjectBytes for each body, and truncated texts.
//   - Requests without a known user are recorded at a bounded rate, so that anonymous clients
//     cannot displace events about users.
//
// Run, the only goroutine, reports how many requests that rate left out. docs/audit.md describes
// the format.
package audit
