package protocol

// Actions of DoAction. Bodies and results are JSON; an action without a body
// ignores it.
const (
	// ActionDescribe returns what "gladflow describe --json" prints, and the
	// keys of a Service beside it.
	ActionDescribe = "describe"
	// ActionSchema returns the JSON Schema of a job.
	ActionSchema = "schema"
	// ActionValidate takes a job and returns it with its defaults, or the
	// error that it would fail with. It opens no file.
	ActionValidate = "validate"
	// ActionSolvers returns an array of solvers as in "gladflow solvers --json".
	ActionSolvers = "solvers"
	// ActionModels returns an array of models as in "gladflow models --json".
	ActionModels = "models"
	// ActionRecover takes a job whose input is a file or URL that the service
	// can read, starts it and returns a Run.
	ActionRecover = "recover"
	// ActionLook takes a job whose input is a file or URL that the service can read, and
	// returns what "gladflow look --json" prints: what the table is. It is a run without
	// solvers that ends with the call. Of the job it takes how the table is read, the
	// correlation and the model. Tables that are streamed go to the path "look".
	ActionLook = "look"
	// ActionWatch takes a Run and streams an Event for everything that
	// happens, at most ten a second, until the run has ended; the last has
	// its final state.
	ActionWatch = "watch"
	// ActionResult takes a Run, waits for its end and returns the document
	// run.json, if the run came so far that it has one. The call of a run that has
	// failed or was cancelled ends, after that, with the run's error.
	ActionResult = "result"
	// ActionFile takes a File and returns a file made of a run's results, in pieces: the
	// results of the call, one after the other, are its bytes. It waits for the solver, or
	// for the end of the run.
	ActionFile = "file"
	// ActionCancel takes a Run, ends it and returns its RunInfo. What its
	// solvers had finished stays.
	ActionCancel = "cancel"
	// ActionForget takes a Run, ends it if need be and drops its results.
	ActionForget = "forget"
)

// Paths of descriptors, in place of a command.
const (
	// PathEcho is the path of a DoExchange that sends samples back as they were
	// read: a FixedSizeList of float64 with the names of the variables in the
	// field's metadata, gladflow.names, as a JSON array.
	PathEcho = "echo"
	// PathLook begins the path [look, job] of a DoPut whose answer, the app_metadata of the
	// one PutResult, is that of the action look. Samples are those of the call.
	PathLook = "look"
	// PathDraw begins the path [draw, File] of a DoPut that streams a list of edges, best
	// first, with the columns source, target and, if any, score and sign. Its answer is the
	// picture, in pieces: the app_metadata of the PutResults, one after the other.
	PathDraw = "draw"
)

// FileReport is the File of the page of a run.
const FileReport = "report.html"

// A File is what the action file and the path "draw" take.
type File struct {
	// Run is the run's identifier; absent for the path "draw".
	Run string `json:"run,omitzero"`
	// File is the name of the file, as in the folder that a run on the command line leaves:
	// report.html, the page of the run, or SOLVER.edges.FORMAT, a solver's list of edges, the
	// format being parquet, arrow, csv, graphml, cyjs or sif, or a picture of it, svg or png.
	// For the path "draw" any name that ends in .svg or .png.
	File string `json:"file"`
	// Top is the number of edges that a picture shows, the strongest ones: 1 to 3000; 200
	// if absent.
	Top int `json:"top,omitzero"`
	// Theme is what a picture is drawn on, light or dark; light if absent.
	Theme string `json:"theme,omitzero"`
	// NoLabels leaves the names out of a picture.
	NoLabels bool `json:"no_labels,omitzero"`
}

// A Run names a run. It is what DoPut sends back as app_metadata, once the job
// has been accepted, and the body of most actions.
type Run struct {
	// Run is the run's identifier, unguessable.
	Run string `json:"run"`
}

// Tables of a solver.
const (
	// TableEdges is the ranked list of edges, as in <solver>.edges.parquet. Its columns
	// are those of a solver that estimates a precision matrix, or of one that ranks pairs.
	TableEdges = "edges"
	// TablePrecision is the precision matrix, as in <solver>.precision.parquet; not of a
	// solver that ranks pairs.
	TablePrecision = "precision"
	// TableMetrics is the solver's row of metrics.parquet; only of a job with
	// a reference.
	TableMetrics = "metrics"
)

// A Ticket is a ticket of DoGet, which waits until the solver has finished.
// FlightDescriptors of GetFlightInfo and GetSchema are the path [run, table,
// solver], or without the last, or without the last two for edges. Without a solver the
// endpoints are those of the solvers whose table has the columns of the first.
type Ticket struct {
	// Run is the run's identifier.
	Run string `json:"run"`
	// Table is one of the tables; edges if empty.
	Table string `json:"table,omitzero"`
	// Solver is that whose table is wanted; the job's first that has one if empty.
	Solver string `json:"solver,omitzero"`
}

// Criteria are those of ListFlights. Without any, all runs of the caller are listed.
type Criteria struct {
	// Run is the identifier of the only run to be listed.
	Run string `json:"run,omitzero"`
	// Labels are labels that a run must have, with these values.
	Labels map[string]string `json:"labels,omitempty"`
}

// A State is how far a run has come.
type State string

// States of a run.
const (
	// StateReceiving is when samples are coming in.
	StateReceiving State = "receiving"
	// StateRunning is when solvers are at work.
	StateRunning State = "running"
	// StateDone is when every solver has finished.
	StateDone State = "done"
	// StateFailed is when the job was wrong, a solver failed or a file could not be
	// written. Tables of the solvers that finished can be had.
	StateFailed State = "failed"
	// StateCancelled is when the caller has ended it. Tables of the solvers that
	// finished can be had.
	StateCancelled State = "cancelled"
)

// Ended says that no more will happen.
func (s State) Ended() bool {
	return s == StateDone || s == StateFailed || s == StateCancelled
}

// A RunInfo is what is known of a run at once. It is the app_metadata of its
// FlightInfo.
type RunInfo struct {
	// Run is the run's identifier.
	Run string `json:"run"`
	// State is how far it has come.
	State State `json:"state"`
	// Solvers are the job's, in their order; none of a look, or of a picture of a list that
	// is sent, which have no tables and are gone when they end.
	Solvers []string `json:"solvers"`
	// Finished are those whose tables can be had without waiting.
	Finished []string `json:"finished,omitempty"`
	// Seconds is the time since the run was accepted, or that it took.
	Seconds float64 `json:"seconds"`
	// Bytes is the memory that its results take.
	Bytes int64 `json:"bytes"`
	// Error says why it has failed or was cancelled.
	Error *Fault `json:"error,omitempty"`
	// Labels are the job's.
	Labels map[string]string `json:"labels,omitempty"`
}

// An Event is something that happened in a run.
type Event struct {
	// Run is the run's identifier.
	Run string `json:"run"`
	// State is how far the run has come.
	State State `json:"state"`
	// Stage is "opening the device", "memory", "reading", "estimating the time", "choosing the penalty",
	// "screening pairs", "testing pairs",
	// "solving" or "solving halves of the samples";
	// empty in the last event. The first is there where a GPU is looked for.
	Stage string `json:"stage,omitempty"`
	// Solver is the one at work while solving.
	Solver string `json:"solver,omitempty"`
	// Fraction is how much of the stage is done, 0 to 1; absent if unknown.
	Fraction *float64 `json:"fraction,omitempty"`
	// Left is about how many seconds the stage still takes; absent if unknown.
	Left float64 `json:"left_seconds,omitempty"`
	// Detail is a few words for people: how many samples, which gap.
	Detail string `json:"detail,omitempty"`
	// Done says that the stage has ended.
	Done bool `json:"done,omitempty"`
	// Seconds is the time since the stage began, in the last event since the
	// run was accepted.
	Seconds float64 `json:"seconds"`
	// Error says, in the last event, why the run has failed.
	Error *Fault `json:"error,omitempty"`
	// Labels are the job's.
	Labels map[string]string `json:"labels,omitempty"`
}

// A Service is what a description says of the service besides the build, see
// "gladflow describe --json".
type Service struct {
	// Protocol is Version.
	Protocol int `json:"protocol"`
	// Limits are the service's.
	Limits Limits `json:"limits"`
	// Files says which files jobs may name: "any", "none", or a folder, to which
	// relative paths are relative.
	Files string `json:"files"`
	// Caller is what the service calls the one who asks, to whom the runs that it
	// starts belong; absent if all callers are one.
	Caller string `json:"caller,omitzero"`
	// SharedRuns says that callers may have the runs of others.
	SharedRuns bool `json:"shared_runs,omitzero"`
}

// UnpackFactor is how many times Limits.MessageBytes a compressed batch, a
// dictionary or a page of Parquet may unpack to.
const UnpackFactor = 8

// Limits are what a service takes on. What goes beyond is refused with
// ResourceExhausted.
type Limits struct {
	// ConcurrentRuns is the number of runs at the same time.
	ConcurrentRuns int `json:"concurrent_runs"`
	// Threads is the number of threads on which all runs together compute. The
	// threads of a job may be fewer.
	Threads int `json:"threads"`
	// MessageBytes is the size of a gRPC message, so of a batch. A batch may unpack
	// to UnpackFactor times as much.
	MessageBytes int `json:"message_bytes"`
	// UploadBytes is the size of the samples of a run, counted as they are when
	// they are unpacked.
	UploadBytes int64 `json:"upload_bytes"`
	// Variables is the largest number of variables of a table.
	Variables int `json:"variables"`
	// ResultBytes is the memory for results of all runs. To make room, the caller
	// that holds the most forgets its oldest runs that have ended.
	ResultBytes int64 `json:"result_bytes"`
	// MemoryBytes is the memory that the service may take. A run is refused if what it
	// is estimated to need goes beyond what other runs, and results, leave of it. 0:
	// there is no bound.
	MemoryBytes int64 `json:"memory_bytes"`
	// ResultSeconds is how long results are kept after the end of a run.
	ResultSeconds float64 `json:"result_seconds"`
	// IdleSeconds is how long a call may neither send nor take anything.
	IdleSeconds float64 `json:"idle_seconds"`
	// RunsPerCaller is the number of runs of one caller at the same time; absent if
	// only ConcurrentRuns counts.
	RunsPerCaller int `json:"runs_per_caller,omitzero"`
	// UploadsPerCaller is the number of calls of one caller that stream samples at
	// the same time; absent if there is no bound.
	UploadsPerCaller int `json:"uploads_per_caller,omitzero"`
	// ResultBytesPerCaller is the memory for results of the runs of one caller; its
	// own oldest runs that have ended are forgotten to make room. Absent if only
	// ResultBytes counts.
	ResultBytesPerCaller int64 `json:"result_bytes_per_caller,omitzero"`
}
