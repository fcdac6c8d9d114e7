package settings

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag value: a number of bytes, with or without a unit, such as 512MiB or 4Gi.
type byteSize int64

// byteUnits lists the units, largest first, so that String prints the largest one that fits.
var byteUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

func (b *byteSize) Set(text string) error {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, unit := range byteUnits {
		for _, suffix := range []string{unit.name, unit.name[:2]} {
			if rest, ok := strings.CutSuffix(number, suffix); ok {
				number, factor = strings.TrimSpace(rest), unit.bytes
			}
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 {
		return errors.New("not a size such as 512MiB or 4GiB")
	}
	if n > math.MaxInt64/factor {
		return errors.New("too large")
	}
	*b = byteSize(n * factor)
	return nil
}

func (b *byteSize) String() string {
	for _, unit := range byteUnits {
		if n := int64(*b); n >= unit.bytes && n%unit.bytes == 0 {
			return fmt.Sprintf("%d%s", n/unit.bytes, unit.name)
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteSize) Type() string { return "size" }
