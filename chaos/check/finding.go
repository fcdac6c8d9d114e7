package check

import "fmt"

// maxSamples bounds how many violations of one promise are described in words.
const maxSamples = 20

// Finding is how often a promise was broken.
type Finding struct {
	Promise Promise  `json:"promise"`
	Count   int      `json:"count"`
	Samples []string `json:"samples,omitempty"`
}

// findings collects what all checks find.
type findings map[Promise]*Finding

// add counts one violation.
func (f findings) add(p Promise, format string, args ...any) {
	one := f[p]
	if one == nil {
		one = &Finding{Promise: p}
		f[p] = one
	}
	one.Count++
	if len(one.Samples) < maxSamples {
		one.Samples = append(one.Samples, fmt.Sprintf(format, args...))
	}
}

// count is how often the promises were broken.
func (f findings) count(of ...Promise) (n int) {
	for _, p := range of {
		if one := f[p]; one != nil {
			n += one.Count
		}
	}
	return n
}

// all returns a finding for each promise, also for those that held.
func (f findings) all() []Finding {
	list := make([]Finding, 0, len(promises))
	for _, p := range promises {
		if one := f[p]; one != nil {
			list = append(list, *one)
		} else {
			list = append(list, Finding{Promise: p})
		}
	}
	return list
}
