// SPDX-License-Identifier: Apache-2.0

// Writes what kubectl's YAML reader makes of texts, as JSON with one case a line. See README.md.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// A case has either Value or Error. Differs is the reason why Muster reads the text differently.
type yamlCase struct {
	YAML    string          `json:"yaml"`
	Value   json.RawMessage `json:"value,omitempty"`
	Error   string          `json:"error,omitempty"`
	Differs string          `json:"differs,omitempty"`
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func read(text, differs string) (made yamlCase) {
	made.YAML = text
	made.Differs = differs
	defer func() {
		if broken := recover(); broken != nil {
			made.Error = fmt.Sprint(broken)
		}
	}()
	value, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		made.Error = err.Error()
	} else {
		made.Value = value
	}
	return made
}

// The reader stops at the end of the first document, so a case must have only one.
func isOneDocument(text string) bool {
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "--") || strings.HasPrefix(line, "...") {
			return false
		}
	}
	return true
}

func documents(path string) (all []string) {
	bytes, err := os.ReadFile(path)
	fail(err)
	var one []string
	for _, line := range append(strings.Split(string(bytes), "\n"), "---") {
		if strings.HasPrefix(line, "--") || strings.HasPrefix(line, "...") {
			if text := strings.Join(one, "\n"); strings.TrimSpace(text) != "" {
				all = append(all, text+"\n")
			}
			one = nil
			continue
		}
		one = append(one, line)
	}
	return all
}

const inserted = ":-[]{}'\"#&*!|>%@`, \t\n?~0e.x\\=<"

// change returns some lines of a text with a few changed characters.
func change(text string, random *rand.Rand) string {
	lines := strings.Split(text, "\n")
	first := random.Intn(len(lines))
	last := min(len(lines), first+2+random.Intn(8))
	indent := len(lines[first]) - len(strings.TrimLeft(lines[first], " "))
	for i := first; i < last; i++ {
		lines[i] = lines[i][min(indent, len(lines[i])-len(strings.TrimLeft(lines[i], " "))):]
	}
	made := []byte(strings.Join(lines[first:last], "\n"))
	for edits := random.Intn(4); edits > 0 && len(made) > 0; edits-- {
		at := random.Intn(len(made))
		c := inserted[random.Intn(len(inserted))]
		switch random.Intn(3) {
		case 0:
			made = append(made[:at], made[at+1:]...)
		case 1:
			made[at] = c
		default:
			made = append(made[:at], append([]byte{c}, made[at:]...)...)
		}
	}
	return string(made) + "\n"
}

func main() {
	cases := flag.String("cases", "", "file whose cases are read again")
	draw := flag.Int("draw", 0, "number of random cases that are drawn from the documents")
	seed := flag.Int64("seed", 1, "seed of the random cases")
	longest := flag.Int("longest", 1<<20, "length of the longest random case, in bytes")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	seen := map[string]bool{}
	write := func(text, differs string) {
		if seen[text] {
			return
		}
		seen[text] = true
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		fail(encoder.Encode(read(text, differs)))
	}
	if *cases != "" {
		file, err := os.Open(*cases)
		fail(err)
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 1<<26)
		for lines.Scan() {
			var one yamlCase
			fail(json.Unmarshal(lines.Bytes(), &one))
			write(one.YAML, one.Differs)
		}
		fail(lines.Err())
	}
	var all []string
	for _, path := range flag.Args() {
		all = append(all, documents(path)...)
	}
	if *draw == 0 {
		for _, text := range all {
			write(text, "")
		}
	}
	random := rand.New(rand.NewSource(*seed))
	for drawn := 0; drawn < *draw; {
		text := change(all[random.Intn(len(all))], random)
		if len(text) <= *longest && isOneDocument(text) && utf8.ValidString(text) {
			write(text, "")
			drawn++
		}
	}
}
