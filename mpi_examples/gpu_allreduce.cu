// SPDX-License-Identifier: BSD-3-Clause
// Gradients averaged over ranks where they are, on the GPU: the step that data-parallel training repeats. MPI is handed
// device pointers, also those of cudaMallocAsync, which no other process can open. Every weight is checked.
//
//     mpirun -n 4 gpu_allreduce          any number of ranks on each GPU
//
// Needs the plugin (or an MPI built for CUDA): an MPI that knows only host memory crashes on these pointers.
#include <cuda_runtime.h>
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int weights = 1 << 20;
constexpr int steps = 10;

void require(cudaError_t result, const char* what) {
    if (result == cudaSuccess) return;
    std::fprintf(stderr, "gpu_allreduce: %s: %s\n", what, cudaGetErrorString(result));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

// Small integers, so that the sum over ranks and steps is exact whatever the order.
__global__ void make_gradients(float* gradients, int rank, int step) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < weights) gradients[i] = static_cast<float>((i + step) % 7 + rank);
}

__global__ void apply(float* model, const float* gradients, int ranks) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < weights) model[i] -= gradients[i] / static_cast<float>(ranks);
}

__global__ void count_wrong(const float* model, int ranks, int* wrong) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= weights) return;
    float expected = 0;
    for (int step = 0; step < steps; ++step) {
        const int sum = ranks * ((i + step) % 7) + ranks * (ranks - 1) / 2;
        expected -= static_cast<float>(sum) / static_cast<float>(ranks);
    }
    if (model[i] != expected) atomicAdd(wrong, 1);
}

// Trains with gradients in `gradients`; the number of wrong weights.
int train(float* gradients, int rank, int ranks, cudaStream_t stream) {
    constexpr int threads = 256;
    constexpr int blocks = (weights + threads - 1) / threads;
    float* model = nullptr;
    int* wrong = nullptr;
    require(cudaMalloc(&model, weights * sizeof(float)), "cudaMalloc");
    require(cudaMallocManaged(&wrong, sizeof(int)), "cudaMallocManaged");
    require(cudaMemsetAsync(model, 0, weights * sizeof(float), stream), "cudaMemsetAsync");
    *wrong = 0;
    for (int step = 0; step < steps; ++step) {
        make_gradients<<<blocks, threads, 0, stream>>>(gradients, rank, step);
        // MPI gets a pointer, not a stream: what it shall read must be there.
        require(cudaStreamSynchronize(stream), "make_gradients");
        MPI_Allreduce(MPI_IN_PLACE, gradients, weights, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        apply<<<blocks, threads, 0, stream>>>(model, gradients, ranks);
    }
    count_wrong<<<blocks, threads, 0, stream>>>(model, ranks, wrong);
    require(cudaStreamSynchronize(stream), "count_wrong");
    const int result = *wrong;
    cudaFree(wrong);
    cudaFree(model);
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* local = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    int devices = 0;
    require(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    const int device = (local != nullptr ? std::atoi(local) : rank) % devices;
    require(cudaSetDevice(device), "cudaSetDevice");
    cudaStream_t stream = nullptr;
    require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");

    float* plain = nullptr;
    float* pooled = nullptr;
    require(cudaMalloc(&plain, weights * sizeof(float)), "cudaMalloc");
    require(cudaMallocAsync(&pooled, weights * sizeof(float), stream), "cudaMallocAsync");
    const int wrong_plain = train(plain, rank, ranks, stream);
    const int wrong_pooled = train(pooled, rank, ranks, stream);
    require(cudaFreeAsync(pooled, stream), "cudaFreeAsync");
    require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    cudaFree(plain);
    cudaStreamDestroy(stream);

    std::printf("rank %d of %d, device %d: cudaMalloc %s, cudaMallocAsync %s\n", rank, ranks, device,
                wrong_plain == 0 ? "right" : "WRONG", wrong_pooled == 0 ? "right" : "WRONG");
    MPI_Finalize();
    return wrong_plain == 0 && wrong_pooled == 0 ? 0 : 1;
}
