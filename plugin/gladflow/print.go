package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/gladflow/gladflow/pipelines/job"
)

// printJSON prints one indented document. Errors of w are kept by run's
// checkedWriter, and everything printed has a JSON form.
func printJSON(w io.Writer, v any) {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "%s\n", data)
}

// none stands where there is no figure.
const none = "-"

// figure formats what is finite.
func figure(f job.Float, format string) string {
	if v := float64(f); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return fmt.Sprintf(format, v)
	}
	return none
}

// short is a penalty or a tolerance, as people would write it.
func short(f job.Float) string { return figure(f, "%.4g") }

// objective has decimals enough to compare solvers by.
func objective(f job.Float) string {
	if v := math.Abs(float64(f)); v != 0 && v < 1e-3 || v >= 1e9 {
		return figure(f, "%.6e")
	}
	return figure(f, "%.5f")
}

func exponent(f job.Float) string { return figure(f, "%.1e") }

func seconds(f job.Float) string { return figure(f, "%.2f") }
