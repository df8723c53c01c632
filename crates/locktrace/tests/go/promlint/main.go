// Prints what `promtool check metrics` finds fault with in metrics on standard input, by the library that it uses. promtool itself
// takes minutes to compile.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func main() {
	problems, err := promlint.New(os.Stdin).Lint()
	if err != nil {
		log.Fatal(err)
	}
	for _, problem := range problems {
		fmt.Println(problem.Metric, problem.Text)
	}
}
