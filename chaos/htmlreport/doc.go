// Package htmlreport writes the report of a run of quorate-chaos as one HTML file: the verdict, the
// faults as a timeline against throughput, latency and outages, the findings, and porcupine's
// drawings of histories that are not linearizable.
//
// Only these drawings contain scripts, each in a sandboxed frame of its own.
package htmlreport
