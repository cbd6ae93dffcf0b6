// gladflow_cuda_fill fills the table of the trampoline from an open libcuda.
void gladflow_cuda_fill(void *library);
