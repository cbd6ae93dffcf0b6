package recovery

import (
	"context"
	"slices"

	"github.com/gladflow/gladflow/pipelines/job"
	"github.com/gladflow/gladflow/solver"
	"github.com/gladflow/gladflow/solver/glasso"
)

// penaltyRules lists the rules that choose the penalty from the data, the default
// first.
func penaltyRules() []penaltyRule {
	return []penaltyRule{refitRule(), ebicRule(), bicRule(), cvRule(), starsRule(), ricRule()}
}

// A PenaltyInfo describes a rule that chooses the penalty, for people.
type PenaltyInfo struct {
	// Name is what Job.Penalty calls it.
	Name string
	// Title is its name in a sentence: "chosen by TITLE".
	Title string
	// NeedsSamples says that it cannot do with their covariance.
	NeedsSamples bool
}

// A penaltyRule chooses the penalty once for all solvers. It notes in r.result
// what it has tried, whatever it returns.
type penaltyRule struct {
	PenaltyInfo
	choose func(ctx context.Context, r *run, p solver.Problem) (rho float64, err error)
	// memory is what it takes at a time on d variables, in bytes, without S.
	memory func(c solverConfig, d int) int64
	// work is about how much it calculates, and neighbours how many of them a variable has at the
	// penalty that it is likely to choose.
	work       func(t shape) work
	neighbours func(t shape) float64
}

// Penalties describes the rules that Job.Penalty may name, the default first.
func Penalties() []PenaltyInfo {
	var infos []PenaltyInfo
	for _, r := range penaltyRules() {
		infos = append(infos, r.PenaltyInfo)
	}
	return infos
}

// PenaltyNamed describes the rule of that name, and says whether there is one.
func PenaltyNamed(name string) (PenaltyInfo, bool) {
	rule, ok := penaltyRuleNamed(penaltyRules(), name)
	return rule.PenaltyInfo, ok
}

func penaltyRuleNamed(rules []penaltyRule, name string) (penaltyRule, bool) {
	at := slices.IndexFunc(rules, func(r penaltyRule) bool { return r.Name == name })
	if at < 0 {
		return penaltyRule{}, false
	}
	return rules[at], true
}

// penaltyRule is the rule that the penalty of the job is chosen by, if it is.
func (r *run) penaltyRule() (penaltyRule, bool) {
	if r.penalties != nil || !anySolver(r.job.Solvers, func(s solverEntry) bool { return s.takesPenalty }) {
		return penaltyRule{}, false
	}
	if _, ok := r.job.Penalty.Number(); ok {
		return penaltyRule{}, false
	}
	if n, ok := r.job.EdgesWanted(); ok {
		return edgesRule(n), true
	}
	return penaltyRuleNamed(penaltyRules(), string(r.job.Penalty))
}

// choosePenalty returns the penalty of the job: the matrix, the number, or the
// choice of one of rules.
func (r *run) choosePenalty(ctx context.Context, p solver.Problem, rules []penaltyRule) (glasso.Penalty, error) {
	penalty := glasso.Penalty{Matrix: r.penalties, Diagonal: r.job.PenaliseDiagonal}
	if penalty.Matrix != nil || !anySolver(r.job.Solvers, func(s solverEntry) bool { return s.takesPenalty }) {
		return penalty, nil
	}
	if rho, ok := r.job.Penalty.Number(); ok {
		penalty.Rho = rho
		r.result.Penalty = &job.PenaltyResult{From: "job", Rho: job.Float(rho)}
		return penalty, nil
	}
	if n, ok := r.job.EdgesWanted(); ok {
		var err error
		penalty.Rho, err = edgesRule(n).choose(ctx, r, p)
		return penalty, err
	}
	rule, _ := penaltyRuleNamed(rules, string(r.job.Penalty)) // which Validate has found there
	var err error
	penalty.Rho, err = rule.choose(ctx, r, p)
	return penalty, err
}

// checkRule reports options of rules that go with another rule, and a rule that needs samples
// where there are none.
func checkRule(j job.Job) error {
	r := Resolved(j)
	name := string(r.Penalty)
	rule, chosen := penaltyRuleNamed(penaltyRules(), name)
	field := "penalty"
	if j.Select != "" {
		field = "select"
	}
	for _, option := range []struct {
		key   string
		given bool
		rules []string
	}{
		{"select_gamma", j.SelectGamma != 0, gammaRules()},
		{"select_threshold", j.SelectThreshold != 0, []string{stars}},
		{"select_resamples", j.SelectResamples != 0, resampleRules()},
		{"select_seed", j.SelectSeed != 0, resampleRules()},
	} {
		if option.given && !slices.Contains(option.rules, name) {
			return job.Errorf(option.key, "it is about a penalty that %s chooses; leave it out, or choose by one of these", job.OneOf(option.rules))
		}
	}
	switch {
	case !chosen:
		return nil
	case rule.NeedsSamples && !j.SamplesGiven():
		return job.Errorf(field, "%s needs the samples, not their %s; choose %s", name, j.InputKind, job.OneOf(withoutResampling()))
	case j.SelectResamples == 1 && name != ric:
		return job.Errorf("select_resamples", "%s needs two at least; give 2 or more", name)
	}
	return nil
}

// withoutResampling are the rules for which a covariance is enough.
func withoutResampling() []string {
	var names []string
	for _, r := range penaltyRules() {
		if !r.NeedsSamples {
			names = append(names, r.Name)
		}
	}
	return names
}
