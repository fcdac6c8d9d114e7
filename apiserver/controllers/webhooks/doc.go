// Package webhooks follows the configurations of admission webhooks and publishes those that apply
// (package admission).
//
// Like roles and bindings, they are derived from the state of this node: a write of a configuration
// through this node takes effect here before it is acknowledged, and on other nodes as soon as they
// apply it. The first set contains every configuration that was committed when the server started;
// until it is published, writes wait.
//
// Run starts one goroutine that publishes, and two that follow the configurations.
package webhooks
