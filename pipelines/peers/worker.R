# Performs peers in R: one request a line, "PACKAGE FILE D RHO TOLERANCE OUT", one line
# "SECONDS CPU" for each, or "error MESSAGE". compare.py starts it. Matrices are files of
# float64. The packages are called as black boxes; the diagonal is not penalised, but by huge.
# "stars" is huge's choice of a penalty by StARS, for a table of D variables in the place of S.
solvers <- list(
  glasso = function(s, rho, tolerance) glasso::glasso(s, rho, thr = tolerance, maxit = 1e5, penalize.diagonal = FALSE)$wi,
  glassoFast = function(s, rho, tolerance) {
    penalty <- matrix(rho, nrow(s), ncol(s))
    diag(penalty) <- 0
    glassoFast::glassoFast(s, penalty, thr = tolerance)$wi
  },
  huge = function(s, rho, tolerance) as.matrix(huge::huge(s, lambda = rho, method = "glasso", verbose = FALSE)$icov[[1]]),
  stars = function(x, rho, tolerance) {
    path <- huge::huge(x, method = "glasso", verbose = FALSE)
    huge::huge.select(path, criterion = "stars", verbose = FALSE)$opt.lambda
  }
)
input <- file("stdin", "r")
while (length(line <- readLines(input, 1)) > 0) {
  r <- strsplit(line, " ", fixed = TRUE)[[1]]
  answer <- tryCatch({
    package <- if (r[1] == "stars") "huge" else r[1]
    if (!requireNamespace(package, quietly = TRUE)) stop("there is no R package ", package)
    d <- as.integer(r[3])
    s <- matrix(readBin(r[2], "double", file.size(r[2]) / 8), ncol = d, byrow = TRUE)
    began <- proc.time()
    n <- 0
    while (n == 0 || (proc.time() - began)[["elapsed"]] < 0.1) { # short calls are repeated
      theta <- solvers[[r[1]]](s, as.numeric(r[4]), as.numeric(r[5]))
      n <- n + 1
    }
    took <- (proc.time() - began) / n
    writeBin(as.vector(theta), r[6])
    paste(took[["elapsed"]], took[["user.self"]] + took[["sys.self"]])
  }, error = function(e) paste("error", conditionMessage(e)))
  cat(answer, "\n", sep = "")
  flush(stdout())
}
