package check

import "fmt"

// maxSamples bounds the violations of one promise that are described in words.
const maxSamples = 20

// Finding counts the violations of a promise.
type Finding struct {
	Promise Promise  `json:"promise"`
	Count   int      `json:"count"`
	Samples []string `json:"samples,omitempty"`
}

// findings collects the violations that all checks find.
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

// count returns the number of violations of the promises.
func (f findings) count(of ...Promise) (n int) {
	for _, p := range of {
		if one := f[p]; one != nil {
			n += one.Count
		}
	}
	return n
}

// all returns a finding for each promise, including those that held.
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
