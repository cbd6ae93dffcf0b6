# Penalties that R's huge chooses for a table: Rscript huge.R TABLE RULE > result
# TABLE has tabs, a header and one row a sample; RULE is stars, ric or ebic. Prints the rule, the
# penalty and the seconds of path and choice on one line, then the edges of its graph as pairs of
# columns from 1. huge is used as it comes: ten penalties, 20 subsamples, its own defaults.
suppressMessages(library(huge))
arguments <- commandArgs(trailingOnly = TRUE)
x <- as.matrix(read.delim(arguments[1], check.names = FALSE))
set.seed(1)
began <- proc.time()[["elapsed"]]
path <- huge(x, method = "glasso", verbose = FALSE)
chosen <- huge.select(path, criterion = arguments[2], verbose = FALSE)
seconds <- proc.time()[["elapsed"]] - began
cat(arguments[2], chosen$opt.lambda, seconds, "\n")
pairs <- which(as.matrix(chosen$refit) != 0 & upper.tri(as.matrix(chosen$refit)), arr.ind = TRUE)
write.table(pairs, row.names = FALSE, col.names = FALSE)
