// Reads profiles as OpenTelemetry's collector does when it gets them, puts those of all files together as it does before it
// sends them on, and prints what is in them as JSON.
package main

import (
	"encoding/json"
	"log"
	"os"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

type sample struct {
	Value      int64          `json:"value"`
	Attributes map[string]any `json:"attributes"`
	Stack      []string       `json:"stack"`
}

type profile struct {
	Resource map[string]any `json:"resource"`
	Type     string         `json:"type"`
	Unit     string         `json:"unit"`
	Samples  []sample       `json:"samples"`
}

func main() {
	all := pprofile.NewProfiles()
	for _, path := range os.Args[1:] {
		if err := read(path).MergeTo(all); err != nil {
			log.Fatalf("%s: %v", path, err)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(profiles(all)); err != nil {
		log.Fatal(err)
	}
}

func read(path string) pprofile.Profiles {
	data, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var unmarshaler pprofile.ProtoUnmarshaler
	profiles, err := unmarshaler.UnmarshalProfiles(data)
	if err != nil {
		log.Fatalf("%s: %v", path, err)
	}
	return profiles
}

func profiles(all pprofile.Profiles) []profile {
	result := []profile{}
	dictionary := all.Dictionary()
	texts := dictionary.StringTable()
	for _, resource := range all.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, found := range scope.Profiles().All() {
				samples := []sample{}
				for _, each := range found.Samples().All() {
					samples = append(samples, sample{
						Value:      each.Values().At(0),
						Attributes: attributes(each, dictionary),
						Stack:      stack(each, dictionary),
					})
				}
				result = append(result, profile{
					Resource: resource.Resource().Attributes().AsRaw(),
					Type:     texts.At(int(found.SampleType().TypeStrindex())),
					Unit:     texts.At(int(found.SampleType().UnitStrindex())),
					Samples:  samples,
				})
			}
		}
	}
	return result
}

func attributes(of interface{ AttributeIndices() pcommon.Int32Slice }, dictionary pprofile.ProfilesDictionary) map[string]any {
	found, err := pprofile.FromAttributeIndices(dictionary.AttributeTable(), of, dictionary)
	if err != nil {
		log.Fatal(err)
	}
	return found.AsRaw()
}

// The names of the functions, innermost first.
func stack(of pprofile.Sample, dictionary pprofile.ProfilesDictionary) []string {
	names := []string{}
	for _, at := range dictionary.StackTable().At(int(of.StackIndex())).LocationIndices().All() {
		for _, line := range dictionary.LocationTable().At(int(at)).Lines().All() {
			function := dictionary.FunctionTable().At(int(line.FunctionIndex()))
			names = append(names, dictionary.StringTable().At(int(function.NameStrindex())))
		}
	}
	return names
}
