package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/gladflow/gladflow/pipelines/progress"
)

// progressBar shows a run on standard error: a bar on a terminal, and everywhere
// one line for every stage that is done.
type progressBar struct {
	w   io.Writer
	bar *progressbar.ProgressBar // of the stage at work; nil without a terminal
	on  bool                     // whether w is a terminal
}

func newProgressBar(w io.Writer) *progressBar {
	f, ok := w.(*os.File)
	return &progressBar{w: w, on: ok && term.IsTerminal(int(f.Fd()))}
}

// barSteps is the resolution of a bar.
const barSteps = 1000

// show is the recovery.Host's.
func (p *progressBar) show(now progress.Update) {
	if now.Done {
		p.close()
		fmt.Fprintf(p.w, "%s: %s (%.2f s)\n", stageName(now), now.Detail, now.Elapsed.Seconds())
		return
	}
	if !p.on {
		return
	}
	text := stageName(now) + ": " + now.Detail
	if now.Left > 0 {
		text += ", about " + progress.Roughly(now.Left) + " left"
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions(barSteps,
			progressbar.OptionSetDescription(text),
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionSetRenderBlankState(true),
		)
	}
	p.bar.Describe(text)
	if !math.IsNaN(now.Fraction) {
		// The bar's end is kept for the end of the stage: reaching it clears it.
		_ = p.bar.Set(min(barSteps-1, int(now.Fraction*barSteps)))
	}
}

// close takes away the bar of a stage that has ended.
func (p *progressBar) close() {
	if p.bar == nil {
		return
	}
	_ = p.bar.Clear()
	p.bar = nil
}

func stageName(p progress.Update) string {
	if p.Solver != "" {
		return p.Solver
	}
	return string(p.Stage)
}
