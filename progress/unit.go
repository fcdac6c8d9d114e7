package progress

import (
	"fmt"
	"strconv"
)

// Unit is what an operation is counted in.
type Unit struct {
	name   string // behind an amount, with a space before it
	amount func(n int64) string
	rate   func(perSecond float64) string
}

// Bytes is the unit of transfers.
func Bytes() Unit {
	return Unit{
		amount: mebibytes,
		rate:   func(perSecond float64) string { return mebibytes(int64(perSecond)) + "/s" },
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// Count is the unit of operations that consist of things with this name, in the plural.
func Count(name string) Unit {
	return Unit{
		name:   " " + name,
		amount: func(n int64) string { return strconv.FormatInt(n, 10) },
		rate: func(perSecond float64) string {
			if perSecond < 1 {
				return fmt.Sprintf("%.1f/min", perSecond*60)
			}
			return fmt.Sprintf("%.0f/s", perSecond)
		},
	}
}
