// SPDX-License-Identifier: Apache-2.0

// Rewrites the verdicts of a table of device selectors with what Kubernetes answers. See README.md.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

var unescape = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r")

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func describe(device *dracel.Device, kind, name, value string) error {
	texts := strings.Split(value, ",")
	if value == "" {
		texts = []string{}
	}
	ints, bools := []int64{}, []bool{}
	for _, text := range texts {
		switch kind {
		case "int", "ints":
			number, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return err
			}
			ints = append(ints, number)
		case "bool", "bools":
			bools = append(bools, text == "true")
		}
	}
	var attribute resourceapi.DeviceAttribute
	switch kind {
	case "driver":
		device.Driver = value
		return nil
	case "shared":
		shared := value == "true"
		device.AllowMultipleAllocations = &shared
		return nil
	case "capacity":
		amount, err := resource.ParseQuantity(value)
		if err != nil {
			return err
		}
		device.Capacity[resourceapi.QualifiedName(name)] = resourceapi.DeviceCapacity{Value: amount}
		return nil
	case "int":
		attribute.IntValue = &ints[0]
	case "bool":
		attribute.BoolValue = &bools[0]
	case "text":
		attribute.StringValue = &value
	case "version":
		attribute.VersionValue = &value
	case "ints":
		attribute.IntValues = ints
	case "bools":
		attribute.BoolValues = bools
	case "texts":
		attribute.StringValues = texts
	case "versions":
		attribute.VersionValues = texts
	default:
		return fmt.Errorf("unknown kind %q", kind)
	}
	device.Attributes[resourceapi.QualifiedName(name)] = attribute
	return nil
}

func verdict(expression string, device dracel.Device) (string, string) {
	features := dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true}
	compiled := dracel.GetCompiler(features).CompileCELExpression(expression, dracel.Options{DisableCostEstimation: true})
	if compiled.Error != nil {
		return "invalid", compiled.Error.Error()
	}
	matches, _, err := compiled.DeviceMatches(context.Background(), device)
	switch {
	case err != nil:
		return "fails", err.Error()
	case matches:
		return "matches", ""
	}
	return "differs", ""
}

func main() {
	devices := map[string]*dracel.Device{}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		line := in.Text()
		fields := strings.Split(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case fields[0] == "device" && len(fields) == 5:
			device := devices[fields[1]]
			if device == nil {
				device = &dracel.Device{
					Attributes: map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
					Capacity:   map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
				}
				devices[fields[1]] = device
			}
			fail(describe(device, fields[2], fields[3], fields[4]))
		case len(fields) == 4 && devices[fields[0]] != nil:
			answer, reason := verdict(unescape.Replace(fields[3]), *devices[fields[0]])
			if reason != "" && len(os.Args) > 1 && os.Args[1] == "-v" {
				fmt.Fprintf(os.Stderr, "%s: %s\n", fields[3], strings.ReplaceAll(reason, "\n", " "))
			}
			fields[1] = answer
			line = strings.Join(fields, "\t")
		default:
			fail(fmt.Errorf("neither a device nor a selector: %q", line))
		}
		fmt.Fprintln(out, line)
	}
	fail(in.Err())
}
