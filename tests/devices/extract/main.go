// SPDX-License-Identifier: Apache-2.0

// Writes the inputs and the expected outcomes of Kubernetes' table of allocator tests, as JSON with one
// case a line. The table is local to a test helper, so this program copies the module, makes the copy
// record its table instead of running it, and runs that.
//
//	cd tests/devices/extract && go run . ..
package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	module  = "k8s.io/dynamic-resource-allocation"
	version = "v0.37.2"
	folder  = "structured/internal/allocatortesting"
)

//go:embed recorder.go.txt
var recorder string

//go:embed random.go.txt
var random string

// Each of these texts stands once in the helper.
var edits = []struct{ file, from, to string }{
	// The helper hides the results that it expects behind matchers.
	{"allocator_testing.go",
		"func allocationResult(selector *v1.NodeSelector, results ...resourceapi.DeviceRequestAllocationResult) types.GomegaMatcher {\n",
		"func allocationResult(selector *v1.NodeSelector, results ...resourceapi.DeviceRequestAllocationResult) any {\n" +
			"\treturn expectedResult(selector, results)\n}\n\n" +
			"func matchResult(selector *v1.NodeSelector, results ...resourceapi.DeviceRequestAllocationResult) types.GomegaMatcher {\n"},
	{"allocator_testing.go",
		"\tfor name, tc := range testcases {\n",
		"\trecord(t, testcases)\n\tfor name, tc := range testcases {\n"},
}

func main() {
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fatal(fmt.Errorf("usage: extract FOLDER [RANDOM_CASES]"))
	}
	count := "100"
	if len(os.Args) == 3 {
		count = os.Args[2]
	}
	out, err := filepath.Abs(os.Args[1])
	fatal(err)
	copied, err := os.MkdirTemp("", "extract")
	fatal(err)
	err = extract(copied, out, count)
	// The module cache is read-only, and so is its copy.
	_ = filepath.Walk(copied, func(path string, _ os.FileInfo, _ error) error { return os.Chmod(path, 0o755) })
	_ = os.RemoveAll(copied)
	fatal(err)
}

func extract(copied, out, count string) error {
	download := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	download.Dir = copied
	answer, err := download.Output()
	if err != nil {
		return fmt.Errorf("download: %w: %s", err, answer)
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(answer, &downloaded); err != nil {
		return err
	}
	tree := filepath.Join(copied, "tree")
	if err := os.CopyFS(tree, os.DirFS(downloaded.Dir)); err != nil {
		return err
	}
	if err := filepath.Walk(tree, func(path string, _ os.FileInfo, _ error) error { return os.Chmod(path, 0o755) }); err != nil {
		return err
	}
	for _, edit := range edits {
		path := filepath.Join(tree, folder, edit.file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Count(string(text), edit.from) != 1 {
			return fmt.Errorf("%s has another text than expected in place of %q", edit.file, edit.from)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), edit.from, edit.to, 1)), 0o644); err != nil {
			return err
		}
	}
	// The helper, which is no test, calls the recorder, so the recorder is none either.
	added := map[string]string{
		"recorder.go":      recorder,
		"random.go":        random,
		"recorder_test.go": "package allocatortesting\n\nimport \"testing\"\n\nfunc TestRecord(t *testing.T) { Record(t) }\n",
	}
	for name, text := range added {
		if err := os.WriteFile(filepath.Join(tree, folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	test := exec.Command("go", "test", "-count=1", "-run", "TestRecord", "./"+folder)
	test.Dir = tree
	test.Env = append(os.Environ(), "RECORD_TO="+out, "RECORD_RANDOM="+count, "GOFLAGS=-mod=mod")
	printed, err := test.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, printed)
	}
	return nil
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
