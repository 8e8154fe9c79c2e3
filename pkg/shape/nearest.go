package shape

import "strings"

// DidYouMean returns `; did you mean "x"?` with the nearest of the known words, or "" when none is near.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return `; did you mean "` + near + `"?`
	}
	return ""
}

// Nearest returns the known word that takes the fewest edits (insertions, deletions, changes and swaps of neighbours,
// case apart) to reach from word, the first of equals, or "" when even that one is further than a third of its length.
func Nearest(word string, known []string) string {
	best, bestDistance := "", -1
	for _, candidate := range known {
		limit := len(candidate) / 3
		if len(word) > len(candidate)+limit || len(candidate) > len(word)+limit {
			continue
		}
		distance := editDistance(strings.ToLower(word), strings.ToLower(candidate))
		if distance <= limit && (bestDistance < 0 || distance < bestDistance) {
			best, bestDistance = candidate, distance
		}
	}
	return best
}

// editDistance is the Damerau-Levenshtein distance of a and b, by bytes (the restricted form: no part is edited twice).
func editDistance(a, b string) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			change := previous[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			current[j] = min(change, previous[j]+1, current[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}

// Enumerate joins words for a sentence: "a, b or c".
func Enumerate(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}
