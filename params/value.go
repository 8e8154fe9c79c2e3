package params

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"rackparams/pkg/nodepool"
	"rackparams/pkg/shape"
)

// Value is what a parameter takes. There is one implementation for each kind of value.
type Value interface {
	// Accepts says it for a person, to stand behind "must be".
	Accepts() string

	// check returns the text to store, or all that is wrong with the value. An empty value of a clearable parameter
	// does not come here.
	check(p *Parameter, text string, in context) (stored string, problems []string)
}

// context is what the check of a value may depend on besides the value.
type context struct {
	karpenter nodepool.Version
	readFile  ReadFile
}

// maxTextBytes is how long a value may be that is not JSON. User data, the longest of them, may hold 16 KiB on EC2.
const maxTextBytes = 64 << 10

// mustBe is the message for a value that is not what the parameter takes.
func mustBe(p *Parameter, text, accepts string) []string {
	message := fmt.Sprintf("%s must be %s", p.Name, accepts)
	if p.Sensitive {
		return []string{message}
	}
	return []string{message + ", not " + shape.Quote(text)}
}

// text takes any text, over several lines too.
type text struct{}

func (text) Accepts() string { return "any text" }

func (text) check(_ *Parameter, text string, _ context) (string, []string) { return text, nil }

// checkText holds the rules for every value that is not JSON: what could not be stored or shown as it is.
func checkText(p *Parameter, value string) string {
	_, free := p.Value.(text)
	switch {
	case len(value) > maxTextBytes:
		return fmt.Sprintf("%s has %d bytes; %d at most are taken", p.Name, len(value), maxTextBytes)
	case !utf8.ValidString(value):
		return fmt.Sprintf("%s holds bytes that are not UTF-8 text; write it in UTF-8", p.Name)
	case strings.ContainsRune(value, utf8.RuneError):
		return fmt.Sprintf("%s holds the character %U, which stands for text that was damaged; write it anew", p.Name, utf8.RuneError)
	}
	for _, r := range value {
		if unicode.IsControl(r) && !(free && strings.ContainsRune("\t\n\r", r)) || unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Sprintf("%s holds the control character %U; write it without", p.Name, r)
		}
	}
	return ""
}

// boolean takes what strconv.ParseBool takes and stores true or false.
type boolean struct{}

func (boolean) Accepts() string { return "true or false" }

func (b boolean) check(p *Parameter, text string, _ context) (string, []string) {
	value, err := strconv.ParseBool(text)
	if err != nil {
		return "", mustBe(p, text, b.Accepts())
	}
	return strconv.FormatBool(value), nil
}

// whole takes a whole number from least to most, and 0 besides where zero is set.
type whole struct {
	least, most int
	zero        bool
}

// anyNumber takes every whole number that Terraform and Kubernetes can hold.
var anyNumber = whole{least: math.MinInt32, most: math.MaxInt32}

func atLeast(least int) whole             { return whole{least: least, most: math.MaxInt32} }
func between(least, most int) whole       { return whole{least: least, most: most} }
func zeroOrBetween(least, most int) whole { return whole{least: least, most: most, zero: true} }

func (w whole) Accepts() string {
	var accepts string
	switch {
	case w == anyNumber:
		return "a whole number"
	case w.most == math.MaxInt32:
		accepts = fmt.Sprintf("a whole number from %d on", w.least)
	default:
		accepts = fmt.Sprintf("a whole number from %d to %d", w.least, w.most)
	}
	if w.zero {
		return "0 or " + accepts
	}
	return accepts
}

func (w whole) check(p *Parameter, text string, _ context) (string, []string) {
	n, err := strconv.Atoi(text)
	// The second condition keeps out what Atoi takes and Terraform would not: a plus sign and zeros in front.
	if err != nil || strconv.Itoa(n) != text || !w.has(n) {
		if n > math.MaxInt32 && w.most == math.MaxInt32 {
			return "", mustBe(p, text, fmt.Sprintf("%s, at most %d", w.Accepts(), math.MaxInt32))
		}
		return "", mustBe(p, text, w.Accepts())
	}
	return text, nil
}

func (w whole) has(n int) bool { return w.least <= n && n <= w.most || w.zero && n == 0 }

// words takes one of a few words.
type words struct {
	words   []string
	anyCase bool
}

func oneOf(list ...string) words   { return words{words: list} }
func anyCase(list ...string) words { return words{words: list, anyCase: true} }

func (w words) Accepts() string {
	list := make([]string, len(w.words))
	for i, word := range w.words {
		list[i] = word
		// "amd64, arm64 or amd64,arm64" could not be read.
		if strings.Contains(word, ",") {
			list[i] = strconv.Quote(word)
		}
	}
	return shape.Enumerate(list, "or")
}

func (w words) check(p *Parameter, text string, _ context) (string, []string) {
	for _, word := range w.words {
		if text == word || w.anyCase && strings.EqualFold(text, word) {
			return text, nil
		}
	}
	return "", mustBe(p, text, w.Accepts())
}

// durationRange takes a duration between two others.
type durationRange struct{ least, most string }

func durationBetween(least, most string) durationRange { return durationRange{least, most} }

func (d durationRange) Accepts() string {
	return fmt.Sprintf("a duration from %s to %s, such as %s", d.least, d.most, d.least)
}

func (d durationRange) check(p *Parameter, text string, _ context) (string, []string) {
	least, _ := time.ParseDuration(d.least)
	most, _ := time.ParseDuration(d.most)
	if value, err := time.ParseDuration(text); err != nil || value < least || value > most {
		return "", mustBe(p, text, d.Accepts())
	}
	return text, nil
}

// pattern takes text that matches a regular expression and a further rule, if any.
type pattern struct {
	expr func() *regexp.Regexp
	says string
	// fixed is set where scripts depend on the message as it is, without the value behind it.
	fixed bool
	// also says what else is wrong with text that matches.
	also func(text string) string
}

func matching(expr, says string) pattern {
	return pattern{expr: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) }), says: says}
}

func (v pattern) and(also func(text string) string) pattern {
	v.also = also
	return v
}

func (v pattern) Accepts() string { return v.says }

func (v pattern) check(p *Parameter, text string, _ context) (string, []string) {
	if !v.expr().MatchString(text) {
		if v.fixed {
			return "", []string{fmt.Sprintf("%s must be %s", p.Name, v.says)}
		}
		return "", mustBe(p, text, v.says)
	}
	if v.also != nil {
		if problem := v.also(text); problem != "" {
			return "", []string{p.Name + ": " + problem}
		}
	}
	return text, nil
}

var (
	zones          = matching(`^([a-z]+-[a-z]+-\d+[a-z])(,[a-z]+-[a-z]+-\d+[a-z])*$`, "availability zones separated by commas, such as us-east-1a,us-east-1b")
	instanceType   = matching(`^[a-z][a-z0-9-]*\.[a-z0-9]+$`, "an instance type such as t3.large")
	instanceTypes  = matching(`^[a-z][a-z0-9-]*\.[a-z0-9]+(,[a-z][a-z0-9-]*\.[a-z0-9]+)*$`, "an instance type such as t3.large, or several separated by commas")
	hours          = matching(`^\d+h$`, "a duration in hours, such as 2160h")
	cidrBlock      = matching(`^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\/(3[0-2]|[12]?[0-9])$`, "an address range such as 10.1.0.0/16")
	memoryQuantity = matching(`^\d+(Mi|Gi)$`, "an amount of memory in Mi or Gi, such as 200Mi")
	amiAlias       = matching(`^al2023@(latest|v[0-9]{8})$`, "al2023@latest or a dated release such as al2023@v20260901")
	keyPairName    = matching(`^[a-zA-Z0-9._-]+$`, "the name of a key pair: letters, digits, '.', '_' and '-'")
	subnetIDs      = matching(`^(subnet-.+)(,subnet-.+)*$`, "subnet IDs separated by commas, such as subnet-0a1b,subnet-2c3d")
	scaleSchedule  = matching(`^(\*|([0-5]?\d)) (\*|([01]?\d|2[0-3])) (\*|([1-9]|[12]\d|3[01])) (\*|([1-9]|1[0-2])) (\*|[0-6])$`, `five cron fields, each a number or *, such as "0 18 * * 5"`)
	cipherList     = matching(`^([A-Za-z0-9_+-]+)(:[A-Za-z0-9_+-]+)*$`, "cipher names separated by colons")
	protocolList   = matching(`^(SSLv2|SSLv3|TLSv1|TLSv1\.1|TLSv1\.2|TLSv1\.3)( (SSLv2|SSLv3|TLSv1|TLSv1\.1|TLSv1\.2|TLSv1\.3))*$`, `protocol names separated by spaces, such as "TLSv1.2 TLSv1.3"`)
	syslogURL      = matching(`^(tcp|udp|tcp\+tls|udp\+tls)://[a-zA-Z\d._-]+(:\d+)?$`, "an address such as tcp+tls://logs.example.com:514")
	webURL         = matching(`^https?://.+$`, "an address that begins with http:// or https://")
	tagList        = matching(`^([^=\s,]+=[^\s,]+)(,[^=\s,]+=[^\s,]+)*$`, "tags as key=value, separated by commas")

	instanceFamilies = matching(`^[a-z0-9]+(,[a-z0-9]+)*$`, "instance families separated by commas, such as c7g,m7g").and(checkRequirementValues)
	instanceSizes    = matching(`^[a-z0-9]+(,[a-z0-9]+)*$`, "instance sizes separated by commas, such as large,xlarge").and(checkRequirementValues)
	shortDuration    = matching(`^\d+[smh]$`, "a duration in whole seconds, minutes or hours, such as 30s, 5m or 1h").and(nodepool.CheckDurationOrNever)
	nodeExpiry       = matching(`^([0-9]+h|Never)$`, "a duration in hours, such as 720h, or Never").and(nodepool.CheckDurationOrNever)
	nodeTaints       = matching(`^([^=\s,:"]+(?:=[^=\s,:"]*)?:(NoSchedule|NoExecute|PreferNoSchedule))(,[^=\s,:"]+(?:=[^=\s,:"]*)?:(NoSchedule|NoExecute|PreferNoSchedule))*$`,
		"taints as key=value:Effect or key:Effect, separated by commas, the effect NoSchedule, NoExecute or PreferNoSchedule").and(checkTaints)

	budgetNodes = pattern{
		expr: matching(nodepool.NodesPattern, "").expr, fixed: true, also: nodepool.CheckNodeCount,
		says: "a node count or a percentage from 0% to 100% (e.g. 100%)",
	}
)

func awsID(prefix string) pattern {
	return matching("^"+prefix+".+$", "an ID that begins with "+prefix)
}

func nodeLabels(reserved ...string) pattern {
	return matching(`^([^=\s,"]+=[^=\s,"]+)(,[^=\s,"]+=[^=\s,"]+)*$`, "labels as key=value, separated by commas").and(func(text string) string {
		return checkLabels(text, reserved)
	})
}

// checkRequirementValues holds the values of a NodePool requirement to Karpenter's rules.
func checkRequirementValues(text string) string {
	for value := range strings.SplitSeq(text, ",") {
		if problem := nodepool.CheckLabelValue(value); problem != "" {
			return problem
		}
	}
	return ""
}
