package job

// A Reporting makes the page of a run that has finished, from what it has left.
type Reporting struct {
	// Folder is that of the run: Job.Out.
	Folder string `json:"folder" file:"read-folder" jsonschema:"required,minLength=1" jsonschema_description:"folder of a finished run, with run.json"`
	// Report is the page, made where it is missing and replaced whole. Default: ReportFile in
	// Folder.
	Report string `json:"report,omitzero" file:"write" jsonschema:"pattern=[.]html$" jsonschema_description:"page to look at: one HTML file whose name ends in .html; report.html in the folder without it"`
}

// Validate reports the first field that is wrong, as a *Error.
func (r Reporting) Validate() error {
	if r.Folder == "" {
		return Errorf("folder", "no folder is named; give that of a finished run")
	}
	if err := CheckReport(r.Report); err != nil {
		return err
	}
	return CheckFields(&r, Facts{})
}
