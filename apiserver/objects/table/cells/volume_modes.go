package cells

import "strings"

func storageTexts() map[string]func(s *Source) string {
	return map[string]func(s *Source) string{"volumePhase": volumePhase, "volumeClaim": volumeClaim}
}

// volumePhase returns the phase of a volume, or Terminating if it is being deleted.
func volumePhase(s *Source) string {
	if s.Object.Lookup("metadata", "deletionTimestamp").IsSet() {
		return "Terminating"
	}
	return s.Object.Lookup("status", "phase").Str()
}

func volumeClaim(s *Source) string {
	claim := s.Object.Lookup("spec", "claimRef")
	if claim == nil {
		return ""
	}
	return claim.Field("namespace").Str() + "/" + claim.Field("name").Str()
}

func accessModes(s *Source) string { return abbreviated(texts(s)) }

// abbreviated returns the abbreviated access modes without duplicates, in the order that `kubectl`
// uses.
func abbreviated(modes []string) string {
	there := map[string]bool{}
	for _, mode := range modes {
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
