package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"
)

// table lists all figures. A change that is not significant is shown as "~".
func table(figures []figure, s scale, threshold float64, before, after string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "medians of %d rounds; a change counts if p < %v (Mann-Whitney U), and is worse beyond %.0f %%\n", s.rounds, s.alpha, 100*threshold)
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "figure\tunit\t%s\t%s\tchange\tp\t\n", before, after)
	for i := range figures {
		f := &figures[i]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.name, f.unit, f.text(base), f.text(changed), f.verdict(threshold))
	}
	w.Flush() // into memory, which does not fail
	return text.String()
}

// text formats the median of one build; "-" if it has none.
func (f *figure) text(which int) string {
	if f.count[which] == 0 {
		return "-"
	}
	v := f.median[which]
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// verdict formats the change, the probability of it by chance, and what follows.
func (f *figure) verdict(threshold float64) string {
	switch {
	case !f.both():
		return "only one build has it\t\t"
	case !f.significant:
		return fmt.Sprintf("~\t%.3f\t", f.p)
	case f.refuted:
		return fmt.Sprintf("%s\t%.3f\tnot again", f.percent(), f.p)
	case f.worse(threshold):
		return fmt.Sprintf("%s\t%.3f\tWORSE", f.percent(), f.p)
	}
	return fmt.Sprintf("%s\t%.3f\t", f.percent(), f.p)
}

// percent formats the change of the value itself, with its sign.
func (f *figure) percent() string {
	change := 100 * f.change
	if isRate(f.unit) {
		change = -change
	}
	if math.IsInf(change, 0) {
		return "from nothing"
	}
	return fmt.Sprintf("%+.1f %%", change)
}
