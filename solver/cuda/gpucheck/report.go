//go:build cuda

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// A report writes tables row by row, and counts what was checked.
type report struct {
	ctx        context.Context // that ends with the time, or is nil
	out        io.Writer
	broken     error // of writing
	widths     []int
	pass, fail int
	failures   []string
	left       []string // out, for want of time
	deadline   time.Time
}

func newReport(to []io.Writer) *report { return &report{out: io.MultiWriter(to...)} }

// line writes a line at once; neither standard output nor a file has a buffer here.
func (r *report) line(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format+"\n", args...); err != nil && r.broken == nil {
		r.broken = err
	}
}

// table begins a table.
func (r *report) table(title string, columns ...string) {
	r.line("\n## %s\n", title)
	r.widths = nil
	for _, c := range columns {
		r.widths = append(r.widths, max(8, utf8.RuneCountInString(c)))
	}
	cells, rule := make([]any, len(columns)), make([]any, len(columns))
	for i, c := range columns {
		cells[i], rule[i] = c, strings.Repeat("-", r.widths[i])
	}
	r.row(cells...)
	r.row(rule...)
}

// row writes a row of the table. Numbers get three digits, durations are in
// milliseconds.
func (r *report) row(cells ...any) {
	var b strings.Builder
	for i, cell := range cells {
		text := fmt.Sprint(cell)
		switch v := cell.(type) {
		case float64:
			text = fmt.Sprintf("%.3g", v)
			if v >= 100 && v < 1e6 {
				text = fmt.Sprintf("%.0f", v)
			}
		case time.Duration:
			text = fmt.Sprintf("%.3f ms", v.Seconds()*1e3)
		}
		pad := 0
		if i < len(r.widths) {
			pad = max(0, r.widths[i]-utf8.RuneCountInString(text))
		}
		b.WriteString("| " + text + strings.Repeat(" ", pad) + " ")
	}
	r.line("%s|", b.String())
}

// verdict counts a check and returns ok or FAIL, for a row. A check that the end of the
// time has disturbed is left out: it panics with the context's error.
func (r *report) verdict(ok bool, format string, args ...any) string {
	if ok {
		r.pass++
		return "ok"
	}
	if r.ctx != nil && r.ctx.Err() != nil {
		panic(r.ctx.Err())
	}
	return r.failed(format, args...)
}

func (r *report) failed(format string, args ...any) string {
	r.fail++
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
	return "FAIL"
}

// try runs f. A panic of must, or any other, is a failure, and the next check goes on.
// That the time is over is none.
func (r *report) try(what string, f func()) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			if errors.Is(p, context.DeadlineExceeded) || errors.Is(p, context.Canceled) {
				r.leave(what)
				return
			}
			r.line("FAIL %s: %v", what, p)
			r.failed("%s: %v", what, p)
		default:
			r.line("FAIL %s: %v", what, p)
			r.failed("%s: %v", what, p)
		}
	}()
	f()
}

// due reports whether there is time for what will take so long, and notes it where
// there is not.
func (r *report) due(what string, takes time.Duration) bool {
	if r.deadline.IsZero() || time.Until(r.deadline) > takes {
		return true
	}
	r.leave(what)
	return false
}

// leave notes what is left out.
func (r *report) leave(what string) {
	r.left = append(r.left, what)
	r.line("left out, for want of time: %s", what)
}

// end writes the last lines and returns the exit code.
func (r *report) end() int {
	r.line("")
	for _, f := range r.failures {
		r.line("failed: %s", f)
	}
	for i, l := range r.left {
		if i == 30 {
			r.line("left out: %d more, named above", len(r.left)-i)
			break
		}
		r.line("left out: %s", l)
	}
	r.line("PASS %d, FAIL %d", r.pass, r.fail)
	if r.fail > 0 || r.broken != nil {
		return 1
	}
	return 0
}

// must panics with an error; report.try takes it.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// got is must for a call with a result.
func got[T any](v T, err error) T {
	must(err)
	return v
}
