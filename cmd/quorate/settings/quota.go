package settings

import (
	"fmt"
	"strconv"
	"strings"

	"quorate/raftstore"
)

// Quotas returns the bounds of --object-quota by resource, as the store names resources:
// GROUP/PLURAL, or PLURAL for those without a group.
func (s *Store) Quotas() (map[string]int, error) {
	quotas := make(map[string]int, len(s.ObjectQuota))
	for _, text := range s.ObjectQuota {
		resource, count, ok := strings.Cut(text, "=")
		n, err := strconv.Atoi(count)
		if !ok || resource == "" || err != nil || n < 1 {
			return nil, fmt.Errorf("--object-quota %q: want RESOURCE=COUNT with a count of at least 1, such as configmaps=1000 or deployments.apps=50", text)
		}
		if plural, group, ok := strings.Cut(resource, "."); ok && resource != raftstore.AnyResource {
			resource = group + "/" + plural
		}
		if _, twice := quotas[resource]; twice {
			return nil, fmt.Errorf("--object-quota names %s twice", text[:len(text)-len(count)-1])
		}
		quotas[resource] = n
	}
	return quotas, nil
}
