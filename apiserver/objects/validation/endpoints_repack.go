package validation

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"quorate/apiserver/objects/schema"
)

// The hooks in this file convert the subsets of Endpoints to a canonical form (M14). In this form
// each port occurs once, with all addresses that serve it. Ports with the same addresses are in one
// subset. An address that is ready for a port in one of the original subsets is ready for it. All
// lists are sorted.

// maxPackedAddresses limits the result of repacking. A few overlapping subsets can produce more
// addresses than fit into a log entry.
const maxPackedAddresses = 1 << 17

// port identifies a port. Number -1 stands for a subset without ports.
type port struct {
	name, protocol string
	number         int64
}

// address identifies an address.
type address struct {
	ip, uid string
}

// portGroup is a set of ports together with the subsets that contain them, and thus with their
// addresses.
type portGroup struct {
	ports   []*schema.Value // a single nil for subsets without ports
	subsets []int
}

// subsetsStayBounded rejects subsets whose repacked form exceeds maxPackedAddresses.
func subsetsStayBounded(c *schema.Context, v *schema.Value) {
	if v.Len() < 2 {
		return
	}
	total := 0
	for _, o := range groupPorts(v) {
		for _, i := range o.subsets {
			total += v.At(i).Field("addresses").Len() + v.At(i).Field("notReadyAddresses").Len()
		}
	}
	if total > maxPackedAddresses {
		c.Report(field.TooMany(c.Path(), total, maxPackedAddresses))
	}
}

// repackSubsets replaces the subsets by their canonical form. It is the last step of a write of
// Endpoints.
func repackSubsets(c *schema.Context) {
	root := c.Object.Root()
	subsets := root.Field("subsets")
	if subsets.Len() == 0 {
		root.Clear("subsets")
		return
	}
	if subsets.Len() == 1 && isPacked(subsets.At(0)) {
		return
	}
	out := subsets.Type().New()
	for _, p := range pack(subsets, groupPorts(subsets)) {
		p.write(out.Append())
	}
	root.Set("subsets", out)
}

// isPacked reports whether a single subset is already in canonical form, as most are.
func isPacked(subset *schema.Value) bool {
	ready, notReady, ports := subset.Field("addresses"), subset.Field("notReadyAddresses"), subset.Field("ports")
	if !ascends(ready, compareAddresses) || !ascends(notReady, compareAddresses) || !ascends(ports, comparePorts) {
		return false
	}
	if ready.Len() == 0 || notReady.Len() == 0 {
		return true
	}
	var both set[address]
	for _, a := range ready.Items() {
		both.add(addressOf(a))
	}
	for _, a := range notReady.Items() {
		if both.has(addressOf(a)) {
			return false
		}
	}
	return true
}

// ascends reports whether a list is sorted and contains no two equal items.
func ascends(list *schema.Value, compare func(a, b *schema.Value) int) bool {
	for i := 1; i < list.Len(); i++ {
		if compare(list.At(i-1), list.At(i)) >= 0 {
			return false
		}
	}
	return true
}

func portOf(v *schema.Value) port {
	if v == nil {
		return port{number: -1}
	}
	return port{v.Field("name").Str(), v.Field("protocol").Str(), v.Field("port").Int()}
}

func addressOf(v *schema.Value) address {
	return address{v.Field("ip").Str(), v.Field("targetRef").Field("uid").Str()}
}

func comparePorts(a, b *schema.Value) int {
	x, y := portOf(a), portOf(b)
	return cmp.Or(strings.Compare(x.name, y.name), cmp.Compare(x.number, y.number), strings.Compare(x.protocol, y.protocol))
}

func compareAddresses(a, b *schema.Value) int {
	x, y := addressOf(a), addressOf(b)
	return cmp.Or(strings.Compare(x.ip, y.ip), strings.Compare(x.uid, y.uid))
}

// groupPorts groups the ports of all subsets by the set of subsets that contain them, in order of
// first occurrence.
func groupPorts(subsets *schema.Value) []*portGroup {
	bySubsets := map[string]*portGroup{}
	var out []*portGroup
	var key []byte
	for _, single := range singlePorts(subsets) {
		key = key[:0]
		for _, i := range single.subsets {
			key = binary.AppendUvarint(key, uint64(i))
		}
		if o := bySubsets[string(key)]; o != nil && o.ports[0] != nil && single.ports[0] != nil {
			o.ports = append(o.ports, single.ports...)
			continue
		}
		bySubsets[string(key)] = single
		out = append(out, single)
	}
	return out
}

// singlePorts returns one portGroup for each port.
func singlePorts(subsets *schema.Value) []*portGroup {
	byPort := map[port]*portGroup{}
	var order []*portGroup
	note := func(p *schema.Value, subset int) {
		o := byPort[portOf(p)]
		if o == nil {
			o = &portGroup{ports: []*schema.Value{p}}
			byPort[portOf(p)] = o
			order = append(order, o)
		}
		if n := len(o.subsets); n == 0 || o.subsets[n-1] != subset {
			o.subsets = append(o.subsets, subset)
		}
	}
	for i, subset := range subsets.Items() {
		if subset.Field("ports").Len() == 0 {
			note(nil, i)
		}
		for _, p := range subset.Field("ports").Items() {
			note(p, i)
		}
	}
	return order
}

// packed is a subset in canonical form. It shares its values with the original subsets.
type packed struct {
	ports           []*schema.Value
	ready, notReady []*schema.Value
}

// pack collects the addresses of each portGroup, merges groups with the same addresses, and sorts
// the result.
func pack(subsets *schema.Value, all []*portGroup) []*packed {
	byAddresses := map[string]*packed{}
	var out []*packed
	var key []byte
	for _, o := range all {
		p := collect(subsets, o.subsets)
		key = p.appendKey(key[:0], o.ports[0] == nil)
		if same := byAddresses[string(key)]; same != nil {
			p = same
		} else {
			byAddresses[string(key)] = p
			out = append(out, p)
		}
		if o.ports[0] != nil {
			p.ports = append(p.ports, o.ports...)
		}
	}
	for _, p := range out {
		slices.SortFunc(p.ports, comparePorts)
	}
	slices.SortFunc(out, comparePacked)
	return out
}

// comparePacked orders subsets by their first port, which no two subsets share. A subset without
// ports comes first.
func comparePacked(a, b *packed) int {
	if len(a.ports) == 0 || len(b.ports) == 0 {
		return cmp.Compare(len(a.ports), len(b.ports))
	}
	return comparePorts(a.ports[0], b.ports[0])
}

// collect returns the sorted union of the addresses of some subsets. An address that is ready in
// one of them is ready in the union.
func collect(subsets *schema.Value, from []int) *packed {
	have := map[address]struct{}{}
	unite := func(list string) []*schema.Value {
		var out []*schema.Value
		for _, i := range from {
			for _, a := range subsets.At(i).Field(list).Items() {
				id := addressOf(a)
				if _, dup := have[id]; dup {
					continue
				}
				have[id] = struct{}{}
				out = append(out, a)
			}
		}
		slices.SortFunc(out, compareAddresses)
		return out
	}
	p := &packed{ready: unite("addresses")}
	p.notReady = unite("notReadyAddresses")
	return p
}

// appendKey appends a key that is equal for subsets with equal addresses. portless keeps subsets
// without ports apart from all others.
func (p *packed) appendKey(key []byte, portless bool) []byte {
	if portless {
		key = append(key, 0)
	}
	for _, list := range [...][]*schema.Value{p.ready, p.notReady} {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, a := range list {
			id := addressOf(a)
			key = binary.AppendUvarint(key, uint64(len(id.ip)))
			key = append(key, id.ip...)
			key = binary.AppendUvarint(key, uint64(len(id.uid)))
			key = append(key, id.uid...)
		}
	}
	return key
}

// write fills an empty subset. It copies the values, because an address may be in several subsets.
func (p *packed) write(subset *schema.Value) {
	for _, part := range [...]struct {
		name  string
		items []*schema.Value
	}{{"addresses", p.ready}, {"notReadyAddresses", p.notReady}, {"ports", p.ports}} {
		if len(part.items) == 0 {
			continue
		}
		list := subset.Make(part.name)
		for _, item := range part.items {
			list.AppendValue(item.Copy())
		}
	}
}
