package strategic

import (
	"math"
	"slices"

	"quorate/apiserver/objects/patch/tree"
	"quorate/apiserver/wire/status"
)

// ordered sorts a merged list by `$setElementOrder` (F16, F22). Items that the order does not
// contain, because another client added them, stay as far as possible where they are in the live
// list relative to the others. It returns a 400 error if the patch has its items in another order.
func (at place) ordered(items, live []item, p, order *tree.Node) ([]item, error) {
	wanted := order.Items()
	ranks := make(map[string]int, len(wanted))
	for i := range wanted {
		key := at.keyOf(wanted[i].Text)
		if key == "" {
			return nil, at.noKey()
		}
		if _, again := ranks[key]; !again {
			ranks[key] = i
		}
	}
	if err := at.checkOrder(p, wanted); err != nil {
		return nil, err
	}
	// As in the library, a new item takes the place of a deleted one in the live list if its index
	// is within the live list.
	places := make(map[string]int, len(live))
	for i := min(len(live), len(items)) - 1; i >= 0; i-- {
		places[items[i].key] = i
	}
	var named, others []item
	for _, i := range items {
		if i.key == "" {
			return nil, at.noKey()
		}
		if _, ok := ranks[i.key]; ok {
			named = append(named, i)
		} else {
			others = append(others, i)
		}
	}
	sortBy(named, ranks)
	sortBy(others, places)
	return interleave(named, others, places), nil
}

// sortBy sorts items by the numbers of their keys. Items without a number come last and keep their
// order.
func sortBy(items []item, numbers map[string]int) {
	number := func(i item) int {
		if n, ok := numbers[i.key]; ok {
			return n
		}
		return math.MaxInt
	}
	slices.SortStableFunc(items, func(a, b item) int { return number(a) - number(b) })
}

// interleave merges two lists. An item of others precedes the next item of named only if it does so
// in the live list.
func interleave(named, others []item, places map[string]int) []item {
	out := make([]item, 0, len(named)+len(others))
	for len(named) > 0 && len(others) > 0 {
		other, haveOther := places[others[0].key]
		next, haveNext := places[named[0].key]
		if haveOther && haveNext && other < next {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, named = append(out, named[0]), named[1:]
		}
	}
	return append(append(out, named...), others...)
}

// checkOrder returns an error unless the order contains the items of the patch in the same sequence
// (F22).
func (at place) checkOrder(p *tree.Node, wanted []tree.Node) error {
	if p == nil || len(wanted) == 0 {
		return nil
	}
	next := 0
	for _, i := range p.Items() {
		directive, err := at.item().itemDirective(&i)
		if err != nil {
			return err
		}
		if directive != wholeMerge {
			continue
		}
		key := at.keyOf(i.Text)
		for next < len(wanted) && at.keyOf(wanted[next].Text) != key {
			next++
		}
		if next++; next > len(wanted) {
			return status.NewBadRequest(badOrder)
		}
	}
	return nil
}
