package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"rackparams/params"

	"golang.org/x/term"
)

// This file holds the rules of the output. Data goes to stdout and diagnostics to stderr. A diagnostic begins a line
// with ERROR, WARNING or NOTICE, and further lines of it are indented by two spaces. Text that comes from outside never
// reaches a terminal with its control characters.

func (a *app) printError(err error) {
	var problems params.Problems
	switch {
	case errors.Is(err, errSilent):
	case errors.As(err, &problems):
		for _, problem := range problems {
			if problem.Forcible && a.canForce {
				problem.Text += "; --force does it anyway"
			}
			a.diagnose("ERROR", problem.Text)
		}
	default:
		a.diagnose("ERROR", err.Error())
	}
}

func (a *app) warn(messages ...string) {
	for _, message := range messages {
		a.diagnose("WARNING", message)
	}
}

// warnOfExpiry prints the lines that belong to the arming of a window. Scripts know them to the letter, and so they are not indented
// as those of other diagnostics are.
func (a *app) warnOfExpiry() { fmt.Fprintln(a.Err, params.ExpiryWarning) }

func (a *app) notice(format string, args ...any) { a.diagnose("NOTICE", fmt.Sprintf(format, args...)) }

func (a *app) diagnose(severity, message string) {
	// Below this package nothing knows the program's name; there, commands stand without it.
	message = strings.NewReplacer("`rack ", "`"+a.name+" rack ", "`nodepool ", "`"+a.name+" nodepool ", "`switch`", "`"+a.name+" switch`").Replace(message)
	lines := strings.Split(strings.TrimRight(message, "\n"), "\n")
	for i, line := range lines {
		lines[i] = escape(line)
	}
	fmt.Fprintf(a.Err, "%s: %s\n", severity, strings.Join(lines, "\n  "))
}

// escape writes control characters, and bytes that are not UTF-8, as Go would: \n, \x1b, \u202e. The characters that
// turn the direction of text are among them, since they make a line read as another.
func escape(text string) string {
	if !strings.ContainsFunc(text, isUnsafe) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case isUnsafe(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case isUnsafe(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

func isUnsafe(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// table writes rows as aligned columns, two spaces apart, without blanks at the end of lines.
func table(w io.Writer, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i := range row {
			row[i] = escape(row[i])
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// colour reports whether output to the stream may be coloured.
func colour(stream any) bool { return isTerminal(stream) && os.Getenv("NO_COLOR") == "" }

// clearScreen empties a terminal and goes to its top.
const clearScreen = "\x1b[H\x1b[2J\x1b[3J"

// progress shows how far something is: on a terminal one line that changes, elsewhere a line for each change.
type progress struct {
	w        io.Writer
	terminal bool
	shown    string
}

func newProgress(w io.Writer) *progress { return &progress{w: w, terminal: isTerminal(w)} }

// show shows a text in place of the one before.
func (p *progress) show(text string) {
	text = escape(text)
	if text == p.shown {
		return
	}
	p.shown = text
	if p.terminal {
		fmt.Fprint(p.w, clearLine+p.fitting(text))
		return
	}
	fmt.Fprintln(p.w, text)
}

// clearLine empties the line of a terminal and goes to its begin.
const clearLine = "\r\x1b[K"

// fitting is as much of a text as stands on one line of the terminal.
func (p *progress) fitting(text string) string {
	width, _, err := term.GetSize(int(p.w.(*os.File).Fd()))
	runes := []rune(text)
	if err != nil || width == 0 || len(runes) < width { // some terminals do not tell
		return text
	}
	return string(runes[:max(width-1, 0)])
}

// end takes the line off the terminal, before other output.
func (p *progress) end() {
	if p.terminal && p.shown != "" {
		fmt.Fprint(p.w, clearLine)
		p.shown = ""
	}
}
