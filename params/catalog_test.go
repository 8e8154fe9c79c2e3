package params

import (
	"encoding/csv"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCatalogMatchesTable holds the catalog against the table of facts, column by column.
func TestCatalogMatchesTable(t *testing.T) {
	file, err := os.Open("../testdata/params.csv")
	require.NoError(t, err)
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Len(t, catalog, 178)
	require.Len(t, rows, len(catalog)+1)

	for i, row := range rows[1:] {
		p := catalog[i]
		t.Run(row[0], func(t *testing.T) {
			assert.Equal(t, row[0], p.Name)
			assert.Equal(t, row[1], p.Providers.String(), "providers")
			assert.Equal(t, row[2], string(p.Type), "type")
			assert.Equal(t, row[3], p.Default, "default")
			assert.Equal(t, row[8], p.Groups, "groups")
			assert.Equal(t, row[9] == "yes", p.Clearable, "clearable")
			assert.Equal(t, row[10] == "yes", p.Sensitive, "sensitive")
			assert.Equal(t, row[11] == "yes", p.Managed, "managed")
			assert.Equal(t, row[12] == "yes", p.InstallOnly, "install_only")
			assert.Equal(t, row[13], p.Since, "since_release")
			assert.Equal(t, strings.Join(row[4:8], " / "), valueFacts(p.Value), "pattern, allowed, min and max")
			assert.NotEmpty(t, p.Doc)
			assert.True(t, strings.HasSuffix(p.Doc, "."), "a description is a sentence")
		})
	}
}

// valueFacts writes what a Value takes in the columns of the table.
func valueFacts(v Value) string {
	var expr, allowed, least, most string
	switch v := v.(type) {
	case pattern:
		expr = v.expr().String()
	case words:
		allowed = strings.Join(v.words, "|")
		if v.anyCase {
			allowed += " (any case)"
		}
	case durationRange:
		least, most = v.least, v.most
	case whole:
		if v.least != anyNumber.least {
			least = strconv.Itoa(v.least)
		}
		if v.zero {
			least = "0 or " + least
		}
		if v.most != anyNumber.most {
			most = strconv.Itoa(v.most)
		}
	}
	return strings.Join([]string{expr, allowed, least, most}, " / ")
}

// TestDefaultsAreAccepted shows that no default is refused by the check of its own parameter.
func TestDefaultsAreAccepted(t *testing.T) {
	for _, p := range catalog {
		if p.Default == "" {
			continue
		}
		stored, problems := p.check(p.Default, context{})
		assert.Empty(t, problems, p.Name)
		assert.Equal(t, p.Default, stored, p.Name)
	}
}

func TestFind(t *testing.T) {
	for _, p := range catalog {
		assert.Equal(t, p.Name, Find(p.Name).Name)
	}
	assert.Nil(t, Find(""))
	assert.Nil(t, Find("karpenter"))
	assert.Nil(t, Find("zzz"))
}

func TestFindGroup(t *testing.T) {
	for _, test := range []struct{ name, want, problem string }{
		{"karpenter", "karpenter", ""},
		{"K", "karpenter", ""},
		{"Scal", "scaling", ""},
		{"net", "network", ""},
		{"nlb", "nlb", ""},
		{"re", "", "it may be registry or retention"},
		{"s", "", "it may be scaling, security or storage"},
		{"", "", "unknown group"},
		{"kx", "", "unknown group"},
	} {
		group, err := FindGroup(test.name)
		assert.Equal(t, test.want, group, test.name)
		if test.problem == "" {
			assert.NoError(t, err, test.name)
		} else {
			assert.ErrorContains(t, err, test.problem, test.name)
		}
	}
	assert.Equal(t, "build cost domain gpu ingress karpenter logging network nlb nodes registry retention scaling security storage versions",
		strings.Join(Groups(), " "))
}

func TestReleases(t *testing.T) {
	for _, test := range []struct {
		a, b   string
		before bool
	}{
		{"3.25.2", "3.25.3", true},
		{"3.25.3", "3.25.3", false},
		{"3.25.10", "3.25.6", false},
		{"3.9.9", "3.25.0", true},
		{"3.25.6-rc1", "3.25.6", true},
		{"v3.25.6", "3.25.6", false},
	} {
		release, err := ParseRelease(test.a)
		require.NoError(t, err)
		assert.Equal(t, test.before, release.Before(test.b), fmt.Sprint(test))
	}
	for _, text := range []string{"", "3", "3.25", "latest", "3.25.x", "3.25.7 ", "03.25.7", "vv3.25.7"} {
		_, err := ParseRelease(text)
		assert.ErrorContains(t, err, "is not a rack release", text)
	}
}
