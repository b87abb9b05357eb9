// rdma_cm_connect: connections over rdma_cm, and messages over each of them, as udaddy and cmtime make them.

#include "common/rdma/connect_program.h"

int main(int argc, char** argv) { return fabricbench::run_connections(argc, argv); }
