package plot

// Bars compares values of one unit with each other, and each with what it should reach.
type Bars struct {
	Title string // what the bars show, for those who cannot see them
	Bars  []Value
}

// Value is the length of a bar.
type Value struct {
	Name   string
	Text   string // the value, for people
	Value  float64
	Tone   Tone
	Target float64 // a mark beside the bar; 0 for none
}

// The geometry of bars.
const (
	barsWidth  = 420.0
	barLeft    = 62.0
	barRight   = 84.0 // for the text behind the longest bar
	barHeight  = 16.0
	barPadding = 4.0
)

// DrawnBars are bars that have been laid out.
type DrawnBars struct {
	Title         string
	Width, Height number
	Left          number
	Bars          []DrawnBar
}

// DrawnBar is a bar that has been laid out.
type DrawnBar struct {
	Value
	Y, Height, Width    number
	TextY, TextX        number
	HasTarget           bool
	TargetX             number
	TargetTop, TargetTo number
}

// Drawing lays out the bars.
func (b Bars) Drawing() *DrawnBars {
	longest := 0.0
	for _, v := range b.Bars {
		longest = max(longest, v.Value, v.Target)
	}
	lengths := scale{from: 0, to: max(longest, 1e-9), low: barLeft, high: barsWidth - barRight}
	d := &DrawnBars{Title: b.Title, Width: barsWidth, Left: barLeft, Height: number(barHeight*float64(len(b.Bars)) + 2*barPadding)}
	for i, v := range b.Bars {
		top := barPadding + barHeight*float64(i)
		end := lengths.at(v.Value)
		one := DrawnBar{Value: v, Y: number(top + 2), Height: barHeight - 4, Width: max(end-barLeft, 1), TextY: number(top + barHeight/2), TextX: end + 6}
		if v.Target > 0 {
			one.HasTarget, one.TargetX = true, lengths.at(v.Target)
			one.TargetTop, one.TargetTo = number(top-1), number(top+barHeight+1)
			if room := one.TargetX - one.TextX; room > 0 && float64(room) < letter*float64(len([]rune(v.Text))) || room > -6 && room <= 0 {
				one.TextX = one.TargetX + 6
			}
		}
		d.Bars = append(d.Bars, one)
	}
	return d
}
