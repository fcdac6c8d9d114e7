package generator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Measurement is one JSON line of the load generator, with the fields that are compared.
type Measurement struct {
	Label    string         `json:"label"`
	Scenario string         `json:"scenario"`
	Variant  string         `json:"variant,omitempty"`
	Kind     string         `json:"kind,omitempty"`
	Conc     int            `json:"conc,omitempty"` // operations at a time
	Seconds  float64        `json:"seconds"`
	Ops      int            `json:"ops"`
	Rate     float64        `json:"ops_per_s,omitempty"`
	CPU      float64        `json:"server_cpu_us_per_op"` // of all servers, in µs
	Latency  Latency        `json:"lat_ms"`
	Errors   map[string]int `json:"errors,omitempty"` // by code
	Sample   string         `json:"error_sample,omitempty"`
	Procs    []Process      `json:"procs,omitempty"`
	Extra    map[string]any `json:"extra,omitempty"`
}

// Latency has percentiles in milliseconds.
type Latency struct {
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99_9"`
	Max  float64 `json:"max"`
}

// Process is what a server used.
type Process struct {
	Name   string  `json:"name"`
	RSSMiB float64 `json:"rss_mib"`
	CPUSec float64 `json:"cpu_s,omitempty"` // used during the measurement
}

// RSS is the memory of all servers, in MiB; 0 if unknown.
func (m *Measurement) RSS() (total float64) {
	for _, p := range m.Procs {
		total += p.RSSMiB
	}
	return total
}

// Name describes the measurement in a table.
func (m *Measurement) Name() string {
	return strings.Join(slices.DeleteFunc([]string{m.Label, m.Scenario, m.Variant, m.Kind}, func(s string) bool { return s == "" }), " ")
}

// Memory formats RSS; "" if unknown.
func (m *Measurement) Memory() string {
	if rss := m.RSS(); rss > 0 {
		return fmt.Sprintf("%.0f", rss)
	}
	return ""
}

// Milliseconds formats a latency; "" if there is none.
func (Latency) Milliseconds(v float64) string {
	switch {
	case v == 0:
		return ""
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Took formats the length of the measurement.
func (m *Measurement) Took() string {
	return time.Duration(m.Seconds * float64(time.Second)).Round(10 * time.Millisecond).String()
}

// perObject converts the measurement of an operation on many objects to one for each object.
func (m Measurement) perObject() Measurement {
	if rate, ok := m.Extra["objects_per_s"].(float64); ok && rate > 0 && m.Scenario == "delete-collection" {
		m.Rate, m.CPU = rate, m.CPU*m.Rate/rate
	}
	return m
}
