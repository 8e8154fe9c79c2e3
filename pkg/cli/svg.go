package cli

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
)

// The measures of the picture, in pixels.
const (
	svgLeft   = 96 // where the hours begin
	svgHour   = 30
	svgRow    = 20
	svgWidth  = svgLeft + 24*svgHour + 24
	svgTop    = 76 // of the first grid
	svgHeader = 46 // of each grid: its reasons and its hours
)

// svgStyle colours the picture for light pages and for dark ones. What is blocked, limited and unlimited differs in
// lightness too, for those who see no colours.
const svgStyle = `
    text { font: 12px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
    .title { font-size: 16px; font-weight: 600; }
    .reasons { font-weight: 600; }
    .faint { fill: #59636e; }
    .page { fill: #ffffff; }
    .line { stroke: #d1d9e0; stroke-width: 1; }
    .blocked { fill: #b42318; }
    .limited { fill: #7cc98f; }
    .unlimited { fill: #f5c542; }
    .on-limited { fill: #1f2328; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3; }
      .faint { fill: #9198a1; }
      .page { fill: #0d1117; }
      .line { stroke: #3d444d; }
      .blocked { fill: #a32a20; }
      .limited { fill: #3f8f55; }
      .unlimited { fill: #c69026; }
      .on-limited { fill: #0d1117; }
    }
  `

// writeSVG writes what a chart shows as a picture.
func writeSVG(w io.Writer, t *nodepoolTimeline, pools []poolTimeline) error {
	s := svg{timeline: t, y: svgTop}
	for i, pool := range pools {
		if i > 0 {
			s.y += 20
		}
		s.pool(pool)
	}
	height := s.y + 8
	title := fmt.Sprintf("How many of %s may be disrupted at once, by the hour in %s", plural(t.nodes, "node"), t.zone.Location)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`+"\n", svgWidth, height, svgWidth, height)
	fmt.Fprintf(&b, "  <title>%s</title>\n  <style>%s</style>\n", xmlText(title), svgStyle)
	fmt.Fprintf(&b, `  <rect class="page" width="%d" height="%d"/>`+"\n", svgWidth, height)
	fmt.Fprintf(&b, `  <text class="title" x="16" y="28">%s</text>`+"\n", xmlText(title))
	x := 16
	for _, entry := range []struct{ class, text string }{{"blocked", "none"}, {"limited", "as many as the number says"}, {"unlimited", "no limit"}} {
		fmt.Fprintf(&b, `  <rect class="%s" x="%d" y="44" width="14" height="14" rx="2"/>`+"\n", entry.class, x)
		fmt.Fprintf(&b, `  <text x="%d" y="55">%s</text>`+"\n", x+20, entry.text)
		x += 44 + 7*len(entry.text)
	}
	b.WriteString(s.body.String())
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

type svg struct {
	timeline *nodepoolTimeline
	body     strings.Builder
	y        int
}

func (s *svg) pool(pool poolTimeline) {
	s.text("title", 16, s.y+14, "start", pool.name)
	s.y += 24
	for _, group := range gridGroups(pool) {
		s.group(group)
	}
}

func (s *svg) group(group gridGroup) {
	s.text("reasons", 16, s.y+14, "start", group.String())
	days := grid(group.spans, s.timeline.zone.Location)
	top := s.y + svgHeader - 8
	for hour := 0; hour <= 24; hour += 3 {
		s.text("faint", svgLeft+hour*svgHour, top-6, "middle", fmt.Sprintf("%02d:00", hour))
	}
	for i, day := range days {
		y := top + i*svgRow
		s.text("", svgLeft-10, y+14, "end", day.date.Format("Mon 02 Jan"))
		for _, band := range day.bands {
			s.band(band, y)
		}
	}
	bottom := top + len(days)*svgRow
	for hour := 0; hour <= 24; hour += 3 {
		fmt.Fprintf(&s.body, `  <line class="line" x1="%d" y1="%d" x2="%d" y2="%d"/>`+"\n", svgLeft+hour*svgHour, top, svgLeft+hour*svgHour, bottom)
	}
	// The numbers come last, over the lines.
	for i, day := range days {
		for _, band := range day.bands {
			s.number(band, top+i*svgRow)
		}
	}
	s.y = bottom + 16
}

// band draws a part of a day.
func (s *svg) band(b band, y int) {
	class := [...]string{levelBlocked: "blocked", levelLimited: "limited", levelUnlimited: "unlimited"}[levelOf(b.Ruling)]
	from, to := b.x()
	fmt.Fprintf(&s.body, `  <rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"/>`+"\n", class, from, y+1, to-from, svgRow-2)
}

// number writes how many nodes a part of a day allows, where there is room for it.
func (s *svg) number(b band, y int) {
	from, to := b.x()
	text := fmt.Sprint(b.Ceiling)
	if levelOf(b.Ruling) != levelLimited || to-from < float64(8*len(text)+8) {
		return
	}
	fmt.Fprintf(&s.body, `  <text class="on-limited" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", besideLines((from+to)/2), y+14, text)
}

// besideLines moves the middle of a number off the line of an hour that it would fall on.
func besideLines(x float64) float64 {
	const apart = 3 * svgHour
	line := svgLeft + math.Round((x-svgLeft)/apart)*apart
	if math.Abs(x-line) < 10 {
		return line + 12
	}
	return x
}

// x is from where to where a part of a day is drawn.
func (b band) x() (from, to float64) {
	return svgLeft + float64(b.from)*svgHour/60, svgLeft + float64(b.to)*svgHour/60
}

func (s *svg) text(class string, x, y int, anchor, text string) {
	attribute := ""
	if class != "" {
		attribute = fmt.Sprintf(` class="%s"`, class)
	}
	fmt.Fprintf(&s.body, `  <text%s x="%d" y="%d" text-anchor="%s">%s</text>`+"\n", attribute, x, y, anchor, xmlText(text))
}

// xmlText escapes text for XML, which takes no control characters at all.
func xmlText(text string) string {
	return html.EscapeString(escape(text))
}
