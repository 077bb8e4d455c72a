// Reads an OTLP profile as a protocol buffer and as JSON, each with two readers: the data model of OpenTelemetry's collector,
// and Go's protocol buffers with the messages that OpenTelemetry publishes. Prints what the collector has read.
//
//	reader FILE.otlp FILE.otlp.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"
	service "go.opentelemetry.io/proto/slim/otlp/collector/profiles/v1development"
	messages "go.opentelemetry.io/proto/slim/otlp/profiles/v1development"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

type number struct {
	Name, Unit, PeriodName, PeriodUnit string
	Period                             int64
	Time, Duration                     uint64
	Comments                           []any
	// By stack, the root first, frames separated by semicolons.
	Stacks map[string]int64
}

type read struct {
	Resource   map[string]any
	Scope      string
	Profiles   []number
	Files      map[string]string
	Lines      map[string]int64
	FrameTypes map[string]string
}

func main() {
	binary, text := must(os.ReadFile(os.Args[1])), must(os.ReadFile(os.Args[2]))

	one, two := new(messages.ProfilesData), new(messages.ProfilesData)
	check(proto.Unmarshal(binary, one))
	check(protojson.Unmarshal(text, two))
	known("", one.ProtoReflect())
	require(proto.Equal(one, two), "the protocol buffer and the JSON are not the same message")
	request := new(service.ExportProfilesServiceRequest)
	check(proto.Unmarshal(binary, request))
	known("", request.ProtoReflect())
	indices(one.Dictionary)

	profiles := must((&pprofile.ProtoUnmarshaler{}).UnmarshalProfiles(binary))
	strict := pprofile.JSONUnmarshaler{DisallowUnknownFields: true}
	found, again := summary(profiles), summary(must(strict.UnmarshalProfiles(text)))
	require(string(must(json.Marshal(found))) == string(must(json.Marshal(again))), "the collector reads two things")
	fmt.Println(string(must(json.Marshal(found))))
}

func summary(data pprofile.Profiles) read {
	require(data.ResourceProfiles().Len() == 1, "resources")
	resource := data.ResourceProfiles().At(0)
	require(resource.ScopeProfiles().Len() == 1, "scopes")
	scope := resource.ScopeProfiles().At(0)
	all := data.Dictionary()
	text := func(at int32) string { return all.StringTable().At(int(at)) }
	attribute := func(at int32) (string, any) {
		attribute := all.AttributeTable().At(int(at))
		return text(attribute.KeyStrindex()), attribute.Value().AsRaw()
	}
	found := read{
		Resource:   resource.Resource().Attributes().AsRaw(),
		Scope:      scope.Scope().Name(),
		Files:      map[string]string{},
		Lines:      map[string]int64{},
		FrameTypes: map[string]string{},
	}
	for _, profile := range scope.Profiles().All() {
		one := number{
			Name:       text(profile.SampleType().TypeStrindex()),
			Unit:       text(profile.SampleType().UnitStrindex()),
			PeriodName: text(profile.PeriodType().TypeStrindex()),
			PeriodUnit: text(profile.PeriodType().UnitStrindex()),
			Period:     profile.Period(),
			Time:       uint64(profile.Time()),
			Duration:   profile.DurationNano(),
			Stacks:     map[string]int64{},
		}
		for _, at := range profile.AttributeIndices().All() {
			key, value := attribute(at)
			require(key == "pprof.profile.comment", key)
			one.Comments = value.([]any)
		}
		for _, sample := range profile.Samples().All() {
			require(sample.Values().Len() == 1 && sample.StackIndex() > 0, "a sample")
			frames := all.StackTable().At(int(sample.StackIndex())).LocationIndices().AsRaw()
			names := make([]string, len(frames))
			for depth, frame := range frames {
				location := all.LocationTable().At(int(frame))
				require(location.Lines().Len() == 1, "lines of a location")
				line := location.Lines().At(0)
				function := all.FunctionTable().At(int(line.FunctionIndex()))
				name := text(function.NameStrindex())
				names[len(frames)-1-depth] = strings.ReplaceAll(name, ";", ":")
				found.Files[name], found.Lines[name] = text(function.FilenameStrindex()), line.Line()
				for _, at := range location.AttributeIndices().All() {
					key, value := attribute(at)
					require(key == "profile.frame.type", key)
					found.FrameTypes[name] = value.(string)
				}
			}
			stack := strings.Join(names, ";")
			_, twice := one.Stacks[stack]
			require(!twice, "twice: "+stack)
			one.Stacks[stack] = sample.Values().At(0)
		}
		found.Profiles = append(found.Profiles, one)
	}
	return found
}

// Fails if a message, or one in it, has fields that its definition does not have.
func known(place string, message protoreflect.Message) {
	require(len(message.GetUnknown()) == 0, "unknown fields in "+place)
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		place := place + "." + string(field.Name())
		switch {
		case field.Message() == nil:
		case field.IsList():
			for at := range value.List().Len() {
				known(place, value.List().Get(at).Message())
			}
		default:
			known(place, value.Message())
		}
		return true
	})
}

// The rules of the definition: the first of each table is nothing, and none is there twice.
func indices(all *messages.ProfilesDictionary) {
	tables := all.ProtoReflect()
	for at := range tables.Descriptor().Fields().Len() {
		field := tables.Descriptor().Fields().Get(at)
		table := tables.Get(field).List()
		require(table.Len() > 0, "an empty table: "+string(field.Name()))
		seen := map[string]bool{}
		for at := range table.Len() {
			key := table.Get(at).String()
			if field.Message() != nil {
				key = string(must(proto.MarshalOptions{Deterministic: true}.Marshal(table.Get(at).Message().Interface())))
			}
			require(!seen[key], "twice in "+string(field.Name())+": "+key)
			require((at == 0) == (key == ""), "the first of "+string(field.Name()))
			seen[key] = true
		}
	}
}

func require(holds bool, what string) {
	if !holds {
		check(fmt.Errorf("%s", what))
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
