package cells

import (
	"strconv"

	"k8s.io/apimachinery/pkg/util/duration"
)

func jobTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{
		"jobStatus": jobStatus, "jobCompletions": jobCompletions, JobDuration: jobDuration,
	}
}

// jobStatus returns what has become of a job, in the words of its conditions.
func jobStatus(s *Source) string {
	status := s.Object.Field("status")
	for _, ended := range [...]string{"Complete", "Failed"} {
		if condition(status, ended) == "True" {
			return ended
		}
	}
	if s.Object.Lookup("metadata", "deletionTimestamp").IsSet() {
		return "Terminating"
	}
	for _, waits := range [...]string{"Suspended", "FailureTarget", "SuccessCriteriaMet"} {
		if condition(status, waits) == "True" {
			return waits
		}
	}
	return "Running"
}

// jobCompletions returns how many pods have succeeded of those that must. Without completions one
// is enough, whatever the number of pods.
func jobCompletions(s *Source) string {
	spec := s.Object.Field("spec")
	succeeded := strconv.FormatInt(s.Object.Lookup("status", "succeeded").Int(), 10) + "/"
	if completions := spec.Field("completions"); completions.IsSet() {
		return succeeded + strconv.FormatInt(completions.Int(), 10)
	}
	if parallelism := spec.Field("parallelism").Int(); parallelism > 1 {
		return succeeded + "1 of " + strconv.FormatInt(parallelism, 10)
	}
	return succeeded + "1"
}

// JobDuration is the renderer of the time that a job has run, which depends on the time until it is
// done.
const JobDuration = "jobDuration"

func jobDuration(s *Source) string {
	began := s.Object.Lookup("status", "startTime")
	if began == nil {
		return ""
	}
	end := s.Now
	if done := s.Object.Lookup("status", "completionTime"); done != nil {
		end = done.Time()
	}
	return duration.HumanDuration(end.Sub(began.Time()))
}
