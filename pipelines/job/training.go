package job

// A Training fits the weights of a model, from random ones or from those of
// another model, to networks that are simulated or to tables whose networks are
// known. The zero value of every field is its default; Out, and one of Family and
// Data, are required.
type Training struct {
	// Family is the kind of graph that is simulated, one of simulate.Graphs, or
	// simulate.GraphMixed or simulate.GraphStandardised: then Dimension is the
	// largest d, and everything else about the networks is drawn as simulate.Mixed
	// or simulate.Standardised does.
	Family string `json:"family,omitzero" jsonschema_description:"kind of graph; mixed draws many kinds, sizes up to the dimension, and scales; standardised draws them as correlation matrices"`

	// Dimension are the d of the networks and Samples the m of their
	// covariances. Of several each gets the same share, in all combinations.
	Dimension Counts `json:"dimension,omitzero" jsonschema:"default=100" jsonschema_description:"numbers of variables, one or several"`
	Samples   Counts `json:"samples,omitzero" jsonschema:"default=100" jsonschema_description:"numbers of samples of a covariance, one or several"`
	// Graphs is the number of networks, Covariances that of covariances of
	// each.
	Graphs      int `json:"graphs,omitzero" jsonschema:"minimum=0,default=10" jsonschema_description:"number of networks to train with"`
	Covariances int `json:"covariances,omitzero" jsonschema:"minimum=0,default=2" jsonschema_description:"number of covariances of each network, from samples of their own"`
	// ValidationGraphs is the number of networks to choose the best weights by.
	ValidationGraphs int `json:"validation_graphs,omitzero" jsonschema:"minimum=0,default=6" jsonschema_description:"number of networks to choose the best weights by, with as many covariances each"`
	// Seed chooses data and first weights: see training.Run.
	Seed int `json:"seed,omitzero" jsonschema:"minimum=0" jsonschema_description:"seed of the networks, their samples, the first weights and the order of the steps"`

	// Density is Simulation's, or several numbers or a range LOW:HIGH of which
	// every network draws one.
	Density string `json:"density,omitzero" jsonschema_description:"probability of an edge in er, or within a block in block: a number, several, or a range LOW:HIGH to draw from; without it 0.1 and 0.3"`
	// The following are Simulation's.
	Links              int     `json:"links,omitzero" jsonschema:"minimum=0" jsonschema_description:"edges that each new variable of scale-free brings; 0 is the default, 1"`
	Groups             int     `json:"groups,omitzero" jsonschema:"minimum=0" jsonschema_description:"number of hubs or blocks; 0 is the default, one for 20 variables"`
	Bandwidth          int     `json:"bandwidth,omitzero" jsonschema:"minimum=0" jsonschema_description:"neighbours on each side in band; 0 is the default, 2"`
	Neighbours         int     `json:"neighbours,omitzero" jsonschema:"minimum=0" jsonschema_description:"neighbours that each variable of small-world has on the ring, an even number; 0 is the default, 4"`
	Rewiring           float64 `json:"rewiring,omitzero" jsonschema:"minimum=0,maximum=1" jsonschema_description:"probability that an edge of small-world leaves the ring; 0 is the default, 0.1"`
	Weights            string  `json:"weights,omitzero" jsonschema:"default=-1:1" jsonschema_description:"range LOW:HIGH of the uniform draws of weights"`
	Symmetrisation     string  `json:"symmetrisation,omitzero" jsonschema:"enum=sym,enum=avg,default=sym" jsonschema_description:"weights: sym draws one for both triangles, avg is the mean of two"`
	SmallestEigenvalue float64 `json:"smallest_eigenvalue,omitzero" jsonschema:"minimum=0,default=1" jsonschema_description:"smallest eigenvalue of the precision matrix; the diagonal is raised to it"`
	Scales             string  `json:"scales,omitzero" jsonschema_description:"factors on rows and columns of the precision matrix, for variables of unequal variance: SPREAD draws their logarithms uniformly from -SPREAD to SPREAD, LOW:HIGH the factors themselves; without it none"`

	// From is the model whose weights training starts from: fine-tuning.
	From string `json:"from,omitzero" file:"read-model" jsonschema_description:"model to start from instead of random weights: the name of a built-in one, or a model file"`
	// Data is a folder of tables whose networks are known: see training.Run.
	Data string `json:"data,omitzero" file:"read-folder" jsonschema_description:"folder of tables to train with: NAME.parquet (or .arrow, .csv, .tsv), and beside it NAME.precision.parquet (row, column, value) or NAME.reference.csv (source, target, label)"`
	// Correlation, Orientation and IDColumn are those of Job, for the tables of
	// Data. Default of the first: what From was trained on, else pearson.
	Correlation string `json:"correlation,omitzero" jsonschema:"enum=pearson,enum=spearman,enum=nonparanormal,enum=normal-scores,enum=none" jsonschema_description:"what to estimate from the tables of data, as the model will be used; none is the covariance; without it what the model to start from was trained on, or pearson"`
	Orientation string `json:"orientation,omitzero" jsonschema:"enum=rows,enum=columns,default=rows" jsonschema_description:"what the samples are in the tables of data"`
	IDColumn    string `json:"id_column,omitzero" jsonschema_description:"column that labels the rows in the tables of data, by name or as #N"`
	// ValidationPart is the part of the pairs of Data to choose the best weights
	// by, drawn by the seed; at least one pair.
	ValidationPart float64 `json:"validation_part,omitzero" jsonschema:"minimum=0,maximum=1,default=0.25" jsonschema_description:"part of the tables of data to choose the best weights by"`

	// Architecture is one of train.Architectures. Default: pm, or that of From.
	Architecture string `json:"architecture,omitzero" jsonschema_description:"cells and networks of the model; without it pm, or those of the model to start from"`
	// Steps, Stop, Batch, LearningRate, Gamma and ValidateEvery are train.Settings';
	// zero is the architecture's own.
	Steps        int     `json:"steps,omitzero" jsonschema:"minimum=0" jsonschema_description:"optimiser steps of each start; 0 is the architecture's own number, 160 for pm"`
	Stop         int     `json:"stop,omitzero" jsonschema:"minimum=0" jsonschema_description:"step after which each start ends, though the learning rate falls as for all steps; a training that is resumed may have another one; 0 is the last step"`
	Batch        int     `json:"batch,omitzero" jsonschema:"minimum=0" jsonschema_description:"covariances that a step looks at; 0 is the architecture's own number, 4 for pm"`
	LearningRate float64 `json:"learning_rate,omitzero" jsonschema:"minimum=0" jsonschema_description:"learning rate of Adam in the beginning; 0 is the architecture's own, 0.03 for pm, and a third of it with a model to start from"`
	Gamma        float64 `json:"gamma,omitzero" jsonschema:"minimum=0,maximum=1" jsonschema_description:"weight of a cell in the loss relative to the one after it; 0 is the architecture's own, 0.8 for pm"`
	// Loss says which matrix is compared with the truth.
	Loss string `json:"loss,omitzero" jsonschema:"enum=z,enum=theta,default=z" jsonschema_description:"matrix that the loss compares with the truth"`
	// ValidateEvery and Patience are train.Settings'.
	ValidateEvery int `json:"validate_every,omitzero" jsonschema:"minimum=0,default=10" jsonschema_description:"steps between validations"`
	Patience      int `json:"patience,omitzero" jsonschema:"minimum=0" jsonschema_description:"validations without gain after which a start ends; 0 is never"`
	// Select is the figure of the validation data that the best weights have. Default:
	// nmse, or aupr where Data has networks only and no precision matrix.
	Select string `json:"select,omitzero" jsonschema_description:"figure to choose the best weights by: mean square error, its mean over covariances in decibels, strict probability of success, or area under the ROC or the precision-recall curve; without it nmse, or aupr for a folder with networks only"`
	// SupportCost is train.Settings', for posterior-mean models; none leaves Z
	// dense. It has no meaning with Select ps, which chooses the threshold.
	SupportCost Value `json:"support_cost,omitzero" words:"none" jsonschema:"default=0.005" jsonschema_description:"decibels that a posterior-mean model may pay for zeros in its sparse matrix, or none for no zeros"`

	// Name is the model's. Default: FAMILY-dD-mM, the name of the folder Data, or
	// NAME-tuned after the name of From.
	Name string `json:"name,omitzero" jsonschema_description:"name of the model; without it FAMILY-dD-mM, that of the folder of data, or that of the model to start from with -tuned"`
	// Description stands in the model's card.
	Description string `json:"description,omitzero" jsonschema_description:"sentence or two on what the model is for, for its card"`
	// Out is the model file. One that is there is replaced at the end.
	Out string `json:"out" file:"write" jsonschema:"required,minLength=1" jsonschema_description:"model file to write"`
	// Checkpoint is a file that holds the state of the training after every
	// pass over the data, until the model is written. Default: Out with the
	// ending .checkpoint.
	Checkpoint string `json:"checkpoint,omitzero" file:"write" jsonschema_description:"file for the state of the training, removed at the end; without it that of the model with the ending .checkpoint"`
	// Resume resumes the training from its checkpoint.
	Resume bool `json:"resume,omitzero" jsonschema_description:"go on from the checkpoint of the same training"`

	// Workers is the number of covariances at work at once. Default: one for
	// each processor. It does not change the result.
	Workers int `json:"workers,omitzero" jsonschema:"minimum=0" jsonschema_description:"covariances to work on at once; 0 is one for each processor"`
	// Engine does the linear algebra.
	Engine string `json:"engine,omitzero" jsonschema:"enum=auto,enum=openblas,enum=gonum,default=auto" jsonschema_description:"linear algebra; auto is openblas where this machine has it"`
	// Device is where the cells and their derivatives are computed, as in Job: see
	// ParseDevice. It changes the last bits of the result, so that a checkpoint is resumed
	// only where the training began. With auto it begins again on the CPU if the GPU fails
	// before there is a checkpoint.
	Device string `json:"device,omitzero" jsonschema:"pattern=^(auto|cpu|cuda(:(0|[1-9][0-9]?[0-9]?))?)$,default=auto" jsonschema_description:"where the training computes: cpu, cuda (the first GPU), cuda:N (GPU N, from 0), or auto, which is a GPU where one works and the CPU elsewhere"`
	// JSON asks for one JSON document. Only the command reads it.
	JSON bool `json:"json,omitzero" jsonschema_description:"print the result as one JSON document"`
}
