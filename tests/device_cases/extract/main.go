// SPDX-License-Identifier: Apache-2.0

// Writes what the tests of HAMi, Volcano and Koordinator put into the functions that read and choose shared
// devices, and what these return, as JSON with one case a line. The program copies a checkout of each project,
// puts a recorder around these functions, adds a test that draws random cases, and runs the tests.
//
//	cd tests/device_cases/extract && go run . HAMI VOLCANO KOORDINATOR ..
//
// A project whose checkout is `-` is left out.
package main

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
)

//go:embed hami/*.txt volcano/*.txt koordinator/*.txt
var added embed.FS

// An edit replaces a text that stands once in a file.
type edit struct{ file, from, to string }

// A project is a system and how its tests are recorded.
type project struct {
	system   string
	edits    []edit
	files    map[string]string
	packages [][]string
}

func function(file, from, to string) edit {
	return edit{file, "\nfunc " + from + "(", "\nfunc " + to + "("}
}

const (
	hamiDevices = "pkg/device/devices.go"
	hamiNvidia  = "pkg/device/nvidia/device.go"
	vgpu        = "pkg/scheduler/api/devices/nvidia/vgpu/"
	deviceshare = "pkg/scheduler/plugins/deviceshare/"
)

var projects = []project{
	{"hami", []edit{
		function(hamiDevices, "CheckType", "checkTypeRecorded"),
		function(hamiDevices, "CheckUUID", "checkUUIDRecorded"),
		function(hamiDevices, "UnMarshalNodeDevices", "unMarshalRecorded"),
		function(hamiDevices, "DecodeNodeDevices", "decodeNodeRecorded"),
		function(hamiDevices, "DecodePodDevices", "decodePodRecorded"),
		function(hamiNvidia, "(nv *NvidiaGPUDevices) Fit", "(nv *NvidiaGPUDevices) fitRecorded"),
		function(hamiNvidia, "(dev *NvidiaGPUDevices) GenerateResourceRequests", "(dev *NvidiaGPUDevices) generateRecorded"),
		function("pkg/scheduler/score.go", "fitInDevices", "fitInDevicesRecorded"),
	}, map[string]string{
		"hami/util.go.txt":       "pkg/util/recorded.go",
		"hami/device.go.txt":     "pkg/device/recorded.go",
		"hami/nvidia.go.txt":     "pkg/device/nvidia/recorded.go",
		"hami/scheduler.go.txt":  "pkg/scheduler/recorded.go",
		"hami/random.go.txt":     "pkg/scheduler/random_recorded_test.go",
		"hami/random_mig.go.txt": "pkg/scheduler/random_mig_recorded_test.go",
	}, [][]string{
		{"./pkg/device", "./pkg/device/nvidia"},
		{"-run", "calcScore|CalcScore|fitIn|Topology|Mig|MIG|Numa|Random", "./pkg/scheduler"},
	}},
	{"volcano", []edit{
		function(vgpu+"utils.go", "checkNodeGPUSharingPredicateAndScore", "predicateRecorded"),
		function(vgpu+"utils.go", "checkGPUtype", "checkTypeRecorded"),
		function(vgpu+"utils.go", "(f gpuUUIDFilter) matches", "(f gpuUUIDFilter) matchesRecorded"),
		function(vgpu+"utils.go", "resourcereqs", "reqsRecorded"),
		function(vgpu+"utils.go", "DecodePodDevices", "decodePodRecorded"),
		function(vgpu+"utils.go", "getPodGroupKey", "groupRecorded"),
		function(vgpu+"utils.go", "decodeNodeDevices", "decodeNodeRecorded"),
		function(vgpu+"mig.go", "findMatch", "findMatchRecorded"),
		// The default has no name for percentages, but the device plugin's settings have this one.
		{"pkg/scheduler/api/devices/config/config.go", "ResourceMemoryName:  VolcanoVGPUMemory,",
			"ResourceMemoryName: VolcanoVGPUMemory, ResourceMemoryPercentageName: VolcanoVGPUMemoryPercentage,"},
	}, map[string]string{
		"volcano/vgpu.go.txt":       vgpu + "recorded.go",
		"volcano/random.go.txt":     vgpu + "random_recorded_test.go",
		"volcano/random_mig.go.txt": vgpu + "random_mig_recorded_test.go",
	}, [][]string{{"./" + vgpu}}},
	{"koordinator", []edit{
		function(deviceshare+"allocator_gpu.go", "(a *GPUAllocator) Allocate", "(a *GPUAllocator) allocateRecorded"),
		function(deviceshare+"device_allocator.go", "(a *AutopilotAllocator) Allocate", "(a *AutopilotAllocator) allocateRecorded"),
		function(deviceshare+"utils.go", "ValidateDeviceRequest", "validateRecorded"),
		function(deviceshare+"devicehandler_gpu.go", "calcDesiredRequestsAndCountForGPU", "calcRecorded"),
	}, map[string]string{
		"koordinator/deviceshare.go.txt": deviceshare + "recorded.go",
		"koordinator/allocator.go.txt":   deviceshare + "recorded_allocator.go",
		"koordinator/random.go.txt":      deviceshare + "random_recorded_test.go",
		"koordinator/random_pods.go.txt": deviceshare + "random_pods_recorded_test.go",
	}, [][]string{{"./" + deviceshare}}},
}

func main() {
	if len(os.Args) < 5 || len(os.Args) > 6 {
		fatal(fmt.Errorf("usage: extract HAMI VOLCANO KOORDINATOR FOLDER [RANDOM_CASES]; - instead of a project skips it"))
	}
	count := "300"
	if len(os.Args) == 6 {
		count = os.Args[5]
	}
	for index, each := range projects {
		if os.Args[1+index] == "-" {
			continue
		}
		copied, err := os.MkdirTemp("", "extract")
		fatal(err)
		err = extract(each, os.Args[1+index], copied, os.Args[4], count)
		_ = os.RemoveAll(copied)
		fatal(err)
	}
}

func extract(of project, from, copied, out, count string) error {
	if err := os.CopyFS(copied, os.DirFS(from)); err != nil {
		return err
	}
	for _, each := range of.edits {
		path := filepath.Join(copied, each.file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Count(string(text), each.from) != 1 {
			return fmt.Errorf("%s: expected once: %q", each.file, each.from)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), each.from, each.to, 1)), 0o644); err != nil {
			return err
		}
	}
	for name, path := range of.files {
		text, err := added.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(copied, path), text, 0o644); err != nil {
			return err
		}
	}
	record := filepath.Join(copied, "record.jsonl")
	for _, arguments := range of.packages {
		command := exec.Command("go", append([]string{"test", "-count=1"}, arguments...)...)
		command.Dir = copied
		command.Env = append(os.Environ(), "RECORD="+record, "RANDOM_CASES="+count)
		command.Stderr = os.Stderr
		command.Stdout = os.Stderr
		if err := command.Run(); err != nil {
			return err
		}
	}
	return write(of.system, record, filepath.Join(out, of.system+".json"))
}

// randomNames has the names of the cases that the added tests draw.
var randomNames = map[string]string{"TestRandomRecorded": "random", "TestRandomMigRecorded": "random-mig",
	"TestRandomLinksRecorded": "random-links", "TestRandomPodsRecorded": "random"}

// modelled returns false for cases that are of other devices or have parts that are not modelled.
func modelled(system string, fields map[string]any) bool {
	kind := fields["kind"].(string)
	if kind == "calc" {
		return false
	}
	// Of a random case, only the choice and the request.
	name, _ := fields["test"].(string)
	if randomNames[name] != "" && name != "TestRandomPodsRecorded" && kind != "node" && (kind != "request" || randomNames[name] != "random") {
		return false
	}
	if fields["test"] == "TestRandomPodsRecorded" && kind != "pod" {
		return false
	}
	if system != "koordinator" {
		return true
	}
	if kind == "request" {
		amounts := fields["amounts"].(map[string]any)
		for name := range amounts {
			// Koordinator validates the resources of each type of devices alone.
			if name == "koordinator.sh/rdma" || name == "koordinator.sh/fpga" {
				return len(amounts) == 1
			}
			if name != "huawei.com/npu-core" && !strings.HasPrefix(name, "koordinator.sh/") && !strings.HasSuffix(name, ".com/gpu") {
				return false
			}
		}
		return true
	}
	return len(fields["left"].([]any)) == 0
}

// write joins records to a list of cases, equal ones once, each with a name.
func write(system, record, path string) error {
	text, err := os.ReadFile(record)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	left := map[string]int{}
	counts := map[string]int{}
	var lines []string
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		fields := map[string]any{}
		decoder := json.NewDecoder(bytes.NewReader(scanner.Bytes()))
		decoder.UseNumber()
		if err := decoder.Decode(&fields); err != nil {
			return err
		}
		if !modelled(system, fields) {
			test, kind := fields["test"], fields["kind"]
			delete(fields, "test")
			if key, err := json.Marshal(fields); err == nil && !seen[string(key)] && test != "TestRandomRecorded" && test != "TestRandomPodsRecorded" {
				seen[string(key)] = true
				left[fmt.Sprintf("%s %v", kind, fields["left"])]++
			}
			continue
		}
		test, _ := fields["test"].(string)
		delete(fields, "test")
		delete(fields, "reason")
		delete(fields, "left")
		key, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		if name := randomNames[test]; name != "" {
			test = name
		}
		name := fmt.Sprintf("%s-%s", fields["kind"], test)
		counts[name]++
		fields["name"] = fmt.Sprintf("%s-%d", name, counts[name])
		if test == "" {
			// From a goroutine: the order differs from run to run.
			hash := fnv.New32a()
			_, _ = hash.Write(key)
			fields["name"] = fmt.Sprintf("%s-nested-%08x", fields["kind"], hash.Sum32())
		}
		line, err := json.Marshal(fields)
		if err != nil {
			return err
		}
		lines = append(lines, string(line))
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	fmt.Printf("%s: %d cases; left out of the system's tests: %v\n", path, len(lines), left)
	sort.Strings(lines)
	return os.WriteFile(path, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644)
}

func fatal(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
