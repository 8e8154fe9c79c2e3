package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"rackparams/pkg/nodepool"
)

// writeChart writes, for each pool and each group of reasons, a grid of days by hours. A cell is half an hour, so that a
// line takes 60 columns.
func writeChart(w io.Writer, t *nodepoolTimeline, pools []poolTimeline, coloured bool) error {
	var b strings.Builder
	for i, pool := range pools {
		if i > 0 {
			b.WriteByte('\n')
		}
		c := chart{coloured: coloured}
		fmt.Fprintf(&b, "%s\nHow many of %s may be disrupted at once, by the hour in %s\n", escape(pool.name), plural(t.nodes, "node"), t.zone.Location)
		for _, group := range gridGroups(pool) {
			fmt.Fprintf(&b, "\n%s\n%-12s%s\n", group, "", hourMarks)
			for _, day := range grid(group.spans, t.zone.Location) {
				fmt.Fprintf(&b, "%-12s%s\n", day.date.Format("Mon 02 Jan"), c.line(day))
			}
		}
		b.WriteString("\n" + c.legend())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// hourMarks stand over the cells, every third hour.
const hourMarks = "0     3     6     9     12    15    18    21"

// cellsPerHour is how finely a chart shows time.
const cellsPerHour = 2

// chart gives each number of nodes a sign: its digit, or from 10 on a letter that the legend explains.
type chart struct {
	coloured bool
	letters  []int
	more     bool // there were more numbers than letters
	levels   [3]bool
}

// line is the cells of a day.
func (c *chart) line(day dayBands) string {
	const minutes = 60 / cellsPerHour
	var line strings.Builder
	for cell := range 24 * cellsPerHour {
		var inside []nodepool.Ruling
		for _, band := range day.bands {
			if band.from < (cell+1)*minutes && band.to > cell*minutes {
				inside = append(inside, band.Ruling)
			}
		}
		line.WriteString(c.cell(inside))
	}
	return strings.TrimRight(line.String(), " ")
}

// cell is the sign of a cell: of the least that is allowed in it.
func (c *chart) cell(inside []nodepool.Ruling) string {
	if len(inside) == 0 {
		return " "
	}
	least := inside[0]
	for _, ruling := range inside[1:] {
		if least.Unlimited || !ruling.Unlimited && ruling.Ceiling < least.Ceiling {
			least = ruling
		}
	}
	sign := c.sign(least)
	c.levels[levelOf(least)] = true
	if !c.coloured {
		return sign
	}
	return [...]string{levelBlocked: "\x1b[41;97m", levelLimited: "\x1b[42;30m", levelUnlimited: "\x1b[43;30m"}[levelOf(least)] + sign + "\x1b[0m"
}

func (c *chart) sign(r nodepool.Ruling) string {
	switch {
	case r.Unlimited:
		return "!"
	case r.Ceiling <= 0:
		return "."
	case r.Ceiling < 10:
		return fmt.Sprint(r.Ceiling)
	}
	i := slices.Index(c.letters, r.Ceiling)
	switch {
	case i >= 0:
		return signLetters[i : i+1]
	case len(c.letters) == len(signLetters):
		c.more = true
		return "+"
	}
	c.letters = append(c.letters, r.Ceiling)
	return signLetters[len(c.letters)-1 : len(c.letters)]
}

// signLetters are the letters for numbers from 10 on. There are more than a readable chart has numbers.
const signLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

func (c *chart) legend() string {
	var parts []string
	if c.levels[levelBlocked] {
		parts = append(parts, ". none")
	}
	for i, ceiling := range c.letters {
		parts = append(parts, fmt.Sprintf("%c %d", signLetters[i], ceiling))
	}
	if c.more {
		parts = append(parts, "+ another number")
	}
	if c.levels[levelUnlimited] {
		parts = append(parts, "! no limit")
	}
	return "Each cell is half an hour and shows the least in it; a digit is that many nodes.\n" + wrap(strings.Join(parts, ", "), 80, "") + "\n"
}
