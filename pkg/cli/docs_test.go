package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pages are the pages of the documentation whose commands are run.
var pages = []string{"budgets.md", "windows.md"}

// fence matches a fenced block: ```yaml NAME holds a file, and ```console commands behind "$ " with what they print.
var fence = regexp.MustCompile("(?ms)^```(yaml|console)(?: (\\S+))?\n(.*?)^```\n")

// TestPages runs the commands that the documentation shows, and holds what they print against the page. With
// UPDATE_SCRIPTS set, the pages take what is printed.
func TestPages(t *testing.T) {
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			path, err := filepath.Abs("../../docs/" + page)
			require.NoError(t, err)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			t.Chdir(t.TempDir())
			t.Setenv("CONVOX_CONFIG", filepath.Join(t.TempDir(), "settings"))
			commands := 0
			printed := fence.ReplaceAllStringFunc(string(text), func(block string) string {
				match := fence.FindStringSubmatch(block)
				if match[1] == "yaml" {
					if match[2] != "" {
						require.NoError(t, os.WriteFile(match[2], []byte(match[3]), 0o600))
					}
					return block
				}
				var b strings.Builder
				b.WriteString("```console\n")
				for line := range strings.Lines(match[3]) {
					if command, found := strings.CutPrefix(line, "$ "); found {
						commands++
						b.WriteString(line + runLine(t, strings.TrimSuffix(command, "\n")))
					}
				}
				return b.String() + "```\n"
			})
			require.Positive(t, commands)
			if os.Getenv("UPDATE_SCRIPTS") != "" {
				require.NoError(t, os.WriteFile(path, []byte(printed), 0o644))
				return
			}
			assert.Equal(t, string(text), printed)
		})
	}
}

// runLine runs a command line and returns what it prints, on both streams.
func runLine(t *testing.T, line string) string {
	t.Helper()
	var output bytes.Buffer
	status := Run(splitLine(line), Streams{In: strings.NewReader(""), Out: &output, Err: &output})
	require.Less(t, status, exitUsage, fmt.Sprintf("%s\n%s", line, output.String()))
	return output.String()
}

// word matches a word of a command line, parts of which may be in quotes.
var word = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'])+`)

func splitLine(line string) []string {
	words := word.FindAllString(line, -1)
	for i := range words {
		words[i] = strings.NewReplacer(`"`, "", "'", "").Replace(words[i])
	}
	return words
}

// TestReference holds the reference page of the parameters against the catalog it is made from.
func TestReference(t *testing.T) {
	var page bytes.Buffer
	page.WriteString("# The parameters of a rack\n\nMade by `convox rack params describe -o markdown`.\n\n")
	require.Zero(t, Run([]string{"convox", "rack", "params", "describe", "-o", "markdown"}, Streams{In: strings.NewReader(""), Out: &page, Err: os.Stderr}))
	const path = "../../docs/params.md"
	if os.Getenv("UPDATE_SCRIPTS") != "" {
		require.NoError(t, os.WriteFile(path, page.Bytes(), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, page.String(), string(text), "the page is stale: run the tests once with UPDATE_SCRIPTS=1")
}
