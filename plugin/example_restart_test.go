package plugin_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gladflow/gladflow/plugin"
)

// A call that only asks may be repeated when the plugin has died under it.
func ExampleRestarter() {
	ctx := context.Background()
	restarter := plugin.NewRestarter(plugin.RestartConfig{Config: plugin.Config{Path: "gladflow"}}) // in $PATH
	defer restarter.Close()
	err := restarter.Retry(ctx, func(ctx context.Context, client *plugin.Client) error {
		solvers, err := client.Solvers(ctx)
		for _, s := range solvers {
			if s.Certified {
				fmt.Println(s.Name)
			}
		}
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// bcd
	// gista
	// admm
	// am
}
