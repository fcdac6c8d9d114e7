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

// format checks text. ok is quick and allocates nothing; what it refuses, explain words, and has
// the last word: no reasons means that the text is good after all.
type format struct {
	name    string
	ok      func(string) bool
	explain func(string) []string
	onMap   bool // keys and values of this format are reported at the map, not at the entry
}

// check returns what is wrong with s; nothing for good text.
func (f *format) check(s string) []string {
	if f.ok(s) {
		return nil
	}
	return f.explain(s)
}

// compileFormats compiles the declared formats: by a function of that name here, else by their
// pattern.
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

// isNameRuleFormat reports formats that the kind decides; metadata checks apply them.
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
		{name: "httpHeaderName", ok: never, explain: validation.IsHTTPHeaderName},
		{name: "resourceName", ok: isResourceName, explain: explainResourceName},
		{name: "ip", ok: isIP, explain: says("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")},
		{name: "ipv4", ok: isIPv4, explain: says("must be a valid IPv4 address")},
		{name: "cidr", ok: isCIDR, explain: says("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)")},
		{name: "cidr4", ok: isNetwork4, explain: says("must be a valid IPv4 network in CIDR notation, with all host bits zero (e.g. 10.9.8.0/24)")},
		{name: "hostPortList", ok: isHostPortList, explain: says("must be a comma separated list of host:port pairs")},
		{name: "absolutePath", ok: isAbsolutePath, explain: says("must be an absolute path")},
		{name: "relativePathNoBacksteps", ok: isPlainRelativePath, explain: explainRelativePath},
		{name: "cronSchedule", ok: never, explain: explainSchedule},
		{name: "positiveIntOrPercent", ok: isPercent, explain: says("must be an integer or percentage (e.g '5%')")},
		{name: "redirectURI", ok: never, explain: explainRedirectURI},
		{name: "imageReference", ok: never, explain: explainImageReference},
		{name: "uuid", ok: isUUID, explain: says("must be a lower-case UUID")},
	}
}

// never leaves the decision to the format's explain, for texts too rare to hurry about.
func never(string) bool { return false }

// says returns an explain with one reason.
func says(why string) func(string) []string {
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

// isNamePart checks the part of a label key after its prefix, or a label value that is not empty.
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

// isPortName accepts what surely is one: lower case words with a letter, joined by single dashes.
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

// standardResources are the resource names that may stand without a domain.
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
