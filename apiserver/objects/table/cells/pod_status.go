package cells

import (
	"fmt"
	"strconv"

	"quorate/apiserver/objects/schema"
)

func podTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{
		"podReady":  podReady,
		"podStatus": func(s *Source) string { return summarize(s.Object).reason },
	}
}

// podSummary summarizes the states of a pod's containers.
type podSummary struct {
	reason   string
	ready    int
	restarts int64
}

func podReady(s *Source) string {
	return strconv.Itoa(summarize(s.Object).ready) + "/" + strconv.Itoa(s.Object.Lookup("spec", "containers").Len())
}

func podRestarts(s *Source) int64 { return summarize(s.Object).restarts }

// summarize determines the pod's status: the reason why it is not initialized; else the reason why
// its first container that does not run does not; else its phase.
func summarize(pod *schema.Value) podSummary {
	status := pod.Field("status")
	p := podSummary{reason: status.Field("reason").Str()}
	if p.reason == "" {
		p.reason = status.Field("phase").Str()
	}
	if !p.initializing(pod) {
		p.running(status)
	}
	if pod.Lookup("metadata", "deletionTimestamp").IsSet() {
		p.reason = "Terminating"
		if status.Field("reason").Str() == "NodeLost" {
			p.reason = "Unknown"
		}
	}
	return p
}

// initializing reports whether an init container has not completed, and sets the reason.
func (p *podSummary) initializing(pod *schema.Value) bool {
	for i, c := range pod.Lookup("status", "initContainerStatuses").Items() {
		p.restarts += c.Field("restartCount").Int()
		state := c.Field("state")
		terminated, waiting := state.Field("terminated"), state.Lookup("waiting", "reason").Str()
		switch {
		case terminated.IsSet() && terminated.Field("exitCode").Int() == 0:
			continue
		case terminated.IsSet():
			p.reason = "Init:" + terminationOf(terminated)
		case waiting != "" && waiting != "PodInitializing":
			p.reason = "Init:" + waiting
		default:
			p.reason = fmt.Sprintf("Init:%d/%d", i, pod.Lookup("spec", "initContainers").Len())
		}
		return true
	}
	return false
}

func (p *podSummary) running(status *schema.Value) {
	p.restarts = 0
	statuses := status.Field("containerStatuses")
	for i := statuses.Len() - 1; i >= 0; i-- {
		c := statuses.At(i)
		p.restarts += c.Field("restartCount").Int()
		state := c.Field("state")
		terminated, waiting := state.Field("terminated"), state.Lookup("waiting", "reason").Str()
		switch {
		case waiting != "":
			p.reason = waiting
		case terminated.IsSet():
			p.reason = terminationOf(terminated)
		case c.Field("ready").Bool() && state.Field("running").IsSet():
			p.ready++
		}
	}
	if p.reason == "Completed" && p.ready > 0 { // one container completed, others run
		p.reason = "NotReady"
		if condition(status, "Ready") == "True" {
			p.reason = "Running"
		}
	}
}

// terminationOf returns the reason why a container terminated.
func terminationOf(terminated *schema.Value) string {
	if reason := terminated.Field("reason").Str(); reason != "" {
		return reason
	}
	if signal := terminated.Field("signal").Int(); signal != 0 {
		return "Signal:" + strconv.FormatInt(signal, 10)
	}
	return "ExitCode:" + strconv.FormatInt(terminated.Field("exitCode").Int(), 10)
}

// condition returns the status of a condition, or "" if there is none.
func condition(status *schema.Value, name string) string {
	for _, c := range status.Field("conditions").Items() {
		if c.Field("type").Str() == name {
			return c.Field("status").Str()
		}
	}
	return ""
}
