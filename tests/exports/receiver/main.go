// The OTLP receiver of OpenTelemetry's collector over HTTP, alone. Prints where it listens, then, for each request, whose
// profiles came and what their numbers add up to; a line of JSON each. Ends when it is killed.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/xconsumer"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/collector/receiver/xreceiver"
)

func main() {
	// It does not tell which port it took, so it is told one that is free.
	free := must(net.Listen("tcp", "127.0.0.1:0"))
	place := free.Addr().String()
	check(free.Close())

	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	http := map[string]any{"endpoint": place}
	check(confmap.NewFromStringMap(map[string]any{"protocols": map[string]any{"http": http}}).Unmarshal(config))
	consumer := must(xconsumer.NewProfiles(func(_ context.Context, data pprofile.Profiles) error {
		tell(arrived(data))
		return nil
	}))
	settings := receivertest.NewNopSettings(factory.Type())
	profiles := factory.(xreceiver.Factory)
	receiver := must(profiles.CreateProfiles(context.Background(), settings, config, consumer))
	check(receiver.Start(context.Background(), componenttest.NewNopHost()))
	tell(place)
	select {}
}

func arrived(data pprofile.Profiles) map[string]any {
	sums := map[string]int64{}
	var service string
	for _, resource := range data.ResourceProfiles().All() {
		if name, ok := resource.Resource().Attributes().Get("service.name"); ok {
			service = name.Str()
		}
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				name := data.Dictionary().StringTable().At(int(profile.SampleType().TypeStrindex()))
				for _, sample := range profile.Samples().All() {
					for _, value := range sample.Values().All() {
						sums[name] += value
					}
				}
			}
		}
	}
	return map[string]any{"service": service, "sums": sums}
}

func tell(what any) {
	fmt.Println(string(must(json.Marshal(what))))
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
