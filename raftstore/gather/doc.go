// Package gather decides whether a batch should begin at once or wait for further callers, where a
// batch serves all callers that are there when it begins.
//
// Callers that come back soon after their batch do so just after the next one has begun, unless that
// one waits for them. So they fall into two halves that take turns, and twice as many batches are
// made as are needed. A batch that begins once as many callers are there as usual serves all of
// them, after a wait that is short beside the batch. If callers come at random times, too few come
// during such a wait, unless they are very many; the policy notices and pauses.
package gather
