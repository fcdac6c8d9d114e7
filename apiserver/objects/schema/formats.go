package schema

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation"
)

// format validates a string. ok is a fast check that does not allocate; a string for which it
// returns true is valid. For other strings, explain returns the reasons why the string is invalid,
// or none if it is valid.
type format struct {
	name    string
	ok      func(string) bool
	explain func(string) []string
	onMap   bool // invalid keys and values are reported at the map, not at the entry
}

// check returns the reasons why s is invalid, or nil if it is valid.
func (f *format) check(s string) []string {
	if f.ok(s) {
		return nil
	}
	return f.explain(s)
}

// compileFormats compiles the declared formats. A built-in format with the same name takes
// precedence over the declared pattern.
func compileFormats(specs map[string]FormatSpec) (map[string]format, error) {
	out := map[string]format{}
	for _, f := range builtinFormats() {
		out[f.name] = f
	}
	for name, spec := range specs {
		if _, builtin := out[name]; builtin || isNameRuleFormat(name) || name == "portNumber" {
			continue
		}
		if spec.Pattern == "" {
			return nil, fmt.Errorf("format %s has neither a pattern nor a function", name)
		}
		re, err := regexp.Compile(spec.Pattern)
		if err != nil {
			return nil, fmt.Errorf("format %s: %w", name, err)
		}
		out[name] = patternFormat(name, re, spec)
	}
	for name := range out {
		if _, declared := specs[name]; !declared {
			delete(out, name)
		}
	}
	return out, nil
}

// isNameRuleFormat reports whether the kind's name rule decides about the format; checkMeta applies
// it.
func isNameRuleFormat(name string) bool { return name == "perKind" || name == "perKindPrefix" }

func patternFormat(name string, re *regexp.Regexp, spec FormatSpec) format {
	short := func(s string) bool { return spec.MaxLength == 0 || len(s) <= spec.MaxLength }
	return format{
		name: name,
		ok:   func(s string) bool { return short(s) && re.MatchString(s) },
		explain: func(s string) []string {
			var why []string
			if !short(s) {
				why = append(why, validation.MaxLenError(spec.MaxLength))
			}
			if !re.MatchString(s) {
				why = append(why, "must match the regular expression "+spec.Pattern)
			}
			return why
		},
	}
}

func builtinFormats() []format {
	return []format{
		{name: "dns1123Label", ok: isDNSLabel, explain: validation.IsDNS1123Label},
		{name: "dns1035Label", ok: isDNS1035Label, explain: validation.IsDNS1035Label},
		{name: "dns1123Subdomain", ok: isDNSSubdomain, explain: validation.IsDNS1123Subdomain},
		{name: "pathSegment", ok: isPathSegment, explain: explainPathSegment},
		{name: "qualifiedName", ok: isQualifiedName, explain: validation.IsQualifiedName},
		{name: "labelKey", ok: isQualifiedName, explain: validation.IsQualifiedName, onMap: true},
		{name: "annotationKey", ok: isQualifiedName, onMap: true, explain: func(s string) []string {
			return validation.IsQualifiedName(strings.ToLower(s))
		}},
		{name: "labelValue", ok: isLabelValue, explain: validation.IsValidLabelValue, onMap: true},
		{name: "portName", ok: isPortName, explain: validation.IsValidPortName},
		{name: "portNumberOrName", ok: isPortName, explain: validation.IsValidPortName},
		{name: "envVarName", ok: isEnvVarName, explain: validation.IsEnvVarName},
		{name: "configMapKey", ok: isConfigMapKey, explain: validation.IsConfigMapKey},
		{name: "httpHeaderName", ok: leaveToExplain, explain: validation.IsHTTPHeaderName},
		{name: "resourceName", ok: isResourceName, explain: explainResourceName},
		{name: "ip", ok: isIP, explain: fixedReason("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")},
		{name: "ipv4", ok: isIPv4, explain: fixedReason("must be a valid IPv4 address")},
		{name: "cidr", ok: isCIDR, explain: fixedReason("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")},
		{name: "cidr4", ok: isNetwork4, explain: fixedReason("must be a valid IPv4 network in CIDR notation, with all host bits zero (e.g. 10.9.8.0/24)")},
		{name: "hostPortList", ok: isHostPortList, explain: fixedReason("must be a comma separated list of host:port pairs")},
		{name: "absolutePath", ok: isAbsolutePath, explain: fixedReason("must be an absolute path")},
		{name: "relativePathNoBacksteps", ok: isPlainRelativePath, explain: explainRelativePath},
		{name: "cronSchedule", ok: leaveToExplain, explain: explainSchedule},
		{name: "positiveIntOrPercent", ok: isPercent, explain: fixedReason("must be an integer or percentage (e.g '5%')")},
		{name: "redirectURI", ok: leaveToExplain, explain: explainRedirectURI},
		{name: "imageReference", ok: leaveToExplain, explain: explainImageReference},
		{name: "uuid", ok: isUUID, explain: fixedReason("must be a lower-case UUID")},
	}
}

// leaveToExplain is the ok of formats that are too rare to need a fast check; explain decides about
// all strings.
func leaveToExplain(string) bool { return false }

// fixedReason returns an explain function that gives one fixed reason.
func fixedReason(why string) func(string) []string {
	return func(string) []string { return []string{why} }
}

func isLowerAlnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }

func isASCIIAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isDNSLabel(s string) bool {
	if s == "" || len(s) > 63 || !isLowerAlnum(s[0]) || !isLowerAlnum(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !isLowerAlnum(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

func isDNS1035Label(s string) bool { return isDNSLabel(s) && s[0] >= 'a' }

func isDNSSubdomain(s string) bool {
	if s == "" || len(s) > 253 || !isLowerAlnum(s[0]) || !isLowerAlnum(s[len(s)-1]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case isLowerAlnum(c):
		case c == '-':
			if s[i-1] == '.' {
				return false
			}
		case c == '.':
			if !isLowerAlnum(s[i-1]) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// isNamePart checks a label key without its prefix, or a non-empty label value.
func isNamePart(s string) bool {
	if s == "" || len(s) > 63 || !isASCIIAlnum(s[0]) || !isASCIIAlnum(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isASCIIAlnum(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func isQualifiedName(s string) bool {
	if slash := strings.IndexByte(s, '/'); slash >= 0 {
		return isDNSSubdomain(s[:slash]) && isNamePart(s[slash+1:])
	}
	return isNamePart(s)
}

func isLabelValue(s string) bool { return s == "" || isNamePart(s) }

func isPathSegment(s string) bool {
	return s != "." && s != ".." && strings.IndexByte(s, '/') < 0 && strings.IndexByte(s, '%') < 0
}

func explainPathSegment(s string) []string {
	if s == "." || s == ".." {
		return []string{"may not be '" + s + "'"}
	}
	var why []string
	for _, bad := range []string{"/", "%"} {
		if strings.Contains(s, bad) {
			why = append(why, "may not contain '"+bad+"'")
		}
	}
	return why
}

func isConfigMapKey(s string) bool {
	if s == "" || len(s) > 253 || s == "." || strings.HasPrefix(s, "..") {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isASCIIAlnum(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func isEnvVarName(s string) bool {
	return isConfigMapKey(s) && (s[0] < '0' || s[0] > '9')
}

// isPortName accepts lower-case words that contain a letter and are joined by single dashes. Some
// valid names are left to explain.
func isPortName(s string) bool {
	if len(s) > 15 || !isDNSLabel(s) || strings.Contains(s, "--") {
		return false
	}
	for i := range len(s) {
		if s[i] >= 'a' {
			return true
		}
	}
	return false
}

func isResourceName(s string) bool {
	switch s {
	case "cpu", "memory", "ephemeral-storage", "storage", "pods":
		return true
	}
	return strings.IndexByte(s, '/') > 0 && isQualifiedName(s)
}

// isStandardResource reports whether a resource name is valid without a domain.
func isStandardResource(s string) bool {
	switch s {
	case "cpu", "memory", "ephemeral-storage", "storage", "pods", "services", "replicationcontrollers", "resourcequotas",
		"secrets", "configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers":
		return true
	}
	return strings.HasPrefix(strings.TrimPrefix(s, "requests."), "hugepages-")
}

func explainResourceName(s string) []string {
	if why := validation.IsQualifiedName(s); len(why) > 0 {
		return why
	}
	if strings.IndexByte(s, '/') < 0 && !isStandardResource(s) {
		return []string{"must be a standard resource type or fully qualified"}
	}
	return nil
}

func isIP(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Zone() == ""
}

func isIPv4(s string) bool {
	addr, err := netip.ParseAddr(s)
	return err == nil && addr.Is4()
}

func isCIDR(s string) bool {
	_, err := netip.ParsePrefix(s)
	return err == nil
}

func isNetwork4(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p.Addr().Is4() && p.Masked() == p
}

func isHostPortList(s string) bool {
	for pair := range strings.SplitSeq(s, ",") {
		host, port, ok := strings.Cut(pair, ":")
		if !ok || host == "" {
			return false
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return false
		}
	}
	return true
}

func isAbsolutePath(s string) bool { return strings.HasPrefix(s, "/") }

func isPlainRelativePath(s string) bool {
	return !strings.HasPrefix(s, "/") && !strings.Contains(s, "..")
}

func explainRelativePath(s string) []string {
	if strings.HasPrefix(s, "/") {
		return []string{"must be a relative path"}
	}
	for element := range strings.SplitSeq(s, "/") {
		if element == ".." {
			return []string{"must not contain '..'"}
		}
	}
	return nil
}

func explainSchedule(s string) []string {
	if strings.Contains(s, "TZ=") {
		return []string{"must not contain a time zone"}
	}
	if _, err := cron.ParseStandard(s); err != nil {
		return []string{err.Error()}
	}
	return nil
}

func isPercent(s string) bool {
	digits, ok := strings.CutSuffix(s, "%")
	if !ok || digits == "" {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

func explainRedirectURI(s string) []string {
	if s == "" {
		return []string{"may not be empty"}
	}
	u, err := url.Parse(s)
	if err != nil {
		return []string{err.Error()}
	}
	if u.Fragment != "" || strings.HasSuffix(s, "#") {
		return []string{"may not contain a fragment"}
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return []string{"may not contain a path segment of . or .."}
		}
	}
	return nil
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
