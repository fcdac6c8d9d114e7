package table

import "strings"

func storageTexts() map[string]func(s *source) string {
	return map[string]func(s *source) string{"volumePhase": volumePhase, "volumeClaim": volumeClaim}
}

// volumePhase returns the phase of a volume, or Terminating if it is being deleted.
func volumePhase(s *source) string {
	if s.root.Lookup("metadata", "deletionTimestamp").IsSet() {
		return "Terminating"
	}
	return s.root.Lookup("status", "phase").Str()
}

func volumeClaim(s *source) string {
	claim := s.root.Lookup("spec", "claimRef")
	if claim == nil {
		return ""
	}
	return claim.Field("namespace").Str() + "/" + claim.Field("name").Str()
}

// accessModes returns the abbreviated access modes without duplicates, in the order that `kubectl`
// uses.
func accessModes(s *source) string {
	there := map[string]bool{}
	for _, mode := range texts(s) {
		there[mode] = true
	}
	var short []string
	for _, mode := range [...]struct{ long, short string }{
		{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"},
	} {
		if there[mode.long] {
			short = append(short, mode.short)
		}
	}
	return strings.Join(short, ",")
}
